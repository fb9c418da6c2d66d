# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts with dynamic sizes: selects the program of the point for each call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.arrays import CPU
from convoy_runtime.host_arrays import as_numpy
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.program import Program
from convoy_runtime.weights import aligned_tensor, prepare_weights

from .artifact import DynamicArtifact, PointArtifact, point_text
from .choices import Choice, Choices
from .manifest import DynamicTensor
from .undeclared import Undeclared

__all__ = ["DynamicProgram"]


class DynamicProgram(Program):
    """A loaded model with dynamic sizes. It has one static program for each point of the artifact;
    all share the weights and, because they run one after another, the largest point's memory.

    A call whose sizes are a point runs that point's program. If a symbol is padded, a value between
    two of its points runs the program of the next one: the rest of the inputs is zeros, and the
    rest of the results is dropped. Other sizes raise ArgumentError, which lists the points, or are
    compiled: see `compile_undeclared`.

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
        self._choices = Choices(artifact, self._programs)
        self.symbols = artifact.manifest.symbols
        try:
            for point, native in zip(artifact.points, natives, strict=True):
                program = make(point, native)
                program.is_point = True
                self._programs.append(program)
            self._choices.prepare()
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
        previous = self._choices.undeclared
        self._choices = Choices(self._dynamic, self._programs, Undeclared(make, wait=wait))
        self._choices.prepare()
        if previous is not None:
            previous.close()

    @property
    def undeclared_points(self) -> tuple[dict[str, int], ...]:
        """The value of each symbol for which a program was compiled since the load."""
        return () if self._choices.undeclared is None else self._choices.undeclared.points

    def values_of(self, arrays: Sequence[Any]) -> dict[str, int]:
        """The value of each symbol in a call with these arrays.

        Args:
            arrays: One array per input.

        Returns:
            Name of a symbol to its value.

        Raises:
            ArgumentError: The shapes do not fit, or a value is out of range.
        """
        return self._choices.values_of(arrays)

    @property
    def plans(self) -> tuple[Any, ...]:
        """The report of each graph's plan at each point, in the order of the points."""
        return tuple(
            report for program in self._programs for report in getattr(program, "plans", ())
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model, as `Program.__call__` says. On target "cuda" the keyword `stream` is the
        handle of the stream."""
        stream = None
        if kwargs and self.manifest.target == "cuda":
            stream = kwargs.pop("stream", None)
        arrays = args if self._positional and not kwargs else self.arrays_of(args, kwargs)
        results = self._run_arrays(arrays, stream)
        return results[0] if self._single else self.nested(results)

    def _run_arrays(
        self, arrays: Sequence[Any], stream: int | None = None, interface: Any = None
    ) -> tuple[Any, ...]:
        program, interface = self._choose(arrays)
        return program._run_arrays(arrays, stream, interface)

    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any], **extra: Any) -> None:
        program, interface = self._choose(inputs)
        program.run_into(outputs, inputs, interface=interface, **extra)  # type: ignore[call-arg]

    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        program, interface = self._choose(arrays)
        return program.run_numpy(*arrays, interface=interface)  # type: ignore[call-arg]

    @property
    def is_usable(self) -> bool:
        return self._programs[0].is_usable

    def host_inputs(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        program, interface = self._choose(arrays)
        specs = program.inputs if interface is None else interface.inputs
        return [as_numpy(got) for got in self._views(arrays, specs, "input", (CPU, 0))]

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        super().load_weights(source)
        if self._choices.undeclared is not None:
            self._choices.undeclared.load_weights(source)

    def prepare(
        self, source: str | os.PathLike[str] | Mapping[str, Any]
    ) -> Mapping[str, HostTensor]:
        """Computes the prepared weights of all points, by origin, as `Program.prepare`."""
        self._check_open()
        prepared: dict[str, HostTensor] = {}
        for artifact, native in zip(self._dynamic.points, self._natives, strict=True):
            specs = artifact.manifest.prepared
            if all(spec.origin in prepared for spec in specs) and specs:
                continue
            made = prepare_weights(native, artifact.manifest, source, artifact.constants())
            for spec in specs:
                prepared.setdefault(spec.origin, made[spec.name])
        return prepared

    def install_all(self, prepared: Mapping[str, HostTensor]) -> None:
        """Uses prepared weights, by origin, in all programs from the next run on. Raises
        ConvoyRuntimeError."""
        aligned = {origin: aligned_tensor(tensor) for origin, tensor in prepared.items()}
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
        if self._choices.undeclared is not None:
            self._choices.undeclared.close()
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
            own = [] if self._choices.undeclared is None else self._choices.undeclared.programs
            for program in (self._programs[0], *own):
                program.synchronize()  # type: ignore[attr-defined]

    def _choose(self, arrays: Sequence[Any]) -> Choice:
        """The program for the shapes of these arrays."""
        if (found := self._choices.find(arrays)) is not None:
            return found
        self._check_open()
        return self._choices.choose(arrays)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        target = self.manifest.target
        return f"<DynamicProgram {self.path} {target} ({inputs}) -> ({outputs})>"
