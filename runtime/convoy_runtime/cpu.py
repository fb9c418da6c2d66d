# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts of the `cpu` target: `convoy_main` on host memory, with an arena per thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from ctypes import memset
from typing import Any
from weakref import WeakSet

import numpy as np

from ._abi import pointer_array
from ._native import NativeLibrary
from ._safetensors import HostTensor
from .arrays import CPU, View, is_placed, library_of
from .artifact import Artifact
from .errors import ArgumentError, ExecutionError
from .host_arrays import aligned_copy, aligned_empty, from_numpy, host_array, logical, padded_copy
from .interface import Interface, whole_interface
from .known_tensors import KnownTensors
from .program import POISON, Program
from .torch_tensors import TorchTensors, results_of

__all__ = ["CpuProgram", "Lanes"]

ALIGNMENT = 64


class _Lane:
    """The state of programs in one thread: an arena, and a lock that is held during a run. The
    lock is reentrant, because a signal handler or a finalizer may run or close the same program
    during a call."""

    __slots__ = ("__weakref__", "address", "arena", "lock")

    def __init__(self, size: int) -> None:
        self.arena = aligned_empty((size,), "uint8")
        self.address = self.arena.ctypes.data
        self.lock = threading.RLock()


class Lanes:
    """The lanes of one program, or of the programs for the points of one artifact, which run one at
    a time in a thread.

    Args:
        size: The size of an arena in bytes.

    Attributes:
        lock: Guards the set of lanes, and the code of the programs.
    """

    def __init__(self, size: int) -> None:
        self._size, self._users = size, 0
        self.renew()

    def join(self) -> None:
        """Adds a program."""
        self._users += 1

    def leave(self) -> None:
        """Removes a program. With the last one, the arenas are freed."""
        self._users -= 1
        if self._users <= 0:
            self.renew()

    def renew(self) -> None:
        """Drops all lanes. Arenas are freed at the end of their runs."""
        self.lock = threading.RLock()
        self._local = threading.local()
        self._live: WeakSet[_Lane] = WeakSet()  # those of live threads

    def own(self) -> _Lane:
        """The lane of this thread."""
        lane: _Lane | None = getattr(self._local, "lane", None)
        if lane is None:
            lane = self._local.lane = _Lane(self._size)
            with self.lock:
                self._live.add(lane)
        return lane

    def wait(self) -> None:
        """Waits for the runs of other threads."""
        with self.lock:
            lanes = list(self._live)
        for lane in lanes:
            with lane.lock:
                pass


