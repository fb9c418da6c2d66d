"""An artifact laid out on a device: a plan for each graph, memory for everything, and the whole
program captured as one CUDA graph."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from convoy_runtime._native import MEMBER, NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.cudnn.library import Cudnn, open_cudnn
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import carve
from convoy_runtime.cuda.driver.ptx import load_ptx
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.cuda.graphs.forms import SERIAL, Arguments, ProgramCapture
from convoy_runtime.cuda.plans.alternatives import Alternatives
from convoy_runtime.cuda.plans.kernels import Kernels
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.cuda.tuning.form_choice import choose_form, form_member
from convoy_runtime.cuda.tuning.scratch import fill_inputs, fill_weights
from convoy_runtime.cuda.tuning.selection import Context, decide, give_way, select
from convoy_runtime.errors import ArtifactError, CudaError
from convoy_runtime.program import Progress
from convoy_runtime.timings import part

if TYPE_CHECKING:
    from convoy_runtime.cuda.plans.build_pool import BuildPool
    from convoy_runtime.profile import Profile

__all__ = ["Instance"]

PTX = "kernels.ptx"
# CUstream_flags.
_STREAM_NON_BLOCKING = 1


class Instance:
    """Owns plans, memory, stream and captured graph. `inputs`, `outputs` and `prepared` are the
    pointers of the manifest's tensors, in its order, `input_buffers` and `output_buffers` pointers
    and bytes; `captured`, of the form `form`, reads and writes them. `close` gives everything back
    but `memory`, which arrays may still hold.

    The device must be the thread's current one in every call.
    """

    def __init__(
        self,
        artifact: Artifact,
        native: NativeLibrary,
        device: Device,
        options: PlanOptions,
        *,
        store: PlanStore | None,
        tune: str,
        strict: bool,
        progress: Progress | None,
    ) -> None:
        self._manifest, self._native, self._device, self._driver = (
            artifact.manifest,
            native,
            device,
            device.driver,
        )
        self._resources = contextlib.ExitStack()
        self._store = store
        self._planner: Planner | None = None
        self.plans: dict[int, Plan] = {}
        self.form = SERIAL
        try:
            self._prepare(artifact, options, tune, strict, progress)
        except BaseException:
            self.close()
            raise

    @part("upload")
    def install(self, prepared: Mapping[str, HostTensor]) -> None:
        """Makes the prepared weights those of the next run. No run may be under way."""
        for spec, pointer in zip(self._manifest.prepared, self.prepared, strict=True):
            array = prepared[spec.name].array
            if array.nbytes:
                self._driver.call(
                    "cuMemcpyHtoDAsync", pointer, array.ctypes.data, array.nbytes, self.stream
                )
        # On our stream and waited for: the plain copy may return before the last bytes are there.
        self._driver.call("cuStreamSynchronize", self.stream)

    def plan_members(self) -> dict[str, bytes]:
        """The plans, and the form that was measured with them, as members of an artifact."""
        if self._planner is None or self._store is None:
            return {}
        used = ((self._manifest.graphs[index], plan) for index, plan in self.plans.items())
        found = [
            self._planner.member(graph, self._native.builder(graph.symbol), plan)
            for graph, plan in used
        ]
        members = dict(member for member in found if member is not None)
        return {
            **members,
            **form_member(self._manifest, self._store, repr(self._planner.options), self.plans),
        }

    def profile(self, progress: Progress | None, *, random_weights: bool) -> Profile:
        """What each call takes, and the whole, on random inputs. No run may be under way."""
        # Only here: a load needs none of it.
        from .in_place import InPlace
        from .profiler import Profiler

        queue, manifest = self._queue, self._manifest
        fill_inputs(manifest, queue, self.inputs)
        if random_weights:
            fill_weights(manifest, queue, self.prepared)
        parts = manifest, self._device, queue, self._kernels, self.plans
        memory = self._native, self.inputs, self.prepared, self.outputs, self.arena
        in_place = InPlace(*parts, lambda table: table.run(*memory))
        order = self._program.order(self.plans, self.form)
        return Profiler(*parts).profile(
            self._program.calls, order, in_place, self.captured, str(self.form), progress
        )

    def close(self) -> None:
        """Gives everything back; the last run has to be over. Calling it again does nothing."""
        self._resources.close()
        self.plans = {}

    def _prepare(
        self,
        artifact: Artifact,
        options: PlanOptions,
        tune: str,
        strict: bool,
        progress: Progress | None,
    ) -> None:
        manifest, call, keep = self._manifest, self._driver.call, self._resources
        self.stream = int(call("cuStreamCreate", _STREAM_NON_BLOCKING))
        keep.callback(self._quietly, "cuStreamDestroy", self.stream)
        cudnn, handle = self._open_cudnn()
        queue = self._queue = Queue(self._driver, self.stream, cudnn, handle)
        context: Context | None = None
        finalists: dict[int, list[Plan]] = {}
        if cudnn is not None:
            offered = Kernels(self._device, artifact)
            keep.callback(offered.close)
            alternatives = Alternatives(manifest, self._native, artifact.alternatives)
            keep.callback(alternatives.close)
            known: dict[str, Any] = {
                "store": self._store,
                "kernels": offered,
                "alternatives": alternatives,
            }
            self._planner = Planner(cudnn, options, handle=handle, strict=strict, **known)
            with self._pool(artifact, cudnn, tune) as pool:
                context = Context(
                    manifest, self._native, self._device, queue, self._planner, tune, progress, pool
                )
                finalists = select(context)
            self._own(finalists)
        self._kernels = self._load_kernels(artifact)

        specs = (*manifest.inputs, *manifest.outputs, *manifest.prepared)
        memory, pointers = carve(
            self._device, [*(spec.bytes for spec in specs), manifest.arena_bytes]
        )
        self.memory = memory
        ends = len(manifest.inputs), len(manifest.inputs) + len(manifest.outputs), len(specs)
        self.inputs, self.outputs = pointers[: ends[0]], pointers[ends[0] : ends[1]]
        self.prepared, self.arena = pointers[ends[1] : ends[2]], pointers[-1]
        self.input_buffers = [
            (pointer, spec.bytes)
            for pointer, spec in zip(self.inputs, manifest.inputs, strict=True)
        ]
        self.output_buffers = [
            (pointer, spec.bytes)
            for pointer, spec in zip(self.outputs, manifest.outputs, strict=True)
        ]
        arguments = Arguments(self.inputs, self.prepared, self.outputs, self.arena)
        # The first run is on whatever is there: zeros are valid indices, and no NaN slows anything
        # down.
        self._clear()
        program = self._program = ProgramCapture(
            manifest, self._native, self._device, queue, self._kernels, arguments
        )
        if context is not None and tune != "off":
            fill_inputs(manifest, queue, self.inputs)
            fill_weights(manifest, queue, self.prepared)
        self.captured = self._settle(context, program, finalists, arguments)
        keep.callback(self.captured.close)
        if self._planner is not None and self._planner.alternatives is not None:
            self._planner.alternatives.close_others(self.plans.values())
        if tune != "off":
            self._clear()
            call("cuStreamSynchronize", self.stream)

    @contextlib.contextmanager
    def _pool(self, artifact: Artifact, cudnn: Cudnn, tune: str) -> Iterator[BuildPool | None]:
        """The processes that build plans while others are measured, where anything is."""
        if tune == "off":
            yield None
            return
        # What only tuning needs is imported by it alone: a load without it is to be short.
        from convoy_runtime.cuda.plans.build_pool import BuildPool
        from convoy_runtime.cuda.tuning.levels import TUNE_LEVELS

        cores = max(1, int(TUNE_LEVELS[tune].pool * len(os.sched_getaffinity(0))))
        pool = BuildPool(
            bytes(artifact.members[MEMBER]), cudnn.path, device=self._device.index, processes=cores
        )
        try:
            yield pool
        finally:
            pool.close()

    def _clear(self) -> None:
        self._driver.call("cuMemsetD8Async", self.memory.pointer, 0, self.memory.size, self.stream)

    def _own(self, finalists: Mapping[int, list[Plan]]) -> None:
        """Plans are closed at the end, after what was captured from them."""
        for plans in finalists.values():
            for plan in plans:
                self._resources.callback(plan.close)

    def _settle(
        self,
        context: Context | None,
        program: ProgramCapture,
        finalists: dict[int, list[Plan]],
        arguments: Arguments,
    ) -> Captured:
        """Decides on plans and form. Plans whose workspaces the device has no memory for give way
        to others."""
        while True:
            try:
                if context is not None:
                    self.plans = decide(context, program, finalists)
                    self.form = choose_form(context, self._store, program, self.plans, arguments)
                captured = self._capture(program)
            except CudaError as error:
                if context is None:
                    raise
                finalists = give_way(context, finalists, error)
                self._own(finalists)
                continue
            for index, plans in finalists.items():
                if context is not None and len(plans) > 1:
                    graph = self._manifest.graphs[index]
                    context.planner.keep(
                        graph, self._native.builder(graph.symbol), self.plans[index]
                    )
            return captured

    def _capture(self, program: ProgramCapture) -> Captured:
        """The program in its form, or with its calls one after another, which takes the least
        memory."""
        try:
            return program.capture(self.plans, self.form)
        except CudaError as error:
            if self.form == SERIAL or not error.out_of_memory:
                raise
        self.form = SERIAL
        return program.capture(self.plans, SERIAL)

    @part("cuDNN handle")
    def _open_cudnn(self) -> tuple[Cudnn | None, int | None]:
        """cuDNN and a handle on our stream; neither when the program has no graphs."""
        if not self._manifest.calls or self._manifest.cudnn is None:
            return None, None
        cudnn = open_cudnn(self._manifest.cudnn.minimum)
        pointer = ctypes.c_void_p()
        cudnn.call("cudnnCreate", ctypes.byref(pointer))
        handle = pointer.value or 0
        self._resources.callback(cudnn.library.cudnnDestroy, handle)
        cudnn.call("cudnnSetStream", handle, self.stream)
        return cudnn, handle

    @part("kernels")
    def _load_kernels(self, artifact: Artifact) -> list[Any]:
        if not self._manifest.kernels:
            return []
        module = load_ptx(self._device, bytes(artifact.members[PTX]))
        self._resources.callback(self._quietly, "cuModuleUnload", module)
        functions = []
        for kernel in self._manifest.kernels:
            try:
                functions.append(
                    self._driver.call("cuModuleGetFunction", module, kernel.name.encode())
                )
            except CudaError as error:
                problem = f"kernel {kernel.name} of {kernel.location} is not there: {error}"
                raise ArtifactError(problem=problem, path=artifact.path, member=PTX) from error
        return functions

    def _quietly(self, name: str, argument: Any) -> None:
        """For clean-up: an error that an earlier call left on the device must not hide the first
        one."""
        with contextlib.suppress(CudaError):
            self._driver.call(name, argument)
