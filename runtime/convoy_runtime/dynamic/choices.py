# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The program for the sizes of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from convoy_runtime.errors import ArgumentError
from convoy_runtime.interface import Interface, Window, resized, window_of
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.program import Program

from .artifact import DynamicArtifact, point_text
from .manifest import DynamicTensor
from .solve import shape_at, shape_of, solve
from .undeclared import Undeclared

__all__ = ["Choice", "Choices"]

#: The values of the symbols of a call to its program. Above this number of entries, the oldest one
#: is dropped.
_MOST_CHOICES = 4096
#: The most choices that are made before the first call. Each takes tens of microseconds.
_MOST_PREPARED = 1024
_shape = attrgetter("shape")
#: A call's program, and its interface if it has fewer rows than the program.
Choice = tuple[Program, Interface | None]


class Choices:
    """Chooses the program of a call: that of the point that its sizes are, of the next point if one
    symbol is padded, or one that is compiled for it.

    Args:
        artifact: The artifact.
        programs: The program of each point, in its order; may be filled later.
        undeclared: Compiles programs for other sizes; None if these are an error.

    Attributes:
        undeclared: As given.
    """

    def __init__(
        self,
        artifact: DynamicArtifact,
        programs: Sequence[Program],
        undeclared: Undeclared | None = None,
    ) -> None:
        self.undeclared = undeclared
        self._path, self._manifest, self._programs = artifact.path, artifact.manifest, programs
        self._symbols = artifact.manifest.symbols
        self._padded = [index for index, symbol in enumerate(self._symbols) if symbol.padded]
        self._points = {point.values: i for i, point in enumerate(self._manifest.points)}
        #: The shapes of the inputs of calls that were chosen before.
        self._known: dict[tuple[tuple[int, ...], ...], Choice] = {}

    def find(self, arrays: Sequence[Any]) -> Choice | None:
        """The choice for a call with these arrays, if one with the same sizes was chosen before."""
        try:
            return self._known.get(tuple(map(_shape, arrays)))
        except (AttributeError, TypeError):
            return None

    def choose(self, arrays: Sequence[Any]) -> Choice:
        """The choice for a call with these arrays.

        Args:
            arrays: One array per input.

        Returns:
            The program, and the interface of the call if it is padded.

        Raises:
            ArgumentError: The shapes do not fit, a value is out of range, or there is no program.
        """
        values = self.values_of(arrays)
        wanted = tuple(values[symbol.name] for symbol in self._symbols)
        choice = self._declared(wanted, values)
        if choice is None:
            choice = self._undeclared_program(wanted, values), None
        if len(self._known) >= _MOST_CHOICES:
            self._known.pop(next(iter(self._known)), None)
        self._keep(choice)
        return choice

    def prepare(self) -> None:
        """Makes the choices for the points and between them, so that the first call of a size takes
        no longer than the next one. In large ranges, those of the first sizes."""
        names = [symbol.name for symbol in self._symbols]
        for wanted in islice(self._declared_values(), _MOST_PREPARED):
            values = dict(zip(names, wanted, strict=True))
            choice = self._declared(wanted, values)
            if choice is not None:
                self._keep(choice)

    def values_of(self, arrays: Sequence[Any]) -> dict[str, int]:
        """The value of each symbol in a call with these arrays. Raises ArgumentError if the shapes
        do not fit, or a value is out of range."""
        tensors = self._manifest.inputs
        if len(arrays) != len(tensors):
            names = ", ".join(tensor.name for tensor in tensors) or "none"
            raise ArgumentError(
                argument="inputs",
                problem="wrong number",
                expected=f"{len(tensors)} ({names})",
                got=str(len(arrays)),
            )
        shapes = [
            shape_of(array, f"input {tensor.name!r}")
            for array, tensor in zip(arrays, tensors, strict=True)
        ]
        return solve(tensors, shapes, self._symbols)

    def clear(self) -> None:
        """Forgets all choices, which keep programs alive."""
        self._known.clear()

    def _keep(self, choice: Choice) -> None:
        """Remembers a choice by the shapes of the inputs."""
        program, interface = choice
        specs = program.inputs if interface is None else interface.inputs
        self._known[tuple([spec.shape for spec in specs])] = choice

    def _declared(self, wanted: tuple[int, ...], values: Mapping[str, int]) -> Choice | None:
        """The choice for a point, or between points of a padded symbol; None elsewhere."""
        if (place := self._points.get(wanted)) is not None:
            return self._programs[place], None
        if (place := self._next_point(wanted)) is not None:
            return self._programs[place], self._interface_of(place, values)
        return None

    def _declared_values(self) -> Iterator[tuple[int, ...]]:
        """The values of the symbols at the points, and then between them."""
        yield from self._points
        for index in self._padded:
            symbol = self._symbols[index]
            for point in self._points:
                lower = [
                    other[index]
                    for other in self._points
                    if other[index] < point[index]
                    and (*other[:index], point[index], *other[index + 1 :]) == point
                ]
                first = max(lower) + 1 if lower else symbol.minimum
                for value in range(first, point[index]):
                    if value % symbol.multiple_of == 0:
                        yield (*point[:index], value, *point[index + 1 :])

    def _next_point(self, wanted: tuple[int, ...]) -> int | None:
        """The next point of one padded symbol, with the same values of the others; None if there is
        none."""
        fitting = [
            (values[index], values)
            for index in self._padded
            for values in self._points
            if values[index] > wanted[index]
            and (*values[:index], wanted[index], *values[index + 1 :]) == wanted
        ]
        return self._points[min(fitting)[1]] if fitting else None

    def _interface_of(self, place: int, values: Mapping[str, int]) -> Interface:
        """The interface of a call that the program of a larger point runs."""
        program, manifest = self._programs[place], self._manifest

        def sized(
            specs: Sequence[TensorSpec], tensors: Sequence[DynamicTensor]
        ) -> tuple[tuple[TensorSpec, ...], tuple[Window, ...]]:
            given = tuple(
                resized(spec, shape_at(tensor, spec.shape, values))
                for spec, tensor in zip(specs, tensors, strict=True)
            )
            return given, tuple(map(window_of, specs, given))

        inputs, outputs = (
            sized(program.inputs, manifest.inputs),
            sized(program.outputs, manifest.outputs),
        )
        return program.bound(Interface(inputs[0], outputs[0], (inputs[1], outputs[1])))

    def _undeclared_program(self, wanted: tuple[int, ...], values: Mapping[str, int]) -> Program:
        """The program of sizes that are neither a point nor padded. Raises ArgumentError if there
        is none (yet)."""
        symbols = self._symbols
        if self.undeclared is not None:
            if (program := self.undeclared.program(values)) is not None:
                return program
            raise ArgumentError(
                argument="sizes",
                problem=f"the program of {self._path} for them is being compiled",
                expected="a later call",
                got=point_text(symbols, wanted),
            )
        listed = ", ".join(point_text(symbols, values) for values in sorted(self._points))
        names = [symbols[index].name for index in self._padded]
        padding = f"; smaller values of {' or '.join(names)} are padded" if names else ""
        raise ArgumentError(
            argument="sizes",
            problem=f"{self._path} has no point for them",
            expected=f"one of: {listed}{padding}",
            got=point_text(symbols, wanted),
        )
