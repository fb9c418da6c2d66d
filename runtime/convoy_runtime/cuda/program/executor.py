# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs artifacts of the `cuda` target. Each run launches the CUDA graph of an
`Instance`.

The captured graph works on static buffers. A call copies its inputs into them and its results out
of them, asynchronously on the caller's stream. `static_inputs`, `static_outputs` and `replay` avoid
the copies.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.arrays import CPU, CUDA, library_of
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.cudnn.loading import load_libraries
from convoy_runtime.cuda.driver.device import check_process, forked, open_driver
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.errors import CudaError
from convoy_runtime.host_arrays import aligned_empty, copy_packed, logical
from convoy_runtime.host_copies import copy
from convoy_runtime.interface import Interface, whole_interface
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.program import Program, Progress

from .call_count import CallCount
from .cuda_interface import CudaInterface, cuda_interface
from .instance import Instance
from .launcher import Launcher
from .libraries import DLPACK_LEGACY_STREAM, hand_over
from .native_runs import NativeRuns
from .resources import open_store
from .shared import Shared

if TYPE_CHECKING:
    from convoy_runtime.profile import Profile

__all__ = ["CudaProgram"]


class CudaProgram(Program):
    """A program on a GPU. Inputs are arrays on that GPU. An input with other strides than its spec
    is copied by its library.

    Work is enqueued on the `stream` argument of a call; by default on the current stream of torch
    or cupy if the first input is theirs, else on the legacy default stream. Calls from several
    threads or streams run one after another.

    Args:
        artifact: The artifact.
        native: Its native library.
        options: The options of the load.
        index: The index of the GPU.
        shared: What the programs for the points of one artifact share; None for an artifact with
            static sizes.

    Raises:
        ArtifactError: The artifact's code or kernels differ from its manifest.
        DeviceError: The GPU, its driver or cuDNN is missing or fails, or a graph has no plan.
    """

    def __init__(
        self,
        artifact: Artifact,
        native: NativeLibrary,
        options: LoadOptions,
        *,
        index: int,
        shared: Shared | None = None,
    ) -> None:
        super().__init__(artifact, native, poison=options.poison)
        self._instance: Instance | None = None
        self._launcher: Launcher | None = None
        self._driver = open_driver()
        libraries = (
            load_libraries(self.manifest.cudnn.minimum)
            if self.manifest.calls and self.manifest.cudnn is not None
            else None
        )
        self._shared = Shared(index, [self.manifest]) if shared is None else shared
        self._shared.join()
        self._has_joined = True
        self._lock, self._device = self._shared.lock, self._shared.device
        self._calls = CallCount(self._device)
        self._exchange = self._shared.exchange
        if libraries is not None:
            libraries.join()
        with self._device.current():
            try:
                self._instance = instance = Instance(
                    artifact,
                    native,
                    self._device,
                    options.for_model(self.manifest),
                    open_store(artifact, self._device, options),
                    self._shared.memory,
                    self._shared.graphs,
                    self._shared.copies,
                    capture=shared is None,
                )
                buffers = instance.buffers
                poisoned = [*buffers.outputs, buffers.arena] if options.poison else []
                self._native_runs = NativeRuns(self._driver, native)
                self._launcher = Launcher(
                    self._driver, self._native_runs, instance, poisoned, self._shared.turns
                )
                self._interface = self.bound(whole_interface(self.inputs, self.outputs))
            except BaseException:
                self.close()
                raise

    @property
    def device(self) -> str:
        """Index and name of the GPU, e.g. `cuda:0 (NVIDIA H200)`."""
        return f"cuda:{self._device.index} ({self._device.name})"

    @property
    def device_bytes(self) -> int:
        """The device memory of inputs, outputs, intermediate tensors, workspaces and weights in
        bytes, which programs of other points share. Code, and the driver's memory of the CUDA
        graph, are not included."""
        return self._loaded.buffers.program_memory.size

    @property
    def plans(self) -> tuple[PlanReport, ...]:
        """The report of each graph's plan, in the order of the manifest's graphs."""
        plans = self._loaded.plans
        return tuple(plans[index].report for index in sorted(plans))

    @property
    def form(self) -> str:
        """The form of the CUDA graph, e.g. `calls one after another`."""
        return str(self._loaded.form)

    @property
    def is_usable(self) -> bool:
        try:
            with self._lock, self._calls:
                self._driver.call("cuStreamSynchronize", self._loaded.stream)
        except CudaError:
            return False
        return True

    @property
    def is_captured(self) -> bool:
        """Whether the CUDA graph exists now."""
        return self._loaded.is_captured

    def capture(self) -> None:
        """Captures the CUDA graph. The first run of a point does so otherwise, which takes
        milliseconds.

        Raises:
            CudaError: The driver fails, e.g. because the device has too little memory.
            ConvoyRuntimeError: The program is closed.
        """
        self._check_open()
        with self._lock, self._calls:
            self._loaded.capture()

    def plan_members(self) -> dict[str, bytes]:
        """Returns the plans of this program as members of an artifact: name to content. A load of
        that artifact on an equal GPU uses them."""
        self._check_open()
        with self._lock, self._calls:
            return self._loaded.plan_members()

    def profile(self, progress: Progress | None = None) -> Profile:
        """Measures each call of the program, alone and in its place, and one replay of the program.

        This takes tens of milliseconds per call. It overwrites the static inputs with random
        numbers, and also the weights if none were loaded.

        Args:
            progress: Called before each step.

        Returns:
            The times of the calls and of a replay.

        Raises:
            CudaError: The driver fails, e.g. because there is no memory for a second copy of a
                graph's tensors.
        """
        self._check_open()
        with self._lock, self._calls:
            self._runs.synchronize()
            return self._loaded.profile(progress, random_weights=not self._has_weights)

    @property
    def static_inputs(self) -> tuple[DeviceArray, ...]:
        """The buffer of each input, which `replay` reads."""
        buffers = self._loaded.buffers
        return self._exchange.static_arrays(
            self.inputs, buffers.arguments.inputs, buffers.memory, self._ready
        )

    @property
    def static_outputs(self) -> tuple[DeviceArray, ...]:
        """The buffer of each output, which `replay` and every other run write."""
        buffers = self._loaded.buffers
        return self._exchange.static_arrays(
            self.outputs, buffers.arguments.outputs, buffers.memory, self._ready
        )

    def __call__(self, *args: Any, stream: int | None = None, **kwargs: Any) -> Any:
        """Runs the model, as `Program.__call__` says.

        Args:
            *args: The positional arguments of the module, or one array per input.
            stream: The handle of the CUstream to run on. Default: the current stream of the first
                input's library. Later work on the stream sees the results.
            **kwargs: The keyword arguments of the module.

        Returns:
            The results.

        Raises:
            ArgumentError: An argument does not match.
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        arrays = args if self._positional and not kwargs else self.arrays_of(args, kwargs)
        results = self._run_arrays(arrays, stream)
        return results[0] if self._single else self.nested(results)

    def _run_arrays(
        self,
        arrays: Sequence[Any],
        stream: int | None = None,
        interface: CudaInterface | None = None,
    ) -> tuple[Any, ...]:
        if self._source is None or not self._has_weights or forked():
            self._check_ready()
        call = interface or self._interface
        exchange = self._exchange
        library = library_of(arrays[0]) if arrays else "convoy_runtime"
        own = exchange.libraries.stream_of(library)
        target = own if stream is None else stream
        with self._lock, self._calls:
            pointers, _given = self._inputs(arrays, call, target, own)
            results = self._runs.run(
                pointers,
                lambda: exchange.results(library, call, target, own, self._ready),
                target,
                call.arrays,
            )
        return hand_over(library, results, call.outputs)

    def bound(self, interface: Interface) -> CudaInterface:
        return cuda_interface(self._native_runs, self._loaded.buffers, interface)

    def run_into(
        self,
        outputs: Sequence[Any],
        inputs: Sequence[Any],
        *,
        stream: int | None = None,
        interface: CudaInterface | None = None,
    ) -> None:
        """Runs the model and writes the results into given arrays.

        Args:
            outputs: The arrays to write, with the strides of `outputs`.
            inputs: The inputs.
            stream: As in `__call__`.
            interface: The sizes of a call with fewer rows than the program.

        Raises:
            ArgumentError: An array does not match its spec, or outputs overlap.
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        self._check_ready()
        call = interface or self._interface
        arrays = [*inputs, *outputs]
        own = self._exchange.libraries.stream_of(library_of(arrays[0]) if arrays else "")
        target = own if stream is None else stream
        with self._lock, self._calls:
            pointers, _given = self._inputs(inputs, call, target, own)
            targets = self._views(
                outputs,
                call.outputs,
                "output",
                (CUDA, self._device.index),
                self._exchange.libraries.producer_stream(target),
            )
            self._check_targets(targets, call.outputs)
            self._runs.run(
                pointers,
                lambda: (outputs, [got.pointer for got in targets]),
                target,
                call.arrays,
            )

    def replay(self, stream: int = 0) -> None:
        """Runs the model on `static_inputs` and writes `static_outputs`, without checks and copies.

        Args:
            stream: The handle of the CUstream to run on.

        Raises:
            WeightsError: The program has no weights.
            CudaError: The driver fails.
        """
        self._check_ready()
        with self._lock, self._calls:
            self._runs.replay(stream)

    def run_numpy(
        self, *arrays: np.ndarray, interface: CudaInterface | None = None
    ) -> tuple[np.ndarray, ...]:
        self._check_ready()
        call = interface or self._interface
        views = self._views(arrays, call.inputs, "input", (CPU, 0))
        stream = self._loaded.stream
        with self._lock, self._calls:
            results = self._shared.host_results.arrays(call.outputs)
            rest = call.outputs if results is None else ()
            hosts = self._shared.host_memory.arrays([*call.inputs, *rest])
            inputs, outputs = hosts[: len(views)], results or hosts[len(views) :]
            for host, got, spec in zip(inputs, views, call.inputs, strict=True):
                copy_packed(host, got, spec.order)
            self._runs.run(
                [host.ctypes.data for host in inputs],
                lambda: (outputs, [host.ctypes.data for host in outputs]),
                stream,
                call.arrays,
                host=True,
            )
            self._driver.call("cuStreamSynchronize", stream)
            if results is None:
                results = [aligned_empty(spec.stored.shape, spec.dtype) for spec in call.outputs]
                for result, host in zip(results, outputs, strict=True):
                    copy(result, host)
        return tuple(logical(*each) for each in zip(results, call.outputs, strict=True))

    @property
    def _loaded(self) -> Instance:
        if (instance := self._instance) is None or self._source is None:
            raise self._closed()
        return instance

    @property
    def _runs(self) -> Launcher:
        if (launcher := self._launcher) is None or self._source is None:
            raise self._closed()
        return launcher

    def _check_open(self) -> None:
        super()._check_open()
        # Checked before the lock is taken: after a fork, a thread of the parent may hold it.
        check_process()

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError if it failed on the GPU."""
        self._check_open()
        with self._lock, self._calls:
            self._runs.synchronize()

    def close(self) -> None:
        if forked():
            super().close()
            self._launcher = self._instance = None
            return
        with self._lock, self._device.current():
            super().close()
            if self._calls.count:
                self._calls.on_idle = self._release
            else:
                self._release()

    def _release(self) -> None:
        launcher, self._launcher = self._launcher, None
        if launcher is not None:
            launcher.close()
        instance, self._instance = self._instance, None
        if instance is not None:
            # Arrays on the static buffers keep them alive.
            instance.close()
        if self._has_joined:
            self._has_joined = False
            self._shared.leave()

    def __del__(self) -> None:
        # After a failed __init__ there is nothing to free, and at exit the process frees it.
        if "_shared" not in self.__dict__ or self.closed or sys.is_finalizing():
            return
        with nullcontext() if forked() else self._device.relaxed():
            self.close()

    def _install(self, prepared: Mapping[str, HostTensor]) -> None:
        self._check_open()
        with self._lock, self._calls:
            # Running calls still read the old weights.
            self._runs.synchronize()
            self._loaded.install(prepared)

    def _inputs(
        self, arrays: Sequence[Any], call: CudaInterface, stream: int, own: int
    ) -> tuple[list[int], Sequence[object]]:
        """Returns the pointer of each input, and the objects that keep their memory alive. `own` is
        the current stream of the first input's library."""
        libraries, specs = self._exchange.libraries, call.inputs
        if stream == own:
            pointers = libraries.pointers(arrays, specs, call.known)
            if pointers is not None:
                return pointers, arrays
        producer = libraries.producer_stream(stream)
        views = self._views(arrays, specs, "input", (CUDA, self._device.index), producer)
        stored = self._exchange.stored_inputs(arrays, specs, views, stream)
        return [got.pointer for got in stored], stored

    def _ready(self, stream: int | None) -> None:
        """Makes a consumer's stream wait for the last run. In DLPack's numbering, None and 1 are
        the legacy default stream."""
        check_process()
        with self._lock, self._calls:
            if self._launcher is not None:
                self._launcher.follow(
                    0 if stream is None or stream == DLPACK_LEGACY_STREAM else stream
                )
