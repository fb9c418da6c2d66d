# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rewrites the dependencies of a CUDA graph while a program is captured into it.

A stream orders its calls one after another. The rewriter records which nodes belong to which call,
gives each call only the dependencies that it needs, and can replace memset nodes at the start of
calls by one memset at the start of the graph.

Example: engine 41 of cuDNN clears counters in its workspace before its kernel. The memset node
waits for the previous call, although it does not access the call's memory, and the kernel waits for
the memset: two gaps instead of one. If no other call uses the workspace, it can be cleared before
the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.plans.plan import Queue

from .calls import Hook
from .capture import Captured, capture, captured_graph
from .streams import Order, Range, serial_order

__all__ = [
    "CLEARED_BYTES",
    "CaptureDependencyRewriter",
    "Enqueue",
    "capture_in_order",
    "clearing_calls",
]

#: The most bytes that one memset clears. It takes less time than the nodes that it replaces.
CLEARED_BYTES: Final = 8 << 20

#: Enqueues calls one after another, and calls the hook, if any, before and after each.
Enqueue = Callable[[Hook | None], None]


class CaptureDependencyRewriter:
    """A hook (`calls.Hook`) that replaces the stream's dependencies of each captured call with
    those of `order`.

    Args:
        driver: The CUDA driver.
        stream: The stream that is captured.
        order: The calls that each call waits for.

    Attributes:
        nodes: The nodes of each call, later ones first.
    """

    def __init__(self, driver: Driver, stream: int, order: Order) -> None:
        self._driver, self._stream, self._order = driver, stream, order
        self.nodes: list[list[Any]] = []
        #: The nodes that the first calls wait for.
        self._start: list[Any] = []
        #: The nodes that each call waits for.
        self._entry: list[set[int]] = []
        #: The nodes that each step of a call waits for.
        self._steps: list[set[int]] = []
        #: The last nodes of each call.
        self._exit: list[list[Any]] = []

    def start(self) -> None:
        """Makes every call wait for the work captured so far. Must be called after the capture
        begins and before the first call."""
        self._start = self._leaves()

    def before(self, index: int) -> None:
        """Sets the dependencies of call `index`."""
        before = self._order.after[index]
        # A call without nodes is represented by the nodes that it waits for.
        waits = [node for call in before for node in self._exit[call]] if before else self._start
        wanted = {int(node): node for node in waits}
        current = self._exit[-1] if self._exit else self._start
        # Dependencies equal to those of the stream are not changed: their edges may allow a kernel
        # to start before the previous one has ended.
        if wanted.keys() != {int(node) for node in current}:
            flags = self._driver.module.CUstreamUpdateCaptureDependencies_flags
            arguments = (
                list(wanted.values()),
                None,
                len(wanted),
                flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES,
            )
            self._driver.call("cuStreamUpdateCaptureDependencies", self._stream, *arguments)
        self._entry.append(set(wanted))
        self._steps.append(set(wanted))

    def between(self) -> None:
        """Records where the next step of a call begins."""
        self._steps[-1].update(map(int, self._leaves()))

    def after(self, index: int) -> None:
        """Records the nodes of call `index`."""
        self._exit.append(self._leaves())
        self.nodes.append(self._between(self._exit[-1], self._entry[index]))

    def clears(self, index: int, span: Range) -> list[Any]:
        """Returns the memset nodes of call `index` that write zeros into `span` before any other
        node of their step runs."""
        kinds = self._driver.module.CUgraphNodeType
        found: dict[int, Any] = {}
        # From the first node on: a memset counts if only such memsets of its step precede it.
        for node in reversed(self.nodes[index]):
            if self._driver.call("cuGraphNodeGetType", node) != kinds.CU_GRAPH_NODE_TYPE_MEMSET:
                continue
            memset = self._driver.call("cuGraphMemsetNodeGetParams", node)
            begin, end = int(memset.dst), int(memset.dst) + memset.width * memset.elementSize
            inside = (
                memset.height <= 1 and memset.value == 0 and span[0] <= begin and end <= span[1]
            )
            if inside and all(
                int(other) in self._steps[index] or int(other) in found
                for other in self._dependencies(node)
            ):
                found[int(node)] = node
        return list(found.values())

    def remove(self, graph: Any, nodes: Iterable[Any]) -> None:
        """Removes nodes from the captured graph. Their dependents wait for their dependencies."""
        call = self._driver.call
        for node in nodes:
            before = self._dependencies(node)
            for follower in self._neighbours("cuGraphNodeGetDependentNodes", node):
                known = {int(other) for other in self._dependencies(follower)}
                new = [other for other in before if int(other) not in known]
                if new:
                    call(
                        "cuGraphAddDependencies", graph, new, [follower] * len(new), None, len(new)
                    )
            call("cuGraphDestroyNode", node)

    def _leaves(self) -> list[Any]:
        """Returns the nodes that the next node of the stream would wait for."""
        return list(self._driver.call("cuStreamGetCaptureInfo", self._stream)[3] or ())

    def _between(self, leaves: Sequence[Any], entry: set[int]) -> list[Any]:
        """Returns the nodes from `leaves` back to `entry`, later ones first."""
        found: dict[int, Any] = {}

        def visit(node: Any) -> None:
            if int(node) in entry or int(node) in found:
                return
            for other in self._dependencies(node):
                visit(other)
            found[int(node)] = node

        for leaf in leaves:
            visit(leaf)
        return list(reversed(found.values()))

    def _dependencies(self, node: Any) -> list[Any]:
        return self._neighbours("cuGraphNodeGetDependencies", node)

    def _neighbours(self, name: str, node: Any) -> list[Any]:
        # Querying the number first fails for edges with data.
        room = 16
        while True:
            nodes, _, count = self._driver.call(name, node, room)
            if count < room:
                return list(nodes[:count])
            room *= 16


