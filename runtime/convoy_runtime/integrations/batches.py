# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Requests that run together: their rows along the batch symbol of an artifact with dynamic sizes
become one call of the program."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from convoy_runtime.dynamic.manifest import DynamicTensor
from convoy_runtime.dynamic.program import DynamicProgram
from convoy_runtime.dynamic.sizes import parse_size
from convoy_runtime.errors import ArgumentError
from convoy_runtime.host_arrays import aligned_empty, logical
from convoy_runtime.program import Program

__all__ = ["AUTOMATIC", "Batches", "Rows"]

#: Selects the only padded symbol that occurs exactly once in every input and output.
AUTOMATIC = "auto"


@dataclass(frozen=True, slots=True)
class Rows:
    """The size of a request.

    Attributes:
        count: The value of the batch symbol.
        others: The values of the other symbols. Requests with different ones do not run together.
    """

    count: int
    others: tuple[int, ...]


class Batches:
    """Joins the inputs of requests along a symbol, and splits the results.

    Args:
        program: The program.
        symbol: The name of the batch symbol. Every input and output has it in one dim, as a
            multiple without an offset.

    Raises:
        ArgumentError: The program has no such symbol, or a tensor does not have it so.
    """

    def __init__(self, program: DynamicProgram, symbol: str) -> None:
        names = [each.name for each in program.symbols]
        if symbol not in names:
            raise ArgumentError(
                argument="batch_symbol",
                problem="unknown symbol",
                expected=f"one of {', '.join(names)}",
                got=repr(symbol),
            )
        self.symbol = symbol
        self._place = names.index(symbol)
        self._program = program
        self._names = names
        self._padded = program.symbols[self._place].padded
        self._inputs = [_batch_dim(tensor, symbol) for tensor in program.inputs]
        self._outputs = [_batch_dim(tensor, symbol) for tensor in program.outputs]
        self._points: dict[tuple[int, ...], list[int]] = {}
        for point in program.points:
            self._points.setdefault(self._others(point), []).append(point[symbol])
        for counts in self._points.values():
            counts.sort()
        #: The largest batch of any call.
        self.largest = max(counts[-1] for counts in self._points.values())

    @classmethod
    def of(cls, program: Program, symbol: str | None = AUTOMATIC) -> Batches | None:
        """How requests of a program run together.

        Args:
            program: The program.
            symbol: The name of the batch symbol; "auto" for the only padded symbol that every input
                and output has in one dim, None for no batching. A symbol that is not padded has to
                be named: the compiler has not proven that its rows are independent.

        Returns:
            The batches; None if each request runs alone.

        Raises:
            ArgumentError: The program has no such symbol, or a tensor does not have it in one dim.
        """
        if symbol is None or (symbol == AUTOMATIC and not isinstance(program, DynamicProgram)):
            return None
        if not isinstance(program, DynamicProgram):
            raise ArgumentError(
                argument="batch_symbol",
                problem=f"{program.path} has static sizes",
                expected=f"{AUTOMATIC!r} or None",
                got=repr(symbol),
            )
        if symbol != AUTOMATIC:
            return cls(program, symbol)
        tensors = [*program.inputs, *program.outputs]
        fitting = [
            each.name
            for each in program.symbols
            if each.padded and all(_find_batch_dim(tensor, each.name) for tensor in tensors)
        ]
        return cls(program, fitting[0]) if len(fitting) == 1 else None

    def rows(self, arrays: Sequence[np.ndarray]) -> Rows | None:
        """The size of a request; None if it runs alone, because there is no point with the same
        values of the other symbols. The arrays are checked."""
        values = self._program.values_of(arrays)
        others = self._others(values)
        return Rows(values[self.symbol], others) if others in self._points else None

    def together(self, rows: Sequence[Rows]) -> int:
        """How many requests run in one call.

        Args:
            rows: The sizes of the waiting requests, at least one, with equal others.

        Returns:
            The length of the longest beginning of the list that is at most the largest batch. For a
            symbol that is not padded it has to be a point.
        """
        counts = self._points[rows[0].others]
        total, found = 0, 1
        for number, each in enumerate(rows, 1):
            total += each.count
            if total > counts[-1]:
                break
            if self._padded or total in counts:
                found = number
        return found

    def join(self, requests: Sequence[Sequence[np.ndarray]], rows: Sequence[Rows]) -> list[Any]:
        """Copies the inputs of requests into those of one call. They have the size of the next
        point and the strides of its program, which reads them in place; the rest is zeros.

        Args:
            requests: The arrays of each request, at least one.
            rows: The size of each request, with equal others.

        Returns:
            One array per input.
        """
        others = rows[0].others
        counts = self._points[others]
        wanted = counts[bisect_left(counts, sum(each.count for each in rows))]
        values = (*others[: self._place], wanted, *others[self._place :])
        program = self._program.point(**dict(zip(self._names, values, strict=True)))
        joined = []
        for index, spec in enumerate(program.inputs):
            dim, _ = self._inputs[index]
            array = logical(aligned_empty(spec.stored.shape, spec.dtype), spec)
            ahead = (slice(None),) * dim
            begin = 0
            for request in requests:
                end = begin + request[index].shape[dim]
                array[(*ahead, slice(begin, end))] = request[index]
                begin = end
            array[(*ahead, slice(begin, None))] = 0
            joined.append(array)
        return joined

    def split(
        self, results: Sequence[np.ndarray], rows: Sequence[Rows]
    ) -> list[tuple[np.ndarray, ...]]:
        """The results of each request, as views of those of the call."""
        parts = []
        begin = 0
        for each in rows:
            end = begin + each.count
            parts.append(
                tuple(
                    array[(*(slice(None),) * dim, slice(factor * begin, factor * end))]
                    for array, (dim, factor) in zip(results, self._outputs, strict=True)
                )
            )
            begin = end
        return parts

    def _others(self, values: dict[str, int]) -> tuple[int, ...]:
        return tuple(values[name] for name in self._names if name != self.symbol)


def _find_batch_dim(tensor: DynamicTensor, symbol: str) -> tuple[int, int] | None:
    """The dim whose size is a multiple of the symbol, and the factor; None unless there is exactly
    one, and no other dim depends on the symbol."""
    found = []
    for dim, text in enumerate(tensor.sizes):
        size = parse_size(text)
        if size is None or (size.symbol == symbol and size.offset):
            return None
        if size.symbol == symbol:
            found.append((dim, size.factor))
    return found[0] if len(found) == 1 else None


def _batch_dim(tensor: DynamicTensor, symbol: str) -> tuple[int, int]:
    if (found := _find_batch_dim(tensor, symbol)) is None:
        raise ArgumentError(
            argument="batch_symbol",
            problem=f"is not the size of exactly one dim of {tensor.name!r}",
            expected=f"a dim of size {symbol} or a multiple of it",
            got=str(tensor),
        )
    return found
