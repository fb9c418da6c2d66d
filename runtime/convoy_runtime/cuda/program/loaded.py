# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A program of the `cuda` target that is loaded on a GPU: its resources, from the load until the
last call after `close`, and what can be asked about it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.cudnn.loading import load_libraries
from convoy_runtime.cuda.driver.device import check_process, forked, open_driver
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.errors import CudaError
from convoy_runtime.interface import Interface, whole_interface
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.program import Program, Progress

from .call_count import CallCount
from .cuda_interface import CudaInterface, cuda_interface
from .instance import Instance
from .launcher import Launcher
from .native_runs import NativeRuns
from .resources import open_store
from .shared import Shared

if TYPE_CHECKING:
    from convoy_runtime.profile import Profile

__all__ = ["LoadedProgram"]


class LoadedProgram(Program):
    """A program on a GPU, without its calls: see `CudaProgram`.

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

    def bound(self, interface: Interface) -> CudaInterface:
        return cuda_interface(self._native_runs, self._loaded.buffers, interface)

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