class CpuProgram(Program):
    """A program on the host. Inputs that have the strides of their spec and are 64-byte aligned are
    read in place, others are copied."""

    def __init__(
        self,
        artifact: Artifact,
        native: NativeLibrary,
        *,
        poison: bool,
        lanes: Lanes | None = None,
    ) -> None:
        super().__init__(artifact, native, poison=poison)
        self._lanes = lanes or Lanes(self.manifest.arena_bytes)
        self._lanes.join()
        # One tuple of the function, the weights' addresses and their arrays: a run that holds it
        # keeps the library and the weights alive. None when the program is closed.
        self._code: tuple[Any, Any, list[np.ndarray]] | None = (native.main, pointer_array([]), [])
        self._tensors, self._known = TorchTensors(None), KnownTensors()
        self._torch_results = results_of(self.outputs)
        _programs.add(self)

    def _run_arrays(
        self,
        arrays: Sequence[Any],
        stream: int | None = None,
        interface: Interface | None = None,
    ) -> tuple[Any, ...]:
        library = library_of(arrays[0]) if arrays else "numpy"
        if library == "torch" and interface is None:
            tensors = self._run_tensors(arrays)
            if tensors is not None:
                return tensors
        outputs = self._results(arrays, interface)
        made = [
            from_numpy(library, array, spec)
            for array, spec in zip(outputs, self.outputs, strict=True)
        ]
        return tuple(made) if interface is None else _first_rows(made, interface)

    def _run_tensors(self, tensors: Sequence[Any]) -> tuple[Any, ...] | None:
        """Runs the model with PyTorch tensors that can be read in place. Returns None if one
        cannot. DLPack takes two thirds of the time of a call of a small model."""
        self._check_ready()
        inputs = self._tensors.pointers(tensors, self.inputs, self._known)
        if inputs is None or any(pointer % ALIGNMENT for pointer in inputs):
            return None
        results = self._tensors.empty(self._torch_results)
        if results is None:
            return None
        outputs = [result.data_ptr() for result in results]
        if any(pointer % ALIGNMENT for pointer in outputs):
            return None  # not of PyTorch's own allocator
        self._call(inputs, outputs)
        return tuple(results)

    def run_numpy(
        self, *arrays: np.ndarray, interface: Interface | None = None
    ) -> tuple[np.ndarray, ...]:
        outputs = self._results(arrays, interface)
        made = [logical(*each) for each in zip(outputs, self.outputs, strict=True)]
        return tuple(made) if interface is None else _first_rows(made, interface)

    def _results(self, arrays: Sequence[Any], interface: Interface | None) -> list[np.ndarray]:
        """Runs the model and returns the packed arrays of its outputs."""
        self._check_ready()
        specs = self.inputs if interface is None else interface.inputs
        views = self._views(arrays, specs, "input", (CPU, 0))
        outputs = self._new_outputs()
        self._run(views, outputs)
        return outputs

    def _new_outputs(self) -> list[np.ndarray]:
        """Memory for the outputs, as packed arrays."""
        specs = [spec.stored for spec in self.outputs]
        return [aligned_empty(spec.shape, spec.dtype) for spec in specs]

    def run_into(
        self,
        outputs: Sequence[Any],
        inputs: Sequence[Any],
        *,
        interface: Interface | None = None,
    ) -> None:
        self._check_ready()
        given_specs = interface or whole_interface(self.inputs, self.outputs)
        views = self._views(inputs, given_specs.inputs, "input", (CPU, 0))
        targets = self._views(outputs, given_specs.outputs, "output", (CPU, 0))
        self._check_targets(targets, given_specs.outputs)
        for got, spec in zip(targets, given_specs.outputs, strict=True):
            if isinstance(got.owner, np.ndarray) and not got.owner.flags.writeable:
                raise ArgumentError(argument=f"output {spec.name!r}", problem="is read-only")
        # An output that overlaps an input is written after the inputs have been read.
        read = [
            (got.pointer, got.pointer + spec.bytes)
            for got, spec in zip(views, given_specs.inputs, strict=True)
        ]
        direct = [
            got.pointer % ALIGNMENT == 0
            and got.shape == spec.shape
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
            array if straight else aligned_empty(spec.stored.shape, spec.dtype)
            for array, spec, straight in zip(given, self.outputs, direct, strict=True)
        ]
        self._run(views, arrays)
        for target, array, straight in zip(given, arrays, direct, strict=True):
            if not straight:
                np.copyto(target, array[tuple(slice(size) for size in target.shape)])

    def close(self) -> None:
        was_closed = self.closed
        super().close()
        with self._lanes.lock:
            self._code = None
        self._lanes.wait()
        if not was_closed:
            self._lanes.leave()

    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        arrays = []
        for spec in self.manifest.prepared:
            array = prepared[spec.name].array
            if array.ctypes.data % ALIGNMENT:
                aligned = aligned_empty(spec.shape, spec.dtype)
                np.copyto(aligned, array)
                array = aligned
            arrays.append(array)
        with self._lanes.lock:
            if self._code is None:
                raise self._closed()
            self._code = (
                self._code[0],
                pointer_array([array.ctypes.data for array in arrays]),
                arrays,
            )

    def _run(self, views: list[View], outputs: list[np.ndarray]) -> None:
        """Runs the model. `outputs` are the packed arrays in memory."""
        copies = [
            padded_copy(got, spec)
            if got.shape != spec.shape
            else aligned_copy(got, spec.order)
            if got.pointer % ALIGNMENT or not is_placed(got, spec)
            else None
            for got, spec in zip(views, self.inputs, strict=True)
        ]
        inputs = [
            got.pointer if copy is None else copy.ctypes.data
            for got, copy in zip(views, copies, strict=True)
        ]
        self._call(inputs, [array.ctypes.data for array in outputs])

    def _call(self, inputs: list[int], outputs: list[int]) -> None:
        """Calls `convoy_main` with pointers of packed, 64-byte aligned buffers."""
        sources, targets, lane = pointer_array(inputs), pointer_array(outputs), self._lanes.own()
        # `close` clears `_code` and then waits for this lock, so that a run either completes or
        # finds the program closed.
        with lane.lock:
            if (code := self._code) is None:
                raise self._closed()
            if self._poison:
                memset(lane.address, POISON, lane.arena.nbytes)
                for pointer, spec in zip(outputs, self.outputs, strict=True):
                    memset(pointer, POISON, spec.bytes)
            main, prepared, _keep = code
            status = main(None, sources, prepared, targets, lane.address)
        if status:
            raise ExecutionError(entry="convoy_main", status=status)


def _first_rows(arrays: Sequence[Any], interface: Interface) -> tuple[Any, ...]:
    """The part of each output that a call returns."""
    return tuple(
        array[tuple(slice(size) for size in spec.shape)]
        for array, spec in zip(arrays, interface.outputs, strict=True)
    )


_programs: WeakSet[CpuProgram] = WeakSet()


def _after_fork() -> None:
    # Threads of the parent, which the child does not have, may hold the locks.
    for program in list(_programs):
        program._lanes.renew()


os.register_at_fork(after_in_child=_after_fork)
