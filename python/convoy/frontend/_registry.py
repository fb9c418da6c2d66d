# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of converters, keyed by Torch's op names in torch-mlir's form (`aten.add.Tensor`,
`aten.relu`).

Ops in the table are not decomposed before import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from convoy.frontend._builder import Builder
from convoy.frontend._types import TensorType

__all__ = ["CONVERTERS", "Call", "Converter", "Missing", "converts"]


@dataclass(frozen=True)
class Missing:
    """A placeholder for a result that a converter does not produce. Its use is an error with this
    reason."""

    reason: str


@dataclass(frozen=True)
class Call:
    """A Torch op.

    Attributes:
        name: The name of the op.
        args: The arguments in the order of the schema, including defaults: `tcp` values for
            tensors, Python values otherwise.
        results: The types of the tensor results in the Torch IR.
    """

    name: str
    args: tuple[Any, ...]
    results: tuple[TensorType, ...]

    @property
    def result(self) -> TensorType:
        return self.results[0]


Converter = Callable[[Builder, Call], "ir.Value | Sequence[ir.Value | Missing]"]

CONVERTERS: dict[str, Converter] = {}


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter for the Torch ops `names`. The converter returns the op's result, or a
    sequence of results; a Torch list is such a sequence."""

    def register(function: Converter) -> Converter:
        for name in names:
            if name in CONVERTERS:
                msg = f"{name} has two converters"
                raise ValueError(msg)
            CONVERTERS[name] = function
        return function

    return register
