"""CUDA graphs: capturing what is enqueued on a stream, and timing what was captured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from convoy_runtime.errors import CudaError

from ._driver import Driver

__all__ = ["Captured", "Stopwatch", "capture"]


@dataclass(frozen=True, slots=True)
class Captured:
    """A CUDA graph and its instance. `close` destroys both; no launch may be under way."""

    driver: Driver
    graph: Any
    instance: Any

    def launch(self, stream: int) -> None:
        """Enqueues one run."""
        self.driver.call("cuGraphLaunch", self.instance, stream)

    def close(self) -> None:
        """Destroys the graph and its instance. Errors that earlier work left on the device are not raised here."""
        for name, what in (("cuGraphExecDestroy", self.instance), ("cuGraphDestroy", self.graph)):
            with contextlib.suppress(CudaError):
                self.driver.call(name, what)


def capture(driver: Driver, stream: int, enqueue: Callable[[], None]) -> Captured:
    """What `enqueue` puts on `stream`, as a CUDA graph; nothing runs. Raises what `enqueue` raises."""
    call = driver.call
    call("cuStreamBeginCapture", stream, driver.module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    try:
        enqueue()
    except BaseException:
        with contextlib.suppress(CudaError):
            call("cuGraphDestroy", call("cuStreamEndCapture", stream))
        raise
    graph = call("cuStreamEndCapture", stream)
    try:
        return Captured(driver, graph, call("cuGraphInstantiate", graph, 0))
    except CudaError:
        call("cuGraphDestroy", graph)
        raise


class Stopwatch:
    """Times captured graphs on a stream, with events that it owns."""

    def __init__(self, driver: Driver, stream: int) -> None:
        self._driver, self._stream = driver, stream
        self._events = driver.call("cuEventCreate", 0), driver.call("cuEventCreate", 0)

    def close(self) -> None:
        """Destroys the events."""
        for event in self._events:
            with contextlib.suppress(CudaError):
                self._driver.call("cuEventDestroy", event)

    def once(self, captured: Captured, launches: int = 1) -> float:
        """Microseconds of a launch, over `launches` in a row."""

        def enqueue() -> None:
            for _ in range(launches):
                captured.launch(self._stream)

        return self.time(enqueue) / launches

    def time(self, enqueue: Callable[[], None]) -> float:
        """Microseconds of what `enqueue` puts on the stream."""
        call, (begin, end) = self._driver.call, self._events
        call("cuEventRecord", begin, self._stream)
        enqueue()
        call("cuEventRecord", end, self._stream)
        call("cuEventSynchronize", end)
        return float(call("cuEventElapsedTime", begin, end)) * 1000

    def rounds(self, captured: Sequence[Captured], *, rounds: int, microseconds: float) -> list[list[float]]:
        """Microseconds of a launch of each graph, `rounds` figures a graph. A round times each in turn for about `microseconds`, so that
        what the clock does in the meantime hits all alike."""
        counts = []
        for each in captured:
            self.once(each)
            counts.append(max(1, min(1000, int(microseconds / max(self.once(each), 0.1)))))
        times: list[list[float]] = [[] for _ in captured]
        for _ in range(rounds):
            for figures, each, count in zip(times, captured, counts, strict=True):
                figures.append(self.once(each, count))
        return times
