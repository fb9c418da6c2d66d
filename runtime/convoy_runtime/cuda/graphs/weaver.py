"""The nodes of a CUDA graph while a program is captured into it: which call they belong to, what
each call waits for, and the memset nodes that some plans begin with, which one memset at the start
of the graph can stand for.

cuDNN's engine 41 sets a few counters in its workspace to zero before its kernel. That node waits
for the call before, though it touches nothing of it, and the kernel waits for the node: two gaps
instead of one. Where the workspace is nobody else's, the memory may as well be cleared before the
first call.
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

__all__ = ["CLEARED_BYTES", "Enqueue", "Weaver", "capture_woven", "clearing_calls"]

#: One memset clears this much at most; clearing it takes less than the nodes that it stands for.
CLEARED_BYTES: Final = 8 << 20

#: Enqueues calls one after another, and tells the hook, where there is one, before and after each.
Enqueue = Callable[[Hook | None], None]


class Weaver:
    """A hook (`calls.Hook`) for a capture of a stream. It gives each call the dependencies of
    `order`, in place of the stream's own.

    `nodes[i]` are the nodes of call i. `start` has to be called when the capture has begun and what
    goes before all calls is in it.
    """

    def __init__(self, driver: Driver, stream: int, order: Order) -> None:
        self._driver, self._stream, self._order = driver, stream, order
        self.nodes: list[list[Any]] = []
        self._start: list[Any] = []
        self._entry: list[set[int]] = []
        self._steps: list[set[int]] = []
        self._exit: list[list[Any]] = []

    def start(self) -> None:
        """Takes what has been captured so far as what every call follows."""
        self._start = self._leaves()

    def before(self, index: int) -> None:
        """Sets what the nodes of call `index` wait for."""
        before = self._order.after[index]
        # What a call that enqueued nothing waited for stands for it.
        waits = [node for call in before for node in self._exit[call]] if before else self._start
        wanted = {int(node): node for node in waits}
        current = self._exit[-1] if self._exit else self._start
        # Where they are the stream's own they stay as they are: a kernel may be launched so that it
        # starts before the last one has ended.
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
        """Notes where the next step of a call begins."""
        self._steps[-1].update(map(int, self._leaves()))

    def after(self, index: int) -> None:
        """Notes the nodes of call `index`."""
        self._exit.append(self._leaves())
        self.nodes.append(self._between(self._exit[-1], self._entry[index]))

    def clears(self, index: int, span: Range) -> list[Any]:
        """The memset nodes of call `index` that write zeros into `span` before anything else of the
        step runs that they are in."""
        kinds = self._driver.module.CUgraphNodeType
        found: dict[int, Any] = {}
        # From the first nodes of the call and of each later step on, as long as only such nodes
        # come before.
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
        """Takes nodes out of the graph that was captured: what followed them follows what they
        followed."""
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
        """What the next node of the stream would wait for."""
        return list(self._driver.call("cuStreamGetCaptureInfo", self._stream)[3] or ())

    def _between(self, leaves: Sequence[Any], entry: set[int]) -> list[Any]:
        """The nodes from `leaves` back to `entry`, later ones first."""
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
        # Not asked for their number first: that fails where there are edges of other kinds than the
        # plain one.
        room = 16
        while True:
            nodes, _, count = self._driver.call(name, node, room)
            if count < room:
                return list(nodes[:count])
            room *= 16


def clearing_calls(
    driver: Driver, stream: int, spans: Sequence[Range], enqueue: Enqueue
) -> list[int]:
    """Those of the calls that `enqueue` makes that begin with clearing a part of their workspaces,
    which lie at `spans`. Nothing runs, but each plan must have run before."""
    weaver = Weaver(driver, stream, serial_order(len(spans)))

    def woven() -> None:
        weaver.start()
        enqueue(weaver)

    with captured_graph(driver, stream, woven):
        return [index for index, span in enumerate(spans) if weaver.clears(index, span)]


def capture_woven(
    queue: Queue,
    order: Order,
    spans: Sequence[Range],
    enqueue: Enqueue,
    *,
    own: Sequence[int],
    cleared: Range,
    memory: Allocation,
) -> Captured:
    """The calls that `enqueue` makes as a CUDA graph, in `order`. The calls in `own` clear nothing
    any more: their `spans`, which nobody else uses, lie in `cleared`, which is cleared before the
    first call. `memory` is kept with the graph."""
    driver, stream = queue.driver, queue.stream
    if order.serial and not own:
        return capture(driver, stream, lambda: enqueue(None), memory=memory)
    weaver = Weaver(driver, stream, order)

    def woven() -> None:
        if own:
            driver.call("cuMemsetD8Async", cleared[0], 0, cleared[1] - cleared[0], stream)
        weaver.start()
        enqueue(weaver)

    def edit(graph: Any) -> None:
        for index in own:
            weaver.remove(graph, weaver.clears(index, spans[index]))

    return capture(driver, stream, woven, edit=edit, memory=memory)
