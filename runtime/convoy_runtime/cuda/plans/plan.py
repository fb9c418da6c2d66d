# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Execution plans, and the queue that they run on."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache

from convoy_runtime.cuda.cudnn.enums import Attribute, Descriptor, Type
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.value_types import value_type

__all__ = ["CudnnPlan", "Plan", "Queue", "json_text"]


@value_type(frozen=True, slots=True)
class Queue:
    """A stream, and the handles to enqueue work on it.

    Attributes:
        driver: The CUDA driver.
        stream: The handle of the stream.
        cudnn: The library; None if the program has no graphs.
        handle: A cuDNN handle that works on the stream.
        between: Called by a plan between its steps.
        dependent_launch: Whether the artifact's kernels wait for the previous kernel themselves
            (`cuda.driver.dependent_launch`).
    """

    driver: Driver
    stream: int
    cudnn: Cudnn | None = None
    handle: int | None = None
    between: Callable[[], None] | None = None
    dependent_launch: bool = False


@value_type(frozen=True, slots=True)
class Plan(ABC):
    """Runs a graph. A plan must outlive every CUDA graph that is captured from it."""

    report: PlanReport

    @abstractmethod
    def enqueue(
        self,
        queue: Queue,
        graph: Graph,
        pointers: Sequence[int],
        workspace: int,
        *,
        call: int | None = None,
        location: str | None = None,
    ) -> None:
        """Enqueues one run.

        Args:
            queue: The stream and the cuDNN handle.
            graph: The graph.
            pointers: The pointer of each of its tensors, in the order of the manifest.
            workspace: The pointer of the workspace.
            call: The number of the call in the manifest, for messages.
            location: The source location of the call, for messages.

        Raises:
            CudnnError: cuDNN rejects the run.
            CudaError: The driver rejects the launch of a kernel.
        """

    @property
    @abstractmethod
    def code(self) -> object:
        """The object that is executed. Copies of this plan with another report share it."""

    @abstractmethod
    def text(self) -> str:
        """Returns the text that restores the plan on an equal machine; an empty string if the plan
        cannot be written."""

    @abstractmethod
    def close(self) -> None:
        """Destroys the plan. Further calls have no effect."""


@value_type(frozen=True, slots=True)
class CudnnPlan(Plan):
    """A finalized execution plan of cuDNN. Its text is cuDNN's JSON."""

    descriptor: BackendDescriptor

    def enqueue(
        self,
        queue: Queue,
        graph: Graph,
        pointers: Sequence[int],
        workspace: int,
        *,
        call: int | None = None,
        location: str | None = None,
    ) -> None:
        cudnn = queue.cudnn
        assert cudnn is not None
        what = f"graph {graph.name}" if call is None else f"graph {graph.name}, call {call}"
        pack = _variant_pack(cudnn, graph, pointers, workspace)
        try:
            cudnn.call(
                "cudnnBackendExecute",
                queue.handle,
                self.descriptor.pointer,
                pack.pointer,
                what=what,
                location=location,
            )
        finally:
            pack.close()

    @property
    def code(self) -> object:
        return self.descriptor

    def text(self) -> str:
        return json_text(self.descriptor)

    def close(self) -> None:
        self.descriptor.close()


def json_text(plan: BackendDescriptor) -> str:
    """Returns cuDNN's JSON of a finalized plan; an empty string if cuDNN cannot write it, a
    limitation of some engines in its release notes."""
    try:
        return plan.get_text(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION)
    except CudnnError:
        return ""


@cache
def _numbers(graph: Graph) -> tuple[ctypes.Array[ctypes.c_char], ...]:
    """Returns host memory with the graph's constants. It is never freed, because cuDNN reads it in
    each run of a variant pack with its address."""
    return tuple(ctypes.create_string_buffer(bytes.fromhex(each.bytes)) for each in graph.constants)


def _variant_pack(
    cudnn: Cudnn, graph: Graph, pointers: Sequence[int], workspace: int
) -> BackendDescriptor:
    """Returns the arguments of one execution: the pointers of the graph's tensors, its constants
    and the workspace."""
    pack = cudnn.create(Descriptor.VARIANT_PACK)
    uids = [tensor.uid for tensor in graph.tensors] + [constant.uid for constant in graph.constants]
    pack.set(Attribute.VARIANT_PACK_UNIQUE_IDS, Type.INT64, uids)
    pack.set(
        Attribute.VARIANT_PACK_DATA_POINTERS,
        Type.VOID_PTR,
        [*pointers, *map(ctypes.addressof, _numbers(graph))],
    )
    pack.set(Attribute.VARIANT_PACK_WORKSPACE, Type.VOID_PTR, [workspace])
    pack.finalize()
    return pack
