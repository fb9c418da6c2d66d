# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The values of symbols for which the modules of a model are compared to find its symbolic one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from convoy.errors import SymbolicSizesError
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import parse_size

__all__ = ["sample_values"]

#: The most elements of all example inputs together, and the largest sample of a symbol.
_MOST_ELEMENTS, _LARGEST = 2**26, 4096


def sample_values(
    symbols: Sequence[Symbol], inputs: Sequence[DynamicTensor]
) -> list[dict[str, int]]:
    """Values that tell sizes apart that depend on symbols in different ways: the ends of the
    ranges and their middle find attributes that depend on a threshold, and neighbours those that
    depend on a remainder. One sample differs in each symbol alone.

    Args:
        symbols: The symbols of a model.
        inputs: Its inputs, whose elements bound the largest values.

    Returns:
        The value of each symbol in each sample. The first one is at no end of a range, where some
        ops vanish: a slice of the first 16 of 16 elements. The last one has the largest values.

    Raises:
        SymbolicSizesError: A range has less than two values above 1.
    """
    low = {symbol.name: _first(symbol) for symbol in symbols}
    step = {symbol.name: symbol.multiple_of for symbol in symbols}
    most = {symbol.name: symbol.maximum - symbol.maximum % symbol.multiple_of for symbol in symbols}
    for symbol in symbols:
        if low[symbol.name] + step[symbol.name] > most[symbol.name]:
            # A size of 1 broadcasts.
            message = (
                "expected a range with two values above 1, which tell its sizes apart, got "
                f"{symbol}"
            )
            raise SymbolicSizesError(message)
    following = {name: value + step[name] for name, value in low.items()}
    samples = [following, low]
    if len(symbols) > 1:
        samples += [{**following, name: value} for name, value in low.items()]
    high = _largest(low, most, step, inputs)
    middle = {name: value + (high[name] - value) // 2 for name, value in low.items()}
    middle = {name: value - value % step[name] for name, value in middle.items()}
    found = [*samples, middle, high]
    return [each for index, each in enumerate(found) if each not in found[:index]]


def _first(symbol: Symbol) -> int:
    """The smallest value above 1."""
    value = max(2, symbol.minimum)
    return value + -value % symbol.multiple_of


def _largest(
    low: dict[str, int],
    most: dict[str, int],
    step: dict[str, int],
    inputs: Sequence[DynamicTensor],
) -> dict[str, int]:
    """The ends of the ranges, or smaller values whose inputs fit into memory."""
    values = {
        name: min(value, max(_LARGEST - _LARGEST % step[name], low[name] + step[name]))
        for name, value in most.items()
    }
    while _elements(values, inputs) > _MOST_ELEMENTS:
        name = max(values, key=lambda each: values[each] // low[each])
        half = max(low[name] + step[name], values[name] // 2)
        if half >= values[name]:
            break
        values[name] = half - half % step[name]
    return values


def _elements(values: dict[str, int], inputs: Sequence[DynamicTensor]) -> int:
    shapes = [[parse_size(text) for text in tensor.sizes] for tensor in inputs]
    return sum(prod(size.at(values) for size in sizes if size is not None) for sizes in shapes)
