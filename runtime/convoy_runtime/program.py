"""A loaded artifact, ready to run: what both targets share. `cpu.py` and `cuda/executor.py` add where memory lies and who runs."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._abi import pointer_array
from ._native import MEMBER, NativeLibrary, load_native
from ._safetensors import HostTensor, read_safetensors
from .arrays import CPU, View, aligned_copy, aligned_empty, check, host_array, is_packed, view
from .artifact import Artifact, open_artifact
from .errors import ArgumentError, ConvoyRuntimeError, DeviceError, ExecutionError, WeightsError
from .manifest import TensorSpec

if TYPE_CHECKING:
    from .cuda.options import PlanOptions

__all__ = ["Program", "load"]

#: Every byte that `poison=True` writes; as any float type that is a NaN.
POISON = 0xFF


class Program(ABC):
    """A model that runs. Call it with one array an input, in the order of `inputs`; it returns one array, or a tuple of several.

    Arrays are whatever speaks DLPack; results are of the first input's library. Use it from any thread. It is a context manager,
    and `close()` gives everything back.
    """

    def __init__(self, artifact: Artifact, native: NativeLibrary, *, poison: bool) -> None:
        self._artifact: Artifact | None = artifact
        self._native = native
        self._poison = poison
        self._has_weights = False
        self.path = artifact.path
        self.manifest = artifact.manifest

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each input."""
        return self.manifest.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each output."""
        return self.manifest.outputs

    @property
    def weights(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each original weight: what `load_weights` takes."""
        return self.manifest.weights

    @property
    def closed(self) -> bool:
        """Whether `close()` was called."""
        return self._artifact is None

    @abstractmethod
    def __call__(self, *arrays: Any) -> Any:
        """Runs the model on `arrays`."""

    @abstractmethod
    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Runs the model on `inputs` and writes into the arrays `outputs`, which must be packed row-major."""

    @abstractmethod
    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Runs the model on host arrays and returns all outputs as host arrays, whatever the target. It waits for the result."""

    @abstractmethod
    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        """Makes the prepared weights, complete and checked, those of the next run."""

    def close(self) -> None:
        """Gives memory, handles and the mapped file back. Calling it again does nothing."""
        self._artifact = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Replaces the weights, by the code that the compiler put into the artifact; no compiler is needed.

        `source` is a .safetensors file or a mapping from names to host arrays, as a state_dict, with exactly the names, shapes and
        dtypes of `weights`; only BatchNorm's `num_batches_tracked`, which inference never reads, may be there as well. Raises
        WeightsError with every mismatch, or ArtifactError when the file is damaged; the old weights then stay in use.
        """
        self._check_open()
        given = self._given_weights(source)
        prepared = {spec.name: HostTensor(spec.dtype, aligned_empty(spec.shape, spec.dtype)) for spec in self.manifest.prepared}
        arena = aligned_empty((self.manifest.prepare_arena_bytes,), "uint8")
        status = self._native.prepare_weights(
            pointer_array([array.ctypes.data for array in given]),
            pointer_array([tensor.array.ctypes.data for tensor in prepared.values()]),
            arena.ctypes.data,
        )
        if status:
            raise ExecutionError(entry="convoy_prepare_weights", status=status)
        self._install(prepared)
        self._has_weights = True

    def _given_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> list[np.ndarray]:
        """The arrays that `convoy_prepare_weights` takes, 64-byte aligned, in the manifest's order."""
        origin = "the mapping"
        if not isinstance(source, Mapping):
            origin, source = str(source), _read_file(Path(source))
        expected = {spec.name: spec for spec in self.weights}
        problems = [f"{name}: missing" for name in expected if name not in source]
        problems += [f"{name}: unexpected" for name in source if name not in expected and not str(name).endswith("num_batches_tracked")]
        views: list[View] = []
        for name, spec in expected.items():
            if name not in source:
                continue
            value = source[name]
            try:
                if isinstance(value, HostTensor):
                    got = View(value.array.ctypes.data, value.array.shape, _strides(value.array), value.dtype, (CPU, 0), value.array)
                else:
                    # Parameters: a copy is made, so nothing that autograd could follow is lost.
                    got = view(value.detach() if hasattr(value, "detach") else value, name)
                check(got, spec, name, (CPU, 0))
            except ArgumentError as error:
                problems.append(str(error))
                continue
            views.append(got)
        if problems:
            raise WeightsError(problem=f"{origin}: {len(problems)} of the weights do not fit, the old ones stay:", problems=tuple(problems))
        return [_readable(got) for got in views]

    def _check_open(self) -> None:
        if self._artifact is None:
            problem = f"the program {self.path} is closed"
            raise ConvoyRuntimeError(problem)

    def _check_ready(self) -> None:
        self._check_open()
        if not self._has_weights and self.manifest.prepared:
            problem = f"{self.path} was compiled without weights: call program.load_weights(FILE.safetensors or a state_dict) first"
            raise WeightsError(problem=problem)

    def _views(
        self, arrays: Sequence[Any], specs: Sequence[TensorSpec], what: str, device: tuple[int, int], stream: int | None = None
    ) -> list[View]:
        """Borrows and checks the arrays of one side of a call."""
        if len(arrays) != len(specs):
            names = ", ".join(spec.name for spec in specs) or "none"
            raise ArgumentError(argument=f"{what}s", problem="wrong number", expected=f"{len(specs)} ({names})", got=str(len(arrays)))
        views = []
        for array, spec in zip(arrays, specs, strict=True):
            name = f"{what} {spec.name!r}"
            got = view(array, name, stream=stream)
            check(got, spec, name, device)
            views.append(got)
        return views

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<Program {self.path} {self.manifest.target} ({inputs}) -> ({outputs})>"


