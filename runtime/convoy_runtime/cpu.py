"""Runs an artifact of the `cpu` target: `convoy_main` on host memory, one arena a thread."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._abi import pointer_array
from ._native import NativeLibrary
from ._safetensors import HostTensor
from .arrays import CPU, View, aligned_copy, aligned_empty, from_numpy, host_array, is_packed, library_of
from .artifact import Artifact
from .errors import ArgumentError, ExecutionError
from .program import POISON, Program

__all__ = ["CpuProgram"]

ALIGNMENT = 64


class CpuProgram(Program):
    """A program on the host. Inputs that are not packed row-major, or not 64-byte aligned, are copied; all others are read in place."""

    def __init__(self, artifact: Artifact, native: NativeLibrary, *, poison: bool) -> None:
        super().__init__(artifact, native, poison=poison)
        self._local = threading.local()
        # One object for array and addresses: a run that has taken it keeps the weights that it points to.
        self._prepared: tuple[ctypes.Array[ctypes.c_void_p], list[np.ndarray]] = (pointer_array([]), [])

    def __call__(self, *arrays: Any) -> Any:
        self._check_ready()
        views = self._views(arrays, self.inputs, "input", (CPU, 0))
        outputs = [aligned_empty(spec.shape, spec.dtype) for spec in self.outputs]
        self._run(views, outputs)
        library = library_of(arrays[0]) if arrays else "numpy"
        results = tuple(from_numpy(library, array, spec.dtype) for array, spec in zip(outputs, self.outputs, strict=True))
        return results[0] if len(results) == 1 else results

    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        self._check_ready()
        outputs = [aligned_empty(spec.shape, spec.dtype) for spec in self.outputs]
        self._run(self._views(arrays, self.inputs, "input", (CPU, 0)), outputs)
        return tuple(outputs)

    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        self._check_ready()
        views = self._views(inputs, self.inputs, "input", (CPU, 0))
        targets = self._views(outputs, self.outputs, "output", (CPU, 0))
        for got, spec in zip(targets, self.outputs, strict=True):
            name = f"output {spec.name!r}"
            if not is_packed(got):
                raise ArgumentError(argument=name, problem="is not packed row-major", got=f"strides {list(got.strides)}")
            if isinstance(got.owner, np.ndarray) and not got.owner.flags.writeable:
                raise ArgumentError(argument=name, problem="is read-only")
        direct = [got.pointer % ALIGNMENT == 0 for got in targets]
        arrays = [
            host_array(got) if straight else aligned_empty(spec.shape, spec.dtype)
            for got, spec, straight in zip(targets, self.outputs, direct, strict=True)
        ]
        self._run(views, arrays)
        for got, array, straight in zip(targets, arrays, direct, strict=True):
            if not straight:
                np.copyto(host_array(got), array)

    def close(self) -> None:
        super().close()
        self._prepared = (pointer_array([]), [])
        self._local = threading.local()

    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        arrays = []
        for spec in self.manifest.prepared:
            array = prepared[spec.name].array
            if array.ctypes.data % ALIGNMENT:
                aligned = aligned_empty(spec.shape, spec.dtype)
                np.copyto(aligned, array)
                array = aligned
            arrays.append(array)
        self._prepared = (pointer_array([array.ctypes.data for array in arrays]), arrays)

    def _run(self, views: list[View], outputs: list[np.ndarray]) -> None:
        copies = [aligned_copy(got) if got.pointer % ALIGNMENT or not is_packed(got) else None for got in views]
        inputs = [got.pointer if copy is None else copy.ctypes.data for got, copy in zip(views, copies, strict=True)]
        arena = getattr(self._local, "arena", None)
        if arena is None:
            arena = self._local.arena = aligned_empty((self.manifest.arena_bytes,), "uint8")
        if self._poison:
            for array in (arena, *outputs):
                array.reshape(-1).view(np.uint8).fill(POISON)
        pointers, _keep = self._prepared
        targets = pointer_array([array.ctypes.data for array in outputs])
        status = self._native.main(None, pointer_array(inputs), pointers, targets, arena.ctypes.data)
        if status:
            raise ExecutionError(entry="convoy_main", status=status)
