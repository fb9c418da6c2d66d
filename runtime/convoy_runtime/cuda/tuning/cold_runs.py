# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Captures runs of a plan on more memory than the L2 cache holds, to measure it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.graphs.calls import Hook
from convoy_runtime.cuda.graphs.capture import Captured, capture
from convoy_runtime.cuda.graphs.dependencies import (
    CLEARED_BYTES,
    Enqueue,
    capture_in_order,
    clearing_calls,
)
from convoy_runtime.cuda.graphs.streams import Range, serial_order, workspaces_of
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.manifest import Graph

from .scratch import Scratch

__all__ = ["capture_cold_runs"]

#: The fewest runs that share the time of the one memset that clears their workspaces.
_MIN_CLEARED_RUNS = 8


def capture_cold_runs(
    device: Device, queue: Queue, graph: Graph, plan: Plan, scratch: Scratch
) -> tuple[Captured, int]:
    """Captures runs of a plan, one after another, on the sets of `scratch`.

    If the plan begins by clearing a part of its workspace, each run has a separate workspace. All
    are cleared before the first run, as in a program (`forms.Form.clear_once`).

    Args:
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle.
        graph: The graph of the plan.
        plan: A plan that has run before.
        scratch: The buffers.

    Returns:
        The captured runs and their number.

    Raises:
        CudaError: The driver fails, e.g. because there is no memory for the workspaces.
        CudnnError: cuDNN rejects a run.
    """
    size = plan.report.workspace_bytes
    shared = [(scratch.workspace, scratch.workspace + size)] * len(scratch.sets)

    def over(sets: Sequence[list[int]], spans: Sequence[Range]) -> Enqueue:
        def enqueue(hook: Hook | None) -> None:
            own = queue if hook is None else replace(queue, between=hook.between)
            for index, (pointers, (workspace, _)) in enumerate(zip(sets, spans, strict=True)):
                if hook is not None:
                    hook.before(index)
                plan.enqueue(own, graph, pointers, workspace)
                if hook is not None:
                    hook.after(index)

        return enqueue

    sets = scratch.sets * -(-_MIN_CLEARED_RUNS // len(scratch.sets))
    order = serial_order(len(sets))
    layout = workspaces_of([size] * len(sets), order, range(len(sets)))
    fits = 0 < layout.size <= CLEARED_BYTES
    # All runs begin with the same nodes, so one is examined.
    if not fits or not clearing_calls(
        queue.driver, queue.stream, shared[:1], over(scratch.sets[:1], shared[:1])
    ):
        return capture(queue.driver, queue.stream, lambda: over(scratch.sets, shared)(None)), len(
            scratch.sets
        )
    memory = Allocation(device, layout.size)
    spans, cleared = layout.at(memory.pointer), (memory.pointer, memory.pointer + layout.size)
    return capture_in_order(
        queue, order, spans, over(sets, spans), own=layout.own, cleared=cleared, memory=memory
    ), len(sets)
