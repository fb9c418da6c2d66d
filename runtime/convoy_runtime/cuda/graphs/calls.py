# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The functions that `convoy_main` calls on the `cuda` target: run a graph, launch a kernel, copy.
`Trace` records the calls, `Calls` enqueues them.

An exception cannot pass through native code. It is stored, the function returns a status, which
`convoy_main` returns at once, and the exception is raised where `convoy_main` was called.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_void_p
from dataclasses import replace
from typing import Any, Literal, Protocol

from convoy_runtime._abi import ABI_VERSION, ConvoyRuntime, pointer_array
from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.plans.kernels import allow_shared, launch
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.errors import ArtifactError, ExecutionError
from convoy_runtime.manifest import Call, Graph, GraphTensor, KernelArgument, Manifest
from convoy_runtime.value_types import value_type

from .streams import Access

__all__ = ["Calls", "Hook", "Trace", "TracedCall"]

#: The status that a callback returns after it has stored an exception.
RAISED = -1


class _Table(ABC):
    """A ConvoyRuntime table that checks its calls against the manifest. Each run counts its calls
    from 0."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._raised: BaseException | None = None
        self._count = 0
        self._callbacks = (
            ConvoyRuntime.EXECUTE(self._guard(self._execute)),
            ConvoyRuntime.LAUNCH(self._guard(self._launch)),
            ConvoyRuntime.COPY(self._guard(self._copy)),
        )
        self._table = ConvoyRuntime(ABI_VERSION, 0, None, *self._callbacks)

    def run(
        self,
        native: NativeLibrary,
        inputs: list[int],
        prepared: list[int],
        outputs: list[int],
        arena: int,
    ) -> None:
        """Runs `convoy_main` on this table. Raises ExecutionError if it fails, or the exception of
        a callback."""
        self._raised, self._count = None, 0
        arguments = pointer_array(inputs), pointer_array(prepared), pointer_array(outputs)
        status = native.main(ctypes.byref(self._table), *arguments, arena)
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if status:
            raise ExecutionError(entry="convoy_main", status=status)

    @abstractmethod
    def graph(
        self, index: int, call: int, site: Call, graph: Graph, pointers: tuple[int, ...]
    ) -> None:
        """Handles call `index` of the run: graph call `call` of the manifest."""

    @abstractmethod
    def kernel(
        self,
        index: int,
        kernel: int,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: Any,
        count: int,
    ) -> None:
        """Handles call `index` of the run: a launch of kernel `kernel` of the manifest."""

    @abstractmethod
    def copy(self, index: int, destination: int, source: int, size: int) -> None:
        """Handles call `index` of the run: a copy of `size` bytes."""

    def _guard(self, function: Callable[..., None]) -> Callable[..., int]:
        def guarded(_context: int | None, *arguments: Any) -> int:
            try:
                function(self._count, *arguments)
                self._count += 1
            except BaseException as error:
                self._raised = error
                return RAISED
            return 0

        return guarded

    def _execute(self, index: int, call: int, pointers: Any, count: int) -> None:
        sites = self._manifest.calls
        if not 0 <= call < len(sites):
            msg = f"convoy_main runs call {call} of {len(sites)}"
            raise self._mismatch(msg)
        site = sites[call]
        graph = self._manifest.graphs[site.graph]
        if count != len(graph.tensors):
            msg = (
                f"call {call} passes {count} pointers to graph {graph.name}, which has "
                f"{len(graph.tensors)} tensors"
            )
            raise self._mismatch(msg)
        self.graph(index, call, site, graph, tuple(pointer or 0 for pointer in pointers[:count]))

    def _launch(
        self,
        index: int,
        kernel: int,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: Any,
        count: int,
    ) -> None:
        kernels = self._manifest.kernels
        if not 0 <= kernel < len(kernels):
            msg = f"convoy_main launches kernel {kernel} of {len(kernels)}"
            raise self._mismatch(msg)
        expected = len(kernels[kernel].arguments)
        if count != expected:
            msg = (
                f"convoy_main passes {count} pointers to kernel {kernels[kernel].name}, which "
                f"has {expected} arguments"
            )
            raise self._mismatch(msg)
        self.kernel(index, kernel, grid, block, shared_bytes, arguments, count)

    def _copy(self, index: int, destination: int | None, source: int | None, size: int) -> None:
        self.copy(index, destination or 0, source or 0, size)

    def _mismatch(self, problem: str) -> ArtifactError:
        return ArtifactError(problem=problem, member="native.so")


@value_type(frozen=True, slots=True)
class TracedCall:
    """A call of a run.

    Attributes:
        kind: "graph", "kernel" or "copy".
        index: The index of the graph call or kernel in the manifest, or the number of the copy.
        launch: Grid, block and bytes of shared memory of a kernel.
        bytes: Bytes read plus bytes written by a copy.
    """

    kind: Literal["graph", "kernel", "copy"]
    index: int
    launch: tuple[tuple[int, ...], tuple[int, ...], int] | None = None
    bytes: int = 0


class Trace(_Table):
    """Records the calls of a run and enqueues nothing.

    Attributes:
        calls: The calls.
        accesses: The memory that each call reads and writes.
        graphs: The index of each call's graph in the manifest; None for kernels and copies.
    """

    def __init__(self, manifest: Manifest) -> None:
        super().__init__(manifest)
        self.calls: list[TracedCall] = []
        self.accesses: list[Access] = []
        self.graphs: list[int | None] = []
        self._copies = 0

    def graph(
        self, index: int, call: int, site: Call, graph: Graph, pointers: tuple[int, ...]
    ) -> None:
        self._add(TracedCall("graph", call), site.graph, _access(pointers, graph.tensors))

    def kernel(
        self,
        index: int,
        kernel: int,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: Any,
        count: int,
    ) -> None:
        call = TracedCall("kernel", kernel, (tuple(grid[:3]), tuple(block[:3]), shared_bytes))
        self._add(
            call,
            None,
            _access(
                [pointer or 0 for pointer in arguments[:count]],
                self._manifest.kernels[kernel].arguments,
            ),
        )

    def copy(self, index: int, destination: int, source: int, size: int) -> None:
        call = TracedCall("copy", self._copies, bytes=2 * size)
        self._copies += 1
        self._add(
            call, None, Access(((source, source + size),), ((destination, destination + size),))
        )

    def _add(self, call: TracedCall, graph: int | None, access: Access) -> None:
        self.calls.append(call)
        self.graphs.append(graph)
        self.accesses.append(access)


def _access(pointers: Sequence[int], arguments: Sequence[GraphTensor | KernelArgument]) -> Access:
    spans = [
        (argument.role, (pointer, pointer + argument.bytes))
        for pointer, argument in zip(pointers, arguments, strict=True)
    ]
    return Access(
        tuple(span for role, span in spans if role != "output"),
        tuple(span for role, span in spans if role != "input"),
    )


class Hook(Protocol):
    """Callbacks before and after each call of a run, and between the steps of a call
    (`Queue.between`)."""

    def before(self, index: int) -> None: ...

    def between(self) -> None: ...

    def after(self, index: int) -> None: ...


class Calls(_Table):
    """Enqueues the calls of a run.

    Args:
        manifest: The program.
        queue: The stream and the cuDNN handle.
        plans: The plan of each graph by its index.
        kernels: The functions of the manifest's kernels.
        workspaces: The pointer of each call's workspace.
        hook: Called before and after each call.
    """

    def __init__(
        self,
        manifest: Manifest,
        queue: Queue,
        plans: Mapping[int, Plan],
        kernels: Sequence[Any],
        workspaces: Sequence[int],
        hook: Hook | None = None,
    ) -> None:
        super().__init__(manifest)
        self._queue = queue if hook is None else replace(queue, between=hook.between)
        self._plans, self._kernels, self._workspaces, self._hook = plans, kernels, workspaces, hook

    def graph(
        self, index: int, call: int, site: Call, graph: Graph, pointers: tuple[int, ...]
    ) -> None:
        plan, workspace = self._plans[site.graph], self._workspaces[index]
        plan.enqueue(self._queue, graph, pointers, workspace, call=call, location=site.location)

    def kernel(
        self,
        index: int,
        kernel: int,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: Any,
        count: int,
    ) -> None:
        function = self._kernels[kernel]
        allow_shared(self._queue.driver, function, shared_bytes)
        values = ctypes.cast(arguments, c_void_p).value or 0
        launch(self._queue, function, grid[:3], block[:3], shared_bytes, values, count)

    def copy(self, index: int, destination: int, source: int, size: int) -> None:
        if size:
            self._queue.driver.call(
                "cuMemcpyDtoDAsync", destination, source, size, self._queue.stream
            )

    def _guard(self, function: Callable[..., None]) -> Callable[..., int]:
        def hooked(index: int, *arguments: Any) -> None:
            if self._hook is None:
                function(index, *arguments)
                return
            self._hook.before(index)
            function(index, *arguments)
            self._hook.after(index)

        return super()._guard(hooked)
