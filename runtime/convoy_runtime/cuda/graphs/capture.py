# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Captures the work that is enqueued on a stream as a CUDA graph, and times captured graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.errors import CudaError
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

__all__ = ["Captured", "Launchable", "Stopwatch", "capture", "captured_graph", "finished"]


@contextlib.contextmanager
def finished(driver: Driver, stream: int) -> Iterator[None]:
    """Waits for `stream` if an error or an interrupt leaves the `with`, so that the objects that
    the enqueued work uses can be closed."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(CudaError):
            driver.call("cuStreamSynchronize", stream)
        raise


class Launchable(Protocol):
    """A CUDA graph."""

    def launch(self, stream: int) -> None:
        """Enqueues one run. Raises CudaError."""


@value_type(frozen=True, slots=True)
class Captured:
    """A captured CUDA graph.

    Attributes:
        driver: The CUDA driver.
        graph: The CUgraph.
        instance: The CUgraphExec.
        handle: Its handle as an integer.
        memory: Memory that only the graph uses, freed with the last reference.
    """

    driver: Driver
    graph: Any
    instance: Any
    handle: int
    memory: Allocation | None = None

    def launch(self, stream: int) -> None:
        """Enqueues one run. Raises CudaError."""
        self.driver.call("cuGraphLaunch", self.instance, stream)

    def upload(self, stream: int) -> None:
        """Copies the graph to the device, which its first launch would do otherwise, and waits for
        it. Raises CudaError."""
        self.driver.call("cuGraphUpload", self.instance, stream)
        self.driver.call("cuStreamSynchronize", stream)

    def close(self) -> None:
        """Destroys the graph and its instance. No launch may be active. Errors of earlier work on
        the device are ignored."""
        for name, what in (("cuGraphExecDestroy", self.instance), ("cuGraphDestroy", self.graph)):
            with contextlib.suppress(CudaError):
                self.driver.call(name, what)


@part("capture")
def capture(
    driver: Driver,
    stream: int,
    enqueue: Callable[[], None],
    *,
    edit: Callable[[Any], None] | None = None,
    memory: Allocation | None = None,
) -> Captured:
    """Captures the work that `enqueue` puts on `stream`. Nothing runs.

    Args:
        driver: The CUDA driver.
        stream: The stream.
        enqueue: Enqueues the work.
        edit: Changes the CUgraph before it is instantiated.
        memory: Kept as long as the graph.

    Raises:
        CudaError: The work cannot be captured. Errors of `enqueue` and `edit` are passed on.
    """
    with captured_graph(driver, stream, enqueue) as owner:
        if edit is not None:
            edit(owner.graph)
        instance = driver.call("cuGraphInstantiate", owner.graph, 0)
        return Captured(driver, owner.release(), instance, int(instance), memory)


class _Owner:
    """A CUgraph that is destroyed unless it is released."""

    def __init__(self, graph: Any) -> None:
        self.graph, self.released = graph, False

    def release(self) -> Any:
        self.released = True
        return self.graph


@contextlib.contextmanager
def captured_graph(driver: Driver, stream: int, enqueue: Callable[[], None]) -> Iterator[_Owner]:
    """Yields the CUgraph of the work that `enqueue` puts on `stream`. It is destroyed at the end of
    the `with`, unless it is released."""
    call = driver.call
    call(
        "cuStreamBeginCapture",
        stream,
        driver.module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    )
    try:
        enqueue()
    except BaseException:
        with contextlib.suppress(CudaError):
            call("cuGraphDestroy", call("cuStreamEndCapture", stream))
        raise
    owner = _Owner(call("cuStreamEndCapture", stream))
    try:
        yield owner
    finally:
        if not owner.released:
            with contextlib.suppress(CudaError):
                call("cuGraphDestroy", owner.graph)


class Stopwatch:
    """Times captured graphs on a stream with two events, which `close` destroys."""

    def __init__(self, driver: Driver, stream: int) -> None:
        self._driver, self._stream = driver, stream
        self._events = driver.call("cuEventCreate", 0), driver.call("cuEventCreate", 0)

    def close(self) -> None:
        """Destroys the events."""
        for event in self._events:
            with contextlib.suppress(CudaError):
                self._driver.call("cuEventDestroy", event)

    def once(self, captured: Launchable, launches: int = 1) -> float:
        """Returns the mean microseconds of `launches` consecutive launches."""

        def enqueue() -> None:
            for _ in range(launches):
                captured.launch(self._stream)

        return self.time(enqueue) / launches

    def time(self, enqueue: Callable[[], None]) -> float:
        """Returns the microseconds of the work that `enqueue` puts on the stream."""
        call, (begin, end) = self._driver.call, self._events
        with finished(self._driver, self._stream):
            call("cuEventRecord", begin, self._stream)
            enqueue()
            call("cuEventRecord", end, self._stream)
            call("cuEventSynchronize", end)
        return float(call("cuEventElapsedTime", begin, end)) * 1000

    def rounds(
        self,
        captured: Sequence[Launchable],
        *,
        rounds: int,
        microseconds: float,
        known: Sequence[float | None] = (),
    ) -> list[list[float]]:
        """Times several graphs in turn, so that changes of the GPU's clock affect all of them.

        Args:
            captured: The graphs.
            rounds: The number of rounds.
            microseconds: The approximate time of each graph in a round.
            known: The microseconds of a launch of each graph, None if unknown. Those graphs are
                first launched twice.

        Returns:
            For each graph, the microseconds of a launch in each round.
        """
        counts = []
        for each, before in zip(captured, known or [None] * len(captured), strict=True):
            if before is None:
                self.once(each)
                before = self.once(each)
            counts.append(max(1, min(1000, int(microseconds / max(before, 0.1)))))
        times: list[list[float]] = [[] for _ in captured]
        for _ in range(rounds):
            for figures, each, count in zip(times, captured, counts, strict=True):
                figures.append(self.once(each, count))
        return times
