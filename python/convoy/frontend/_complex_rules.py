# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of rules for ops on complex numbers, keyed by Torch's op names without the overload
(`aten.mul`).

A rule computes an op in PyTorch with real tensors: a complex tensor is a `Complex`. Rules are
traced to aten ops by `convoy.frontend._complex`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

__all__ = ["RULES", "Complex", "ComplexCall", "Rule", "imag_of", "parts_of", "real_dtype", "rule"]


class Complex(NamedTuple):
    """A complex tensor: its real and its imaginary part. None is a part that is zero. A part may
    have fewer dims or smaller ones than the tensor, if it broadcasts to the tensor."""

    re: Any
    im: Any


@dataclass(frozen=True)
class ComplexCall:
    """A call of an aten op that has a complex argument or result.

    Attributes:
        target: The op.
        arguments: The arguments by their names in the schema, including defaults.
        result: Fake tensors of the results.
    """

    target: torch._ops.OpOverload
    arguments: Mapping[str, Any]
    result: Any

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def run(self, /, **replaced: Any) -> Any:
        """Calls the op.

        Args:
            **replaced: Real values for arguments. A complex dtype among the other arguments becomes
                that of its parts.

        Returns:
            The result of the op.
        """
        args, kwargs = [], {}
        for argument in self.target._schema.arguments:
            value = replaced.get(argument.name, self.arguments[argument.name])
            if isinstance(value, torch.dtype):
                value = real_dtype(value)
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        return self.target(*args, **kwargs)


Rule = Callable[[ComplexCall], Any]

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers a rule for the aten ops `names`, without `aten.`. The rule returns a `Complex` or a
    real tensor, or a list of them, whose dtype and shape are then made those of the result."""

    def register(function: Rule) -> Rule:
        for name in names:
            key = f"aten.{name}"
            if key in RULES:
                msg = f"{key} has two rules"
                raise ValueError(msg)
            RULES[key] = function
        return function

    return register


def real_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the parts of a complex dtype; other dtypes unchanged."""
    return dtype.to_real() if dtype.is_complex else dtype


def parts_of(value: Any) -> Complex:
    """The parts of a `Complex`, a real tensor or a number. A part of a number that is 0 is None."""
    if isinstance(value, Complex):
        return value
    if isinstance(value, complex):
        return Complex(value.real or None, value.imag or None)
    return Complex(value, None)


def imag_of(value: Any) -> Any:
    """The imaginary part of a `Complex`, a real tensor or a number, as a tensor or a number."""
    re, im = parts_of(value)
    if im is not None:
        return im
    return torch.zeros_like(re) if isinstance(re, torch.Tensor) else 0
