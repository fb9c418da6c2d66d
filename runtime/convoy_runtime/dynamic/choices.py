# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The program for the sizes of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convoy_runtime.errors import ArgumentError
from convoy_runtime.interface import Interface, resized
from convoy_runtime.program import Program

from .artifact import DynamicArtifact, point_text
from .manifest import DynamicTensor
from .solve import defining_dims, shape_at, shape_of, solve
from .undeclared import Undeclared

__all__ = ["Choice", "Choices"]

#: The values of the symbols of a call to its program. Above this number of entries, the oldest one
#: is dropped.
_MOST_CHOICES = 4096
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
        self._dims = defining_dims(self._manifest.inputs, [each.name for each in self._symbols])
        self._padded = [index for index, symbol in enumerate(self._symbols) if symbol.padded]
        self._points = {point.values: i for i, point in enumerate(self._manifest.points)}
        self._known: dict[tuple[int, ...], Choice] = {}

    def find(self, arrays: Sequence[Any]) -> Choice | None:
        """The choice for a call with these arrays, if one with the same sizes was chosen before."""
        try:
            found = self._known.get(self._key(arrays))
        except (AttributeError, IndexError, TypeError):
            return None
        # The program checks the other sizes, but would tell those of its point.
        return found if found is not None and _fits(arrays, found) else None

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
        place = self._points.get(wanted)
        choice: Choice
        if place is not None:
            choice = self._programs[place], None
        elif (place := self._next_point(wanted)) is not None:
            choice = self._programs[place], self._interface_of(place, values)
        else:
            choice = self._undeclared_program(wanted, values), None
        if len(self._known) >= _MOST_CHOICES:
            self._known.pop(next(iter(self._known)), None)
        if all(hasattr(array, "shape") for array in arrays):
            self._known[self._key(arrays)] = choice
        return choice

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

    def _key(self, arrays: Sequence[Any]) -> tuple[int, ...]:
        return tuple([arrays[index].shape[dim] for index, dim in self._dims])

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

        def sized(specs: Sequence[Any], tensors: Sequence[DynamicTensor]) -> tuple[Any, ...]:
            return tuple(
                resized(spec, shape_at(tensor, spec.shape, values))
                for spec, tensor in zip(specs, tensors, strict=True)
            )

        return Interface(
            sized(program.inputs, manifest.inputs), sized(program.outputs, manifest.outputs)
        )

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


def _fits(arrays: Sequence[Any], choice: Choice) -> bool:
    """Whether all arrays have the shapes of a choice."""
    program, interface = choice
    specs = program.inputs if interface is None else interface.inputs
    if len(arrays) != len(specs):
        return False
    return all(array.shape == spec.shape for array, spec in zip(arrays, specs, strict=True))
