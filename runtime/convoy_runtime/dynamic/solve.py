# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The values of the symbols for given arrays, and the shapes for given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convoy_runtime.arrays import view
from convoy_runtime.errors import ArgumentError

from .manifest import DynamicTensor, Symbol
from .sizes import parse_size

__all__ = ["shape_at", "shape_of", "solve"]


def solve(
    tensors: Sequence[DynamicTensor],
    shapes: Sequence[tuple[int, ...]],
    symbols: Sequence[Symbol],
) -> dict[str, int]:
    """Computes the values of the symbols from the shapes of the inputs, and checks them.

    Args:
        tensors: The inputs.
        shapes: The shape of each array.
        symbols: The symbols.

    Returns:
        Name of a symbol to its value.

    Raises:
        ArgumentError: A shape has another rank or another number than the sizes, two dims give
            different values of a symbol, or a value is outside of the range of its symbol.
    """
    values: dict[str, int] = {}
    origins: dict[str, str] = {}
    for tensor, shape in zip(tensors, shapes, strict=True):
        name = f"input {tensor.name!r}"
        expected = f"[{', '.join(tensor.sizes)}]"
        if len(shape) != len(tensor.sizes):
            raise ArgumentError(
                argument=name, problem="wrong shape", expected=expected, got=str(list(shape))
            )
        for dim, (got, text) in enumerate(zip(shape, tensor.sizes, strict=True)):
            size = parse_size(text)
            assert size is not None  # checked when the manifest was read
            if not size.symbol:
                if got != size.offset:
                    raise ArgumentError(
                        argument=name,
                        problem="wrong shape",
                        expected=expected,
                        got=str(list(shape)),
                    )
                continue
            value, rest = divmod(got - size.offset, size.factor)
            known = values.setdefault(size.symbol, value)
            origin = origins.setdefault(size.symbol, f"dim {dim} of {name}")
            if rest or known != value:
                wanted = size.factor * known + size.offset
                raise ArgumentError(
                    argument=name,
                    problem=f"wrong size of dim {dim}",
                    expected=f"{text} = {wanted}, because {size.symbol} is {known} in {origin}"
                    if not rest or origin != f"dim {dim} of {name}"
                    else f"a number {text}",
                    got=str(got),
                )
    for symbol in symbols:
        value = values[symbol.name]
        inside = symbol.minimum <= value <= symbol.maximum
        if not inside or value % symbol.multiple_of:
            raise ArgumentError(
                argument=origins[symbol.name],
                problem=f"the value of {symbol.name} is not in its range",
                expected=str(symbol).partition(": ")[2],
                got=str(value),
            )
    return values


def shape_at(
    tensor: DynamicTensor, shape: tuple[int, ...], values: Mapping[str, int]
) -> tuple[int, ...]:
    """The shape for these values of the symbols. Sizes that depend on symbols in another way, which
    are not padded, are those of `shape`."""
    sizes = [parse_size(text) for text in tensor.sizes]
    return tuple(
        have if size is None else size.at(values) for size, have in zip(sizes, shape, strict=True)
    )


def shape_of(array: Any, name: str) -> tuple[int, ...]:
    """The shape of an array, which errors call `name`. Raises ArgumentError if it is none."""
    shape = getattr(array, "shape", None)
    return tuple(view(array, name).shape if shape is None else shape)