def clearing_calls(
    driver: Driver, stream: int, spans: Sequence[Range], enqueue: Enqueue
) -> list[int]:
    """Finds the calls that begin by clearing a part of their workspace. Nothing runs, but each plan
    must have run before.

    Args:
        driver: The CUDA driver.
        stream: The stream that the calls are captured on.
        spans: The workspace of each call.
        enqueue: Enqueues the calls.

    Returns:
        The indices of the calls.
    """
    rewriter = CaptureDependencyRewriter(driver, stream, serial_order(len(spans)))

    def run() -> None:
        rewriter.start()
        enqueue(rewriter)

    with captured_graph(driver, stream, run):
        return [index for index, span in enumerate(spans) if rewriter.clears(index, span)]


def capture_in_order(
    queue: Queue,
    order: Order,
    spans: Sequence[Range],
    enqueue: Enqueue,
    *,
    own: Sequence[int],
    cleared: Range,
    memory: Allocation,
    first: Callable[[], None] | None = None,
) -> Captured:
    """Captures calls as a CUDA graph.

    Args:
        queue: The stream that the calls are captured on.
        order: The calls that each call waits for.
        spans: The workspace of each call.
        enqueue: Enqueues the calls.
        own: The calls with a workspace that no other call uses. Their memset nodes are removed.
        cleared: The memory with the workspaces of `own`, which is cleared before the first call.
        memory: Kept as long as the graph.
        first: Enqueues what all calls wait for.

    Returns:
        The captured graph.

    Raises:
        CudaError: The driver fails. Errors of `enqueue` and `first` are passed on.
    """
    driver, stream = queue.driver, queue.stream
    begin = first if first is not None else lambda: None
    if order.serial and not own:

        def run_in_order() -> None:
            begin()
            enqueue(None)

        return capture(driver, stream, run_in_order, memory=memory)
    rewriter = CaptureDependencyRewriter(driver, stream, order)

    def run() -> None:
        begin()
        if own:
            driver.call("cuMemsetD8Async", cleared[0], 0, cleared[1] - cleared[0], stream)
        rewriter.start()
        enqueue(rewriter)

    def edit(graph: Any) -> None:
        for index in own:
            rewriter.remove(graph, rewriter.clears(index, spans[index]))

    return capture(driver, stream, run, edit=edit, memory=memory)