def load(
    path: str | os.PathLike[str],
    *,
    device: str | int | None = None,
    weights: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    poison: bool = False,
    options: PlanOptions | None = None,
) -> Program:
    """Loads the artifact at `path`.

    `device` is `cpu`, `cuda`, `cuda:N` or N; by default the artifact's target, on the first GPU. `weights` replaces the weights, as
    `Program.load_weights` does. `poison` fills all temporary and output memory with NaN before each run, for tests. `options`
    restricts cuDNN's plans. Raises ArtifactError, DeviceError (which CudnnError and PlanError are), WeightsError.
    """
    artifact = open_artifact(path)
    target, index = _device(device, artifact.manifest.target)
    if target != artifact.manifest.target:
        made = artifact.manifest.target
        raise DeviceError(
            problem=f"{path} was compiled for {made} and cannot run on {target}", hint=f"compile the model with target={target!r}"
        )
    native = load_native(artifact.members[MEMBER], path=artifact.path)
    program: Program
    if target == "cuda":
        from .cuda.executor import CudaProgram

        program = CudaProgram(artifact, native, index=index, poison=poison, options=options)
    else:
        from .cpu import CpuProgram

        program = CpuProgram(artifact, native, poison=poison)
    try:
        if weights is not None:
            program.load_weights(weights)
        elif (prepared := artifact.weights()) is not None:
            program._install(prepared)
            program._has_weights = True
    except BaseException:
        program.close()
        raise
    return program


def _device(device: str | int | None, target: str) -> tuple[str, int]:
    if device is None:
        return target, 0
    kind, _, number = (f"cuda:{device}" if isinstance(device, int) else str(device)).partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()) or (kind == "cpu" and number not in ("", "0")):
        raise DeviceError(problem=f"device: expected cpu, cuda, cuda:N or N, got {device!r}")
    return kind, int(number or 0)


def _read_file(path: Path) -> Mapping[str, HostTensor]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WeightsError(problem=f"{path}: cannot be read: {error.strerror or error}") from error
    return read_safetensors(content, path=path)


def _strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def _readable(got: View) -> np.ndarray:
    """The elements packed and 64-byte aligned: where they lie when they are, else a copy."""
    return host_array(got) if is_packed(got) and got.pointer % 64 == 0 else aligned_copy(got)
