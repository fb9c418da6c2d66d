"""Runs an artifact of the `cuda` target: each run is one replay of the CUDA graph that its `Instance` captured.

The captured graph works on static buffers. A call copies its inputs into them and its results out of them, all on the caller's
stream and without waiting; `static_inputs`, `static_outputs` and `replay` leave the copies away.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.arrays import CPU, CUDA, aligned_copy, aligned_empty, check, is_packed, library_of, view
from convoy_runtime.artifact import Artifact
from convoy_runtime.errors import ArgumentError, CudaError
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.profile import Profile
from convoy_runtime.program import POISON, Program, Progress

from ._cudnn import load_libraries, open_cudnn
from ._driver import Device, open_driver
from .instance import Instance
from .libraries import DLPACK_LEGACY_STREAM, Libraries, hand_over
from .memory import DeviceArray, Lease, Pool
from .options import PlanOptions
from .plan import PlanReport
from .store import PlanStore, Scope

__all__ = ["CudaProgram"]

PTX = "kernels.ptx"
# CUstream_flags, CUevent_flags, CUstreamCaptureStatus.
_STREAM_NON_BLOCKING = 1
_EVENT_DISABLE_TIMING = 2
_CAPTURE_STATUS_NONE = 0


class CudaProgram(Program):
    """A program on a GPU. Inputs are arrays on that GPU; those that are not packed row-major are copied by their own library.

    Work is enqueued on the caller's stream: that of torch or cupy when the first input is theirs, else the legacy default stream,
    or the one that `run_into` and `replay` are given. Calls from several threads or streams follow one another.
    """

    def __init__(
        self,
        artifact: Artifact,
        native: NativeLibrary,
        *,
        index: int,
        poison: bool,
        options: PlanOptions | None = None,
        plan_cache: str | os.PathLike[str] | bool = True,
        tune: str = "off",
        strict: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(artifact, native, poison=poison)
        self._lock = threading.RLock()
        self._instance: Instance | None = None
        self._last_stream: int | None = None
        self._driver = open_driver()
        libraries = load_libraries(self.manifest.cudnn.minimum) if self.manifest.calls and self.manifest.cudnn is not None else None
        self._device = Device(self._driver, index)
        if libraries is not None:
            libraries.join()
        self._pool = Pool(self._device)
        self._libraries = Libraries(index)
        with self._device.current():
            self._event = self._driver.call("cuEventCreate", _EVENT_DISABLE_TIMING)
            try:
                self._instance = Instance(
                    artifact,
                    native,
                    self._device,
                    (options or PlanOptions()).for_model(self.manifest),
                    store=_store(artifact, self._device, plan_cache),
                    tune=tune,
                    strict=strict,
                    progress=progress,
                )
            except BaseException:
                self.close()
                raise

    @property
    def device(self) -> str:
        """As `cuda:0 (NVIDIA H200)`."""
        return f"cuda:{self._device.index} ({self._device.name})"

    @property
    def plans(self) -> tuple[PlanReport, ...]:
        """Which engine runs each graph, and why not another; in the order of the manifest's graphs."""
        plans = self._loaded.plans
        return tuple(plans[index].report for index in sorted(plans))

    @property
    def form(self) -> str:
        """How the calls are ordered in the CUDA graph, as `calls one after another`."""
        return str(self._loaded.form)

    def plan_members(self) -> dict[str, bytes]:
        """The plans that this program runs on, as members of an artifact by name: where it is loaded on such a GPU, they are there."""
        with self._lock, self._device.current():
            return self._loaded.plan_members()

    def profile(self, progress: Progress | None = None) -> Profile:
        """Measures what each call of the program takes, alone as tuning does it and in place, and one replay of the whole. Takes
        some tens of milliseconds a call. The static inputs hold random numbers afterwards, and so do weights that were never loaded. Raises
        CudaError, also when the device has no memory for a graph's tensors twice."""
        with self._lock, self._device.current():
            self.synchronize()
            return self._loaded.profile(progress, random_weights=not self._has_weights)

    @property
    def static_inputs(self) -> tuple[DeviceArray, ...]:
        """The buffers that `replay` reads, one an input."""
        return self._arrays(self.inputs, self._loaded.inputs)

    @property
    def static_outputs(self) -> tuple[DeviceArray, ...]:
        """The buffers that `replay` writes, one an output. The next run overwrites them."""
        return self._arrays(self.outputs, self._loaded.outputs)

    def __call__(self, *arrays: Any, stream: int | None = None) -> Any:
        """Runs the model. `stream` is a CUstream's handle; results are ready there, and so, in that order, for whoever uses it next."""
        self._check_ready()
        library = library_of(arrays[0]) if arrays else "convoy_runtime"
        own = self._libraries.stream_of(library)
        target = own if stream is None else stream
        with self._lock, self._device.current():
            given = self._inputs(arrays, target, own)
            results = [self._result(library, spec, target, own) for spec in self.outputs]
            self._enqueue([pointer for pointer, _ in given], [pointer for _, pointer in results], target)
        if len(results) == 1:
            return hand_over(library, results[0][0])
        return tuple(hand_over(library, array) for array, _ in results)

    def run_into(self, outputs: Sequence[Any], inputs: Sequence[Any], *, stream: int | None = None) -> None:
        """Runs the model on `inputs` and writes into the arrays `outputs`, which must be packed row-major, on `stream`."""
        self._check_ready()
        arrays = [*inputs, *outputs]
        own = self._libraries.stream_of(library_of(arrays[0]) if arrays else "")
        target = own if stream is None else stream
        with self._lock, self._device.current():
            given = self._inputs(inputs, target, own)
            targets = self._views(outputs, self.outputs, "output", (CUDA, self._device.index), self._libraries.producer_stream(target))
            for got, spec in zip(targets, self.outputs, strict=True):
                if not is_packed(got):
                    raise ArgumentError(
                        argument=f"output {spec.name!r}", problem="is not packed row-major", got=f"strides {list(got.strides)}"
                    )
            self._enqueue([pointer for pointer, _ in given], [got.pointer for got in targets], target)

    def replay(self, stream: int = 0) -> None:
        """Runs the model on `static_inputs` into `static_outputs`, on the stream with this handle. Nothing is checked or copied."""
        self._check_ready()
        with self._lock, self._device.current():
            self._enqueue([], [], stream)

    def run_numpy(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        self._check_ready()
        views = self._views(arrays, self.inputs, "input", (CPU, 0))
        hosts = [aligned_copy(got) for got in views]
        results = [aligned_empty(spec.shape, spec.dtype) for spec in self.outputs]
        call, stream = self._driver.call, self._loaded.stream
        with self._lock, self._device.current():
            self._follow(stream, False)
            for host, pointer in zip(hosts, self._loaded.inputs, strict=True):
                if host.nbytes:
                    call("cuMemcpyHtoDAsync", pointer, host.ctypes.data, host.nbytes, stream)
            self._launch(stream, False)
            for result, pointer in zip(results, self._loaded.outputs, strict=True):
                if result.nbytes:
                    call("cuMemcpyDtoHAsync", result.ctypes.data, pointer, result.nbytes, stream)
            self._leave(stream, False)
            call("cuStreamSynchronize", stream)
        return tuple(results)

    @property
    def _loaded(self) -> Instance:
        self._check_open()
        assert self._instance is not None
        return self._instance

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError when it failed on the GPU."""
        self._check_open()
        with self._lock, self._device.current():
            if self._last_stream is not None:
                self._driver.call("cuEventSynchronize", self._event)

    def close(self) -> None:
        with self._lock, self._device.current():
            super().close()
            if self._last_stream is not None:
                self._quietly("cuEventSynchronize", self._event)
                self._last_stream = None
            if self._instance is not None:
                self._instance.close()
                # Arrays that were handed out keep their memory; the rest goes here.
                self._instance = None
            if self._event is not None:
                self._quietly("cuEventDestroy", self._event)
                self._event = None
            self._pool.close()

    def __del__(self) -> None:
        # Half-made objects have nothing to give back, and at exit the process does it.
        if "_device" in self.__dict__ and not self.closed and not sys.is_finalizing():
            self.close()

    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        with self._lock, self._device.current():
            # Runs that are under way still read the old ones.
            self.synchronize()
            self._loaded.install(prepared)

    # Running.

    def _inputs(self, arrays: Sequence[Any], stream: int, own: int) -> list[tuple[int, object]]:
        """Where each input lies, and what keeps it there. `own` is the stream that the library of the first one works on."""
        if stream == own and len(arrays) == len(self.inputs):
            pointers = [self._libraries.pointer(array, spec) for array, spec in zip(arrays, self.inputs, strict=True)]
            plain = [(pointer, array) for pointer, array in zip(pointers, arrays, strict=True) if pointer is not None]
            if len(plain) == len(arrays):
                return plain
        device = (CUDA, self._device.index)
        producer = self._libraries.producer_stream(stream)
        views = self._views(arrays, self.inputs, "input", device, producer)
        for index, (got, spec) in enumerate(zip(views, self.inputs, strict=True)):
            if is_packed(got):
                continue
            name, library = f"input {spec.name!r}", library_of(arrays[index])
            if (copy := self._libraries.packed(library, arrays[index])) is None:
                raise ArgumentError(
                    argument=name, problem="is not packed row-major, and its library is not known", got=f"strides {list(got.strides)}"
                )
            self._libraries.record_stream(library, copy, stream)
            views[index] = view(copy, name, stream=producer(copy))
            check(views[index], spec, name, device)
        return [(got.pointer, got) for got in views]

    def _enqueue(self, inputs: Sequence[int], outputs: Sequence[int], stream: int) -> None:
        """Copies from the addresses `inputs`, runs, copies to `outputs`; without them it only runs."""
        call, instance = self._driver.call, self._loaded
        capturing = self._capturing(stream)
        self._follow(stream, capturing)
        for pointer, (buffer, size) in zip(inputs, instance.input_buffers, strict=False):
            if size:
                call("cuMemcpyDtoDAsync", buffer, pointer, size, stream)
        self._launch(stream, capturing)
        for pointer, (buffer, size) in zip(outputs, instance.output_buffers, strict=False):
            if size:
                call("cuMemcpyDtoDAsync", pointer, buffer, size, stream)
        self._leave(stream, capturing)

    def _launch(self, stream: int, capturing: bool) -> None:
        call, instance = self._driver.call, self._loaded
        if self._poison:
            for pointer, size in (*instance.output_buffers, (instance.arena, self.manifest.arena_bytes)):
                if size:
                    call("cuMemsetD8Async", pointer, POISON, size, stream)
        if capturing:
            self._nest(stream)
        else:
            call("cuGraphLaunch", instance.captured.instance, stream)

    def _nest(self, stream: int) -> None:
        """Puts the captured graph as a child into the one that the caller captures on `stream`."""
        call, flags = self._driver.call, self._driver.module.CUstreamUpdateCaptureDependencies_flags
        _, _, graph, found, *_ = call("cuStreamGetCaptureInfo", stream)
        dependencies = list(found or ())
        node = call("cuGraphAddChildGraphNode", graph, dependencies, len(dependencies), self._loaded.captured.graph)
        call("cuStreamUpdateCaptureDependencies", stream, [node], None, 1, flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES)

    def _follow(self, stream: int, capturing: bool) -> None:
        """Makes `stream` wait for the last run when that was on another one: both use the static buffers. A capture cannot wait for
        what is outside it; who replays the captured graph orders it after other runs."""
        if self._last_stream is not None and self._last_stream != stream and not capturing:
            self._driver.call("cuStreamWaitEvent", stream, self._event, 0)

    def _capturing(self, stream: int) -> bool:
        return int(self._driver.call("cuStreamIsCapturing", stream)) != _CAPTURE_STATUS_NONE

    def _leave(self, stream: int, capturing: bool) -> None:
        # While a caller captures the stream into a graph of its own, our event would become part of that graph.
        if not capturing:
            self._driver.call("cuEventRecord", self._event, stream)
            self._last_stream = stream

    def _result(self, library: str, spec: TensorSpec, stream: int, own: int) -> tuple[Any, int]:
        """A fresh array of `library`, which works on the stream `own`, and where it lies."""
        if library == "torch" and library in sys.modules:
            tensor = self._libraries.empty(spec)
            if stream != own:
                self._libraries.record_stream(library, tensor, stream)
            return tensor, tensor.data_ptr()
        memory = self._pool.take(spec.bytes, stream)
        owner = Lease(self._pool, memory, stream)
        return DeviceArray(spec, memory.pointer, self._device.index, owner, self._ready), memory.pointer

    def _ready(self, stream: int | None) -> None:
        """Makes a consumer's stream (DLPack's numbering: None and 1 are the legacy default) wait for the last run."""
        if self._artifact is None or self._last_stream is None:
            return
        with self._lock, self._device.current():
            target = 0 if stream is None or stream == DLPACK_LEGACY_STREAM else stream
            self._follow(target, self._capturing(target))

    def _arrays(self, specs: Sequence[TensorSpec], pointers: Sequence[int]) -> tuple[DeviceArray, ...]:
        memory = self._loaded.memory
        pairs = zip(specs, pointers, strict=True)
        return tuple(DeviceArray(spec, pointer, self._device.index, memory, self._ready) for spec, pointer in pairs)

    def _quietly(self, name: str, argument: Any) -> None:
        """For clean-up: an error that an earlier call left on the device must not hide the first one."""
        with contextlib.suppress(CudaError):
            self._driver.call(name, argument)


def _store(artifact: Artifact, device: Device, place: str | os.PathLike[str] | bool) -> PlanStore | None:
    """The plans for this GPU, driver and cuDNN, in the artifact and in a folder; None when there are no graphs to plan."""
    manifest = artifact.manifest
    if not manifest.calls or manifest.cudnn is None:
        return None
    folder = None if place is False else PlanStore.default_folder() if place is True else Path(place)
    cudnn = open_cudnn(manifest.cudnn.minimum)
    return PlanStore(folder, Scope(device.name, cudnn.version, device.driver.call("cuDriverGetVersion")), artifact.members)
