"""Runs of one plan over more memory than the L2 cache holds, as a CUDA graph, for whoever measures
plans alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.graphs.calls import Hook
from convoy_runtime.cuda.graphs.capture import Captured, capture
from convoy_runtime.cuda.graphs.streams import Range, serial_order, workspaces_of
from convoy_runtime.cuda.graphs.weaver import CLEARED_BYTES, Enqueue, capture_woven, clearing_calls
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.manifest import Graph

from .scratch import Scratch

__all__ = ["capture_cold_runs"]

#: So many runs at least share the time of the one memset that clears their workspaces.
_CLEARED_RUNS = 8


def capture_cold_runs(
    device: Device, queue: Queue, graph: Graph, plan: Plan, scratch: Scratch
) -> tuple[Captured, int]:
    """Runs of a plan that has run before, one after another over the sets of `scratch`, and how
    many there are. A plan that begins with clearing a part of its workspace has one for each run,
    all cleared before the first, as in a program (`forms.Form.clear_once`)."""
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

    sets = scratch.sets * -(-_CLEARED_RUNS // len(scratch.sets))
    order = serial_order(len(sets))
    layout = workspaces_of([size] * len(sets), order, range(len(sets)))
    fits = 0 < layout.size <= CLEARED_BYTES
    # What one run begins with the others do.
    if not fits or not clearing_calls(
        queue.driver, queue.stream, shared[:1], over(scratch.sets[:1], shared[:1])
    ):
        return capture(queue.driver, queue.stream, lambda: over(scratch.sets, shared)(None)), len(
            scratch.sets
        )
    memory = Allocation(device, layout.size)
    spans, cleared = layout.at(memory.pointer), (memory.pointer, memory.pointer + layout.size)
    return capture_woven(
        queue, order, spans, over(sets, spans), own=layout.own, cleared=cleared, memory=memory
    ), len(sets)
