# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts of the `cpu` target: `convoy_main` on host memory, with an arena per thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from ._abi import pointer_array
from ._native import NativeLibrary
from ._safetensors import HostTensor
from .arrays import (
    CPU,
    View,
    aligned_copy,
    aligned_empty,
    from_numpy,
    host_array,
    is_placed,
    library_of,
    logical,
)
from .artifact import Artifact
from .errors import ArgumentError, ExecutionError
from .program import POISON, Program

__all__ = ["CpuProgram"]

ALIGNMENT = 64


class _Lane:
    """The state of a program in one thread: an arena, and a lock that is held during a run. The
    lock is reentrant, because a signal handler or a finalizer may run or close the same program
    during a call."""

    __slots__ = ("__weakref__", "address", "arena", "lock")

    def __init__(self, size: int) -> None:
        self.arena = aligned_empty((size,), "uint8")
        self.address = self.arena.ctypes.data
        self.lock = threading.RLock()


class CpuProgram(Program):
    """A program on the host. Inputs that have the strides of their spec and are 64-byte aligned are
    read in place, others are copied."""

    def __init__(self, artifact: Artifact, native: NativeLibrary, *, poison: bool) -> None:
        super().__init__(artifact, native, poison=poison)
        self._new_lanes()
        # One tuple of the function, the weights' addresses and their arrays: a run that holds it
        # keeps the library and the weights alive. None when the program is closed.
        self._code: tuple[Any, Any, list[np.ndarray]] | None = (native.main, pointer_array([]), [])
        _programs.add(self)

    def _run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        self._check_ready()
        views = self._views(arrays, self.inputs, "input", (CPU, 0))
        outputs = self._new_outputs()
        self._run(views, outputs)
        library = library_of(arrays[0]) if arrays else "numpy"
        return tuple(
            from_numpy(library, array, spec)
            for array, spec in zip(outputs, self.outputs, strict=True)
        )

    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        self._check_ready()
        outputs = self._new_outputs()
        self._run(self._views(arrays, self.inputs, "input", (CPU, 0)), outputs)
        return tuple(logical(*each) for each in zip(outputs, self.outputs, strict=True))

    def _new_outputs(self) -> list[np.ndarray]:
        """Memory for the outputs, as packed arrays."""
        specs = [spec.stored for spec in self.outputs]
        return [aligned_empty(spec.shape, spec.dtype) for spec in specs]

    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        self._check_ready()
        views = self._views(inputs, self.inputs, "input", (CPU, 0))
        targets = self._views(outputs, self.outputs, "output", (CPU, 0))
        self._check_targets(targets)
        for got, spec in zip(targets, self.outputs, strict=True):
            if isinstance(got.owner, np.ndarray) and not got.owner.flags.writeable:
                raise ArgumentError(argument=f"output {spec.name!r}", problem="is read-only")
        # An output that overlaps an input is written after the inputs have been read.
        read = [
            (got.pointer, got.pointer + spec.bytes)
            for got, spec in zip(views, self.inputs, strict=True)
        ]
        direct = [
            got.pointer % ALIGNMENT == 0
            and not any(
                got.pointer < end and begin < got.pointer + spec.bytes for begin, end in read
            )
            for got, spec in zip(targets, self.outputs, strict=True)
        ]
        given = [
            host_array(got) if spec.order is None else host_array(got).transpose(spec.order)
            for got, spec in zip(targets, self.outputs, strict=True)
        ]
        arrays = [
            array if straight else aligned_empty(array.shape, spec.dtype)
            for array, spec, straight in zip(given, self.outputs, direct, strict=True)
        ]
        self._run(views, arrays)
        for target, array, straight in zip(given, arrays, direct, strict=True):
            if not straight:
                np.copyto(target, array)

    def close(self) -> None:
        super().close()
        with self._lock:
            self._code = None
            lanes = list(self._lanes)
        for lane in lanes:
            with lane.lock:  # waits for a run
                pass
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
        with self._lock:
            if self._code is None:
                raise self._closed()
            self._code = (
                self._code[0],
                pointer_array([array.ctypes.data for array in arrays]),
                arrays,
            )

    def _new_lanes(self) -> None:
        self._lock = threading.RLock()  # guards the fields below and `_code`
        self._local = threading.local()
        self._lanes: WeakSet[_Lane] = WeakSet()  # those of live threads

    def _lane(self) -> _Lane:
        lane: _Lane | None = getattr(self._local, "lane", None)
        if lane is None:
            lane = self._local.lane = _Lane(self.manifest.arena_bytes)
            with self._lock:
                self._lanes.add(lane)
        return lane

    def _run(self, views: list[View], outputs: list[np.ndarray]) -> None:
        """Runs the model. `outputs` are the packed arrays in memory."""
        copies = [
            aligned_copy(got, spec.order)
            if got.pointer % ALIGNMENT or not is_placed(got, spec)
            else None
            for got, spec in zip(views, self.inputs, strict=True)
        ]
        inputs = [
            got.pointer if copy is None else copy.ctypes.data
            for got, copy in zip(views, copies, strict=True)
        ]
        sources, targets = (
            pointer_array(inputs),
            pointer_array([array.ctypes.data for array in outputs]),
        )
        lane = self._lane()
        # `close` clears `_code` and then waits for this lock, so that a run either completes or
        # finds the program closed.
        with lane.lock:
            if (code := self._code) is None:
                raise self._closed()
            if self._poison:
                for array in (lane.arena, *outputs):
                    array.reshape(-1).view(np.uint8).fill(POISON)
            main, prepared, _keep = code
            status = main(None, sources, prepared, targets, lane.address)
        if status:
            raise ExecutionError(entry="convoy_main", status=status)


_programs: WeakSet[CpuProgram] = WeakSet()


def _after_fork() -> None:
    # Threads of the parent, which the child does not have, may hold the locks.
    for program in list(_programs):
        program._new_lanes()


os.register_at_fork(after_in_child=_after_fork)
