# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts with dynamic sizes: selects the program of the point for each call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.arrays import aligned_empty
from convoy_runtime.errors import ArgumentError
from convoy_runtime.interface import Interface, resized
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.program import Program
from convoy_runtime.weights import prepare_weights

from .artifact import DynamicArtifact, PointArtifact, point_text
from .manifest import DynamicTensor
from .solve import defining_dims, shape_at, shape_of, solve
from .undeclared import Undeclared

__all__ = ["DynamicProgram"]

#: The values of the symbols of a call to its program. Above this number of entries, the oldest one
#: is dropped.
_MOST_CHOICES = 4096
#: A call's program, and its interface if it has fewer rows than the program.
_Choice = tuple[Program, Interface | None]


class DynamicProgram(Program):
    """A loaded model with dynamic sizes. It has one static program for each point of the artifact;
    all share the weights and, because they run one after another, the largest point's memory.

    A call whose sizes are a point runs that point's program. If a symbol is padded, a value between
    two of its points runs the program of the next one: the rest of the inputs is zeros, and the
    rest of the results is dropped. Other sizes raise ArgumentError, which lists the points.

    Args:
        artifact: The artifact.
        natives: The native library of each point.
        make: Creates the program of a point.
        poison: As in `Program`.

    Attributes:
        symbols: Name, range and divisibility of each dynamic size.
    """

    def __init__(
        self,
        artifact: DynamicArtifact,
        natives: Sequence[NativeLibrary],
        make: Callable[[PointArtifact, NativeLibrary], Program],
        *,
        poison: bool,
    ) -> None:
        super().__init__(artifact.points[0], natives[0], poison=poison)
        self._dynamic, self._natives = artifact, natives
        self._programs: list[Program] = []
        self.symbols = artifact.manifest.symbols
        names = [symbol.name for symbol in self.symbols]
        self._dims = defining_dims(artifact.manifest.inputs, names)
        self._choices: dict[tuple[int, ...], _Choice] = {}
        self._undeclared: Undeclared | None = None
        self._padded = [index for index, symbol in enumerate(self.symbols) if symbol.padded]
        self._points = {point.values: i for i, point in enumerate(artifact.manifest.points)}
        try:
            for point, native in zip(artifact.points, natives, strict=True):
                program = make(point, native)
                program.is_point = True
                self._programs.append(program)
        except BaseException:
            self.close()
            raise

    @property
    def inputs(self) -> tuple[DynamicTensor, ...]:  # type: ignore[override]
        """Name, sizes and dtype of each input."""
        return self._dynamic.manifest.inputs

    @property
    def outputs(self) -> tuple[DynamicTensor, ...]:  # type: ignore[override]
        """Name, sizes and dtype of each output."""
        return self._dynamic.manifest.outputs

    @property
    def example_inputs(self) -> tuple[TensorSpec, ...]:
        return self._dynamic.points[-1].manifest.inputs

    @property
    def static_programs(self) -> Mapping[str, Program]:
        names = [point_text(self.symbols, each.values) for each in self._dynamic.manifest.points]
        return dict(zip(names, self._programs, strict=True))

    @property
    def points(self) -> tuple[dict[str, int], ...]:
        """The value of each symbol at each point."""
        names = [symbol.name for symbol in self.symbols]
        return tuple(
            dict(zip(names, point.values, strict=True)) for point in self._dynamic.manifest.points
        )

    def point(self, **values: int) -> Program:
        """The program of a point, e.g. `program.point(batch=8)`, to profile it, to look at its
        plans or to replay it. It shares weights and memory with this program.

        Args:
            **values: The value of each symbol.

        Returns:
            The static program, which closes with this one.

        Raises:
            ArgumentError: There is no such point.
            ConvoyRuntimeError: The program is closed.
        """
        self._check_open()
        return self._programs[self._dynamic.points.index(self._dynamic.select(values))]

    def compile_undeclared(
        self, make: Callable[[Mapping[str, int]], Program], *, wait: bool = True
    ) -> None:
        """Makes calls with sizes in the ranges that are no point, and are not padded, compile a
        program for them. It has memory and weights of its own.

        Args:
            make: Compiles and loads the program for the value of each symbol.
            wait: Whether such a call waits. Otherwise it raises ArgumentError, and calls with these
                sizes do so until the program is ready.

        Raises:
            ConvoyRuntimeError: The program is closed.
        """
        self._check_open()
        previous, self._undeclared = self._undeclared, Undeclared(make, wait=wait)
        self._choices.clear()
        if previous is not None:
            previous.close()

    @property
    def undeclared_points(self) -> tuple[dict[str, int], ...]:
        """The value of each symbol for which a program was compiled since the load."""
        found = () if self._undeclared is None else self._undeclared.points
        names = [symbol.name for symbol in self.symbols]
        return tuple(dict(zip(names, values, strict=True)) for values in found)

    def values_of(self, arrays: Sequence[Any]) -> dict[str, int]:
        """The value of each symbol in a call with these arrays.

        Args:
            arrays: One array per input.

        Returns:
            Name of a symbol to its value.

        Raises:
            ArgumentError: The shapes do not fit, or a value is out of range.
        """
        tensors = self._dynamic.manifest.inputs
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
        return solve(tensors, shapes, self.symbols)

    @property
    def plans(self) -> tuple[Any, ...]:
        """The report of each graph's plan at each point, in the order of the points."""
        return tuple(
            report for program in self._programs for report in getattr(program, "plans", ())
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model, as `Program.__call__` says. On target "cuda" the keyword `stream` is the
        handle of the stream."""
        extra = self._stream_of(kwargs)
        return self._nested(self._run_arrays(self._arrays(args, kwargs), **extra))

    def _run_arrays(self, arrays: Sequence[Any], **extra: Any) -> tuple[Any, ...]:
        program, interface = self._choose(arrays)
        return program._run_arrays(arrays, interface=interface, **extra)  # type: ignore[call-arg]

    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any], **extra: Any) -> None:
        program, interface = self._choose(inputs)
        program.run_into(outputs, inputs, interface=interface, **extra)  # type: ignore[call-arg]

    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        program, interface = self._choose(arrays)
        return program.run_numpy(*arrays, interface=interface)  # type: ignore[call-arg]

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        self._check_open()
        prepared: dict[str, HostTensor] = {}
        for artifact, native in zip(self._dynamic.points, self._natives, strict=True):
            specs = artifact.manifest.prepared
            if all(spec.origin in prepared for spec in specs) and specs:
                continue
            made = prepare_weights(native, artifact.manifest, source, artifact.constants())
            for spec in specs:
                prepared.setdefault(spec.origin, made[spec.name])
        self.install_all(prepared)
        if self._undeclared is not None:
            self._undeclared.load_weights(source)

    def install_all(self, prepared: Mapping[str, HostTensor]) -> None:
        """Uses prepared weights, by origin, in all programs from the next run on. Raises
        ConvoyRuntimeError."""
        aligned = {origin: _aligned(tensor) for origin, tensor in prepared.items()}
        shares_memory = self.manifest.target == "cuda"
        done: set[str] = set()
        for program in self._programs:
            specs = program.manifest.prepared
            program.install_all(
                {spec.name: aligned[spec.origin] for spec in specs if spec.origin not in done}
            )
            if shares_memory:
                done.update(spec.origin for spec in specs)
        self._has_weights = True

    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        raise NotImplementedError  # `install_all` has the weights of all points

    def close(self) -> None:
        super().close()
        if self._undeclared is not None:
            self._undeclared.close()
        for program in self._programs:
            program.close()
        self._choices.clear()

    @property
    def device(self) -> str:
        """Index and name of the GPU, or "cpu"."""
        return str(getattr(self._programs[0], "device", "cpu"))

    def synchronize(self) -> None:
        """Waits for the last run of all points. Raises CudaError if it failed on the GPU."""
        self._check_open()
        if self.manifest.target == "cuda":
            own = [] if self._undeclared is None else self._undeclared.programs
            for program in (self._programs[0], *own):
                program.synchronize()  # type: ignore[attr-defined]

    def _stream_of(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Removes the stream from the keyword arguments of a call on a GPU."""
        if self.manifest.target == "cuda" and "stream" in kwargs:
            return {"stream": kwargs.pop("stream")}
        return {}

    def _choose(self, arrays: Sequence[Any]) -> _Choice:
        """The program for the shapes of these arrays."""
        try:
            key = tuple([arrays[index].shape[dim] for index, dim in self._dims])
            found = self._choices.get(key)
        except (AttributeError, IndexError, TypeError):
            found, key = None, ()
        # The program checks the other sizes, but would tell those of its point.
        if found is not None and self._fits(arrays, found):
            return found
        return self._new_choice(arrays, key)

    def _fits(self, arrays: Sequence[Any], choice: _Choice) -> bool:
        """Whether all arrays have the shapes of a choice."""
        program, interface = choice
        specs = program.inputs if interface is None else interface.inputs
        if len(arrays) != len(specs):
            return False
        return all(array.shape == spec.shape for array, spec in zip(arrays, specs, strict=True))

    def _new_choice(self, arrays: Sequence[Any], key: tuple[int, ...]) -> _Choice:
        self._check_open()
        values = self.values_of(arrays)
        wanted = tuple(values[symbol.name] for symbol in self.symbols)
        place = self._points.get(wanted)
        choice: _Choice
        if place is not None:
            choice = self._programs[place], None
        elif (place := self._next_point(wanted)) is not None:
            choice = self._programs[place], self._interface_of(place, values)
        else:
            choice = self._undeclared_program(wanted, values), None
        if len(self._choices) >= _MOST_CHOICES:
            self._choices.pop(next(iter(self._choices)), None)
        if key:
            self._choices[key] = choice
        return choice

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

    def _undeclared_program(self, wanted: tuple[int, ...], values: Mapping[str, int]) -> Program:
        """The program of sizes that are neither a point nor padded. Raises ArgumentError if there
        is none (yet)."""
        symbols = self.symbols
        if self._undeclared is not None:
            if (program := self._undeclared.program(values)) is not None:
                return program
            raise ArgumentError(
                argument="sizes",
                problem=f"the program of {self.path} for them is being compiled",
                expected="a later call",
                got=point_text(symbols, wanted),
            )
        listed = ", ".join(point_text(symbols, values) for values in sorted(self._points))
        raise ArgumentError(
            argument="sizes",
            problem=f"{self.path} has no point for them",
            expected=f"one of: {listed}" + self._padding_text(),
            got=point_text(symbols, wanted),
        )

    def _padding_text(self) -> str:
        names = [self.symbols[index].name for index in self._padded]
        return f"; smaller values of {' or '.join(names)} are padded" if names else ""

    def _interface_of(self, place: int, values: Mapping[str, int]) -> Interface:
        """The interface of a call that the program of a larger point runs."""
        program, manifest = self._programs[place], self._dynamic.manifest

        def sized(specs: Sequence[Any], tensors: Sequence[DynamicTensor]) -> tuple[Any, ...]:
            return tuple(
                resized(spec, shape_at(tensor, spec.shape, values))
                for spec, tensor in zip(specs, tensors, strict=True)
            )

        return Interface(
            sized(program.inputs, manifest.inputs), sized(program.outputs, manifest.outputs)
        )

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        target = self.manifest.target
        return f"<DynamicProgram {self.path} {target} ({inputs}) -> ({outputs})>"


def _aligned(tensor: HostTensor) -> HostTensor:
    """The weight at a multiple of 64 bytes, so that all programs use the same copy."""
    if tensor.array.ctypes.data % 64 == 0:
        return tensor
    array = aligned_empty(tensor.array.shape, tensor.dtype)
    np.copyto(array, tensor.array)
    return HostTensor(tensor.dtype, array)
