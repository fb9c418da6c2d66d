# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The samples of an op of the OpInfo database as modules of tensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

__all__ = ["DTYPES", "Sample", "Together", "database", "op_name", "samples_of"]

#: Ops whose results have undefined values.
_UNDEFINED = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
              "new_empty_strided")  # fmt: skip

#: The dtypes of samples, in the order of the page's columns.
DTYPES = (torch.float32, torch.int64, torch.bool)


def database() -> dict[str, Any]:
    """Name to op of the database, in the order of the names."""
    from torch.testing._internal.common_methods_invocations import op_db

    return dict(sorted((op_name(op), op) for op in op_db))


def op_name(op: Any) -> str:
    """The name of an op of the database and of its variant, e.g. `norm.nuc`."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


@dataclass(frozen=True)
class Sample:
    """One call of an op.

    Attributes:
        name: The name of the op without its variant.
        op: The function.
        leaves: The arguments, flat. Tensors are the inputs of the model, other values constants. A
            complex tensor is an input and a result of its parts, a last dim of 2.
        structure: The structure of `(args, kwargs)`.
        expected: The tensors among PyTorch's results.
        limits: For each result, the largest difference from `expected` that counts as right;
            infinity if its values are undefined.
    """

    name: str
    op: Any
    leaves: tuple[Any, ...]
    structure: pytree.TreeSpec
    expected: tuple[torch.Tensor, ...]
    limits: tuple[float, ...]

    @property
    def inputs(self) -> list[torch.Tensor]:
        return [_parts(leaf) for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def call(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Runs the op on tensors in place of `inputs`; returns the tensors among the results."""
        given = iter(tensors)
        leaves = [_given(x, given) if isinstance(x, torch.Tensor) else x for x in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        return [_parts(x) for x in pytree.tree_leaves(self.op(*args, **kwargs)) if _is_tensor(x)]


class Together(torch.nn.Module):
    """Several samples as one model, since each compilation has a fixed cost."""

    def __init__(self, samples: list[Sample]) -> None:
        super().__init__()
        self.samples = samples

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results: list[torch.Tensor] = []
        start = 0
        for sample in self.samples:
            stop = start + len(sample.inputs)
            results += sample.call(list(tensors[start:stop]))
            start = stop
        return tuple(results)


def samples_of(op: Any, dtype: torch.dtype, limit: int) -> Iterator[Sample]:
    """The first samples of an op, without those for which PyTorch itself raises an error and those
    without tensor results.

    Args:
        op: An op of the database.
        dtype: The dtype of the samples.
        limit: The largest number of samples.

    Yields:
        Each sample with PyTorch's results.
    """
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=False)):
            if number == limit:
                return
            arguments = ((sample.input, *sample.args), sample.kwargs)
            flat, structure = pytree.tree_flatten(arguments)
            # Samples share tensors, which torch.export takes for one input.
            leaves = tuple(x.detach().clone() if _is_tensor(x) else x for x in flat)
            made = Sample(op.name, op.op, leaves, structure, (), ())
            try:
                expected = made.call([x.clone() for x in made.inputs])
            except Exception:
                continue
            if expected and all(x.layout == torch.strided for x in expected):
                limits = (
                    (math.inf,) * len(expected)
                    if op.name in _UNDEFINED
                    else tuple(_limits(made, expected))
                )
                yield Sample(op.name, op.op, leaves, structure, tuple(expected), limits)


def _parts(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def _given(leaf: torch.Tensor, given: Iterator[torch.Tensor]) -> torch.Tensor:
    """The next input, in the form of an argument."""
    return torch.view_as_complex(next(given)) if leaf.is_complex() else next(given)


def _limits(sample: Sample, expected: list[torch.Tensor]) -> list[float]:
    """For floats, eight times PyTorch's largest error, at least 1e-5 and 1e-5 of the largest
    number. Other results have to be equal."""
    try:
        exact: list[Any] = sample.call([_wide(x.clone()) for x in sample.inputs])
    except Exception:  # The op has no float64.
        exact = []
    if [x.shape for x in exact] != [x.shape for x in expected]:
        exact = expected
    limits = []
    for got, wide in zip(expected, exact, strict=True):
        if not got.is_floating_point():
            limits.append(0.0)
            continue
        error = (got.double() - wide.double()).abs()
        largest = got.double().abs()
        limits.append(max(1e-5, 1e-5 * _largest(largest), 8 * _largest(error)))
    return limits


def _largest(x: torch.Tensor) -> float:
    """The largest finite element; 0 if there is none."""
    finite = x[torch.isfinite(x)]
    return float(finite.max()) if finite.numel() else 0.0


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x.double() if x.dtype in (torch.float32, torch.float16, torch.bfloat16) else x


def _is_tensor(x: object) -> bool:
    return isinstance(x, torch.Tensor)
