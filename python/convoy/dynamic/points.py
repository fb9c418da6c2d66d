# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The points that an artifact with dynamic sizes has programs for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from convoy.errors import InputError
from convoy_runtime.dynamic.manifest import Symbol

__all__ = ["Points", "choose_points", "widened"]

#: Name of a symbol to its values, whose combinations are the points; or the points.
Points = Mapping[str, Sequence[int]] | Sequence[Mapping[str, int]]
#: The most points without a choice.
_MOST = 16


def choose_points(symbols: Sequence[Symbol], points: Points | None) -> list[dict[str, int]]:
    """Checks the points, or chooses the powers of two in the ranges of the symbols, times their
    divisors.

    Args:
        symbols: The symbols.
        points: Name of a symbol to its values, for all combinations; or a list with a value of each
            symbol for each point. None for powers of two, and the smallest and largest value.

    Returns:
        The value of each symbol at each point, without repetitions, in increasing order.

    Raises:
        InputError: A name is unknown or missing, a value is out of range, or there are no points.
    """
    if points is None:
        points = {symbol.name: _powers(symbol) for symbol in symbols}
    names = [symbol.name for symbol in symbols]
    if isinstance(points, Mapping):
        _check_names(points, names)
        for name, values in points.items():
            if isinstance(values, (int, str)) or not values:
                message = f"points: expected a list of values of {name}, got {values!r}"
                raise InputError(message)
        chosen = [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*(points[name] for name in names))
        ]
    else:
        for point in points:
            _check_names(point, names)
        chosen = [{name: point[name] for name in names} for point in points]
    if not chosen:
        message = "points: expected at least one point, got none"
        raise InputError(message)
    for point in chosen:
        for symbol in symbols:
            _check_value(symbol, point[symbol.name])
    unique = {tuple(point.values()): point for point in chosen}
    return [unique[key] for key in sorted(unique)]


def widened(symbols: Sequence[Symbol], points: Sequence[Mapping[str, int]]) -> tuple[Symbol, ...]:
    """The symbols with ranges that include the points: torch.export starts ranges at 2 where a
    size of 1 might broadcast, which a point of its own does rightly."""
    return tuple(
        replace(symbol, minimum=min(symbol.minimum, *(point[symbol.name] for point in points)))
        for symbol in symbols
    )


def _check_names(given: Any, names: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        message = f"points: expected a dict of {', '.join(names)}, got {given!r}"
        raise InputError(message)
    if set(given) != set(names):
        message = f"points: expected values of {', '.join(names)}, got {', '.join(map(str, given))}"
        raise InputError(message)


def _check_value(symbol: Symbol, value: Any) -> None:
    inside = isinstance(value, int) and not isinstance(value, bool)
    # A range that starts at 2 is torch's: sizes of 1 broadcast.
    low = 1 if symbol.minimum == 2 else symbol.minimum
    if not inside or not low <= value <= symbol.maximum or value % symbol.multiple_of:
        message = f"points: expected values of {symbol}, got {value!r}"
        raise InputError(message)


def _powers(symbol: Symbol) -> list[int]:
    values = [
        value
        for value in {
            symbol.minimum,
            symbol.maximum,
            *(symbol.multiple_of * 2**power for power in range(31)),
        }
        if symbol.minimum <= value <= symbol.maximum and value % symbol.multiple_of == 0
    ]
    if len(values) > _MOST:
        message = (
            f"expected points for {symbol}, whose range has too many powers of two to compile all: "
            f"points={{'{symbol.name}': [...]}}"
        )
        raise InputError(message)
    return sorted(values)
