# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An artifact on a device: its plans, its memory, and the program as one CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from convoy_runtime._native import NativeLibrary
from convoy_runtime._safetensors import HostTensor
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.driver.dependent_launch import has_dependent_launch
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.forms import SERIAL, Form, ProgramCapture
from convoy_runtime.cuda.plans.alternatives import Alternatives
from convoy_runtime.cuda.plans.kernels import Kernels
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.matmuls import Matmuls
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.cuda.tuning.form_choice import form_member
from convoy_runtime.cuda.tuning.scratch import fill_inputs, fill_weights
from convoy_runtime.cuda.tuning.selection import Context, select_plans
from convoy_runtime.errors import CudaError
from convoy_runtime.program import Progress
from convoy_runtime.timings import part

from .buffers import Buffers, ProgramMemory
from .generated_kernels import GeneratedKernels
from .kept_graphs import KeptGraphs
from .plan_choice import choose_with_fallback, close_with
from .resources import (
    build_pool,
    create_stream,
    open_cudnn_handle,
)
from .run_graph import CopyKernels, RunGraph, WindowCopies

if TYPE_CHECKING:
    from convoy_runtime.profile import Profile

__all__ = ["Instance"]


class Instance:
    """Owns the plans, memory, stream and CUDA graph of a program.

    The device must be the thread's current one in every call.

    Args:
        artifact: The artifact.
        native: Its native library.
        device: The GPU.
        options: The options of the load, with the model's restrictions.
        store: Plans of earlier loads; None if the program has no graphs.
        memory: The memory of the program.
        graphs: Keeps the CUDA graph.
        copies: The kernels that copy inputs and outputs.
        capture: Whether it is captured now, or on first use.

    Attributes:
        buffers: The memory that the CUDA graph reads and writes. Arrays may keep it alive after
            `close`.
        form: The form of the CUDA graph.
        plans: Index of a called graph to its plan.
        stream: The handle of the stream that the program is prepared on.

    Raises:
        ArtifactError: The artifact's code or kernels differ from its manifest.
        CudaError: The driver fails, e.g. because the device has too little memory.
        CudnnError: cuDNN rejects a graph.
        PlanError: A graph has no plan.
    """

    def __init__(
        self,
        artifact: Artifact,
        native: NativeLibrary,
        device: Device,
        options: LoadOptions,
        store: PlanStore | None,
        memory: ProgramMemory,
        graphs: KeptGraphs,
        copies: CopyKernels,
        *,
        capture: bool,
    ) -> None:
        manifest = self._manifest = artifact.manifest
        self._native, self._device, self._driver = native, device, device.driver
        self._store, self._options = store, options
        self._memory, self._graphs, self._copies = memory, graphs, copies
        #: Identifies the graph. Not this object, which the graphs must not keep alive.
        self._key = object()
        with ExitStack() as stack:
            self.stream = create_stream(self._driver, stack)
            cudnn, handle = open_cudnn_handle(manifest, self.stream, stack)
            self._queue = Queue(
                self._driver,
                self.stream,
                cudnn,
                handle,
                dependent_launch=has_dependent_launch(device),
            )
            self._planner: Planner | None = None
            context: Context | None = None
            finalists: dict[int, list[Plan]] = {}
            generated = self._generated = GeneratedKernels(
                device, artifact, store, stores=options.tunes or options.plan_cache is not False
            )
            functions: Callable[[], list[Any]] = partial(generated.load, stack)
            if cudnn is not None:
                kernels = Kernels(device, artifact)
                stack.callback(kernels.close)
                alternatives = Alternatives(manifest, native, artifact.alternatives)
                stack.callback(alternatives.close)
                matmuls = Matmuls(cudnn, options.plan_options)
                stack.callback(matmuls.close)
                self._planner = Planner(
                    cudnn,
                    options,
                    handle=handle,
                    store=store,
                    kernels=kernels,
                    alternatives=alternatives,
                    matmuls=matmuls,
                )
                with ExitStack() as planning:
                    if options.tunes:
                        functions = planning.enter_context(generated.loading(stack, kernels))
                    pool = planning.enter_context(build_pool(artifact, device, cudnn, options.tune))
                    context = Context(
                        manifest, native, device, self._queue, self._planner, options, pool
                    )
                    finalists = select_plans(context)
                close_with(stack, finalists)
            self._kernels = functions()
            self.buffers = Buffers(memory, manifest)
            # The first run works on zeros, which are valid indices and, unlike NaN, not slow.
            self.buffers.clear(self.stream)
            self._program = ProgramCapture(
                manifest, native, device, self._queue, self._kernels, self.buffers.arguments
            )
            self.plans: dict[int, Plan] = {}
            self.form = SERIAL

            def prepare(plans: dict[int, Plan], form: Form) -> None:
                before = memory.workspace.size
                memory.reserve(self._program.workspace_bytes(plans, form))
                self.plans, self.form = plans, form
                try:
                    self._program.first_run(plans, form, memory.workspace)
                    if capture:
                        self.capture()
                except CudaError:
                    memory.resize(before)
                    raise

            if context is None:
                prepare(self.plans, self.form)
            else:
                if options.tunes:
                    self._fill(weights=True)
                choose_with_fallback(
                    context,
                    store,
                    self._program,
                    finalists,
                    self.buffers.arguments,
                    stack,
                    prepare,
                )
            # Before the plans that the graph was captured from are closed.
            stack.callback(graphs.drop, self._key)
            if self._planner is not None and self._planner.alternatives is not None:
                self._planner.alternatives.close_others(self.plans.values())
            if options.tunes:
                self.buffers.clear(self.stream)
                self._driver.call("cuStreamSynchronize", self.stream)
            self._resources = stack.pop_all()

    @part("upload")
    def install(self, prepared: Mapping[str, HostTensor]) -> None:
        """Copies these prepared weights to the device. No run may be active. Raises CudaError."""
        pointers = self.buffers.arguments.prepared
        for spec, pointer in zip(self._manifest.prepared, pointers, strict=True):
            if spec.name in prepared and (array := prepared[spec.name].array).nbytes:
                self._driver.call(
                    "cuMemcpyHtoDAsync", pointer, array.ctypes.data, array.nbytes, self.stream
                )
        # A synchronous copy may return before the last bytes are on the device.
        self._driver.call("cuStreamSynchronize", self.stream)

    def capture(self) -> RunGraph:
        """The CUDA graph, which is captured if it is not kept. Nothing runs. Raises CudaError."""
        return self._graphs.get(self._key, self._captured)

    @property
    def is_captured(self) -> bool:
        """Whether the CUDA graph is kept."""
        return self._key in self._graphs

    def plan_members(self) -> dict[str, bytes]:
        """Returns the plans, the form that was measured with them, and the machine code of the
        generated kernels, as members of an artifact: name to content."""
        if self._planner is None or self._store is None:
            return {}
        used = ((self._manifest.graphs[index], plan) for index, plan in self.plans.items())
        found = [
            self._planner.stored.member(graph, self._native.builder(graph.symbol), plan)
            for graph, plan in used
        ]
        members = dict(member for member in found if member is not None)
        options = repr(self._options.plan_options)
        form = form_member(self._manifest, self._store, options, self.plans)
        return {**members, **form, **self._generated.members()}

    def profile(self, progress: Progress | None, *, random_weights: bool) -> Profile:
        """Measures each call and the whole program on random inputs. No run may be active.

        Args:
            progress: Called before each step.
            random_weights: Whether the weights are also filled with random numbers.

        Returns:
            The times of the calls and of a replay.

        Raises:
            CudaError: The device has too little memory.
        """
        # Imported here, because a load does not need it.
        from .in_place import InPlace
        from .profiler import Profiler

        queue, manifest = self._queue, self._manifest
        self._fill(weights=random_weights)
        parts = manifest, self._device, queue, self._kernels, self.plans
        arguments = self.buffers.arguments
        memory = arguments.inputs, arguments.prepared, arguments.outputs, arguments.arena
        in_place = InPlace(*parts, lambda table: table.run(self._native, *memory))
        order = self._program.order(self.plans, self.form)
        return Profiler(*parts).profile(
            self._program.calls, order, in_place, self.capture(), str(self.form), progress
        )

    def close(self) -> None:
        """Releases everything except the buffers. The last run must have finished. Further calls
        have no effect."""
        self._resources.close()
        self.plans = {}

    def _captured(self) -> RunGraph:
        inputs, outputs = (
            WindowCopies(self._copies, self._native, [size for _, size in each])
            for each in (self.buffers.inputs, self.buffers.outputs)
        )
        capture = partial(self._program.capture, self.plans, self.form, self._memory.workspace)
        return RunGraph(capture, self._queue, inputs, outputs)

    def _fill(self, *, weights: bool) -> None:
        """Fills the inputs, and with `weights` the prepared weights, with random numbers."""
        fill_inputs(self._manifest, self._queue, self.buffers.arguments.inputs)
        if weights:
            fill_weights(self._manifest, self._queue, self.buffers.arguments.prepared)
