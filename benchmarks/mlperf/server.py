# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The system under test of Server: batches of the queries that wait.

A batch starts when the largest one is full. A smaller one starts when the device is about to
finish its work and the oldest query has waited for the deadline. So batches grow with the load, and
the device has work as long as queries wait. LoadGen's thread appends queries, one thread starts
batches, and one waits for them and completes their queries.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from queue import SimpleQueue

from benchmarks.mlperf.engine import SLOTS, Engine
from benchmarks.mlperf.sut import SystemUnderTest

__all__ = ["Server"]

#: The seconds before the end of the device's work at which the next batch starts: what the host
#: needs to wake up and to enqueue it.
_LEAD = 200e-6


class Server(SystemUnderTest):
    """Queries of one sample that arrive at random times.

    Args:
        engine: Runs the batches.
        seconds: Size of a compiled batch to the time of its run, which tells when the device will
            have finished.
        deadline: The seconds that the oldest query waits for others while the device has no work.
    """

    def __init__(self, engine: Engine, seconds: Mapping[int, float], deadline: float) -> None:
        super().__init__(engine)
        self._seconds, self._deadline = seconds, deadline
        #: Guards the fields below.
        self._changed = threading.Condition(threading.Lock())
        self._ids, self._indices = deque[int](), deque[int]()
        self._arrivals = deque[float]()
        self._closing = False
        #: The seconds of each batch that is started and not finished, and the end of their work.
        self._in_flight, self._busy_until = deque[float](), 0.0
        self._free, self._started = SimpleQueue[int](), SimpleQueue[tuple[int, list[int]] | None]()
        for slot in range(SLOTS):
            self._free.put(slot)
        self._threads += [
            threading.Thread(target=each, name=f"server-{each.__name__}", daemon=True)
            for each in (self._start_batches, self._finish_batches)
        ]
        for thread in self._threads:
            thread.start()

    def _issue(self, ids: list[int], indices: list[int]) -> None:
        now, most = time.perf_counter(), self._engine.most
        with self._changed:
            before = len(self._ids)
            self._ids.extend(ids)
            self._indices.extend(indices)
            self._arrivals.extend([now] * len(ids))
            # Between these two, the time decides when the batch starts, and the thread sleeps.
            if not before or before < most <= len(self._ids):
                self._changed.notify()

    def issue(self, ids: list[int], indices: list[int]) -> None:
        self._issue(ids, indices)  # after an error, the threads complete what is queued

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        super().close()

    def _start_batches(self) -> None:
        while True:
            # First, so that a batch grows while all slots are in use.
            slot = self._free.get()
            taken = self._take()
            if taken is None:
                self._started.put(None)
                return
            ids, indices = taken
            if self._error is None:
                try:
                    self._engine.start(slot, indices)
                except Exception as error:
                    self._error = error
            self._started.put((slot, ids))

    def _take(self) -> tuple[list[int], list[int]] | None:
        """Waits for the next batch; None if the system closes."""
        most = self._engine.most
        with self._changed:
            while (count := len(self._ids)) < most:
                if not count and self._closing:
                    return None
                now = time.perf_counter()
                left = None if not count else self._time_to_start() - now
                if self._closing or (left is not None and left <= 0):
                    break
                self._changed.wait(left)
            count = min(count, most)
            ids, indices = (
                [waiting.popleft() for _ in range(count)] for waiting in (self._ids, self._indices)
            )
            for _ in range(count):
                self._arrivals.popleft()
            self._in_flight.append(self._seconds[self._engine.size_for(count)])
            self._busy_until = max(time.perf_counter(), self._busy_until) + self._in_flight[-1]
            return ids, indices

    def _time_to_start(self) -> float:
        """When a batch that is not full starts."""
        return max(self._arrivals[0] + self._deadline, self._busy_until - _LEAD)

    def _finish_batches(self) -> None:
        while (batch := self._started.get()) is not None:
            slot, ids = batch
            if self._error is None:
                try:
                    self._engine.finish(slot)
                except Exception as error:
                    self._error = error
            self._free.put(slot)
            with self._changed:
                self._in_flight.popleft()
                # From the observed end of a batch, so that errors of the times do not add up.
                self._busy_until = time.perf_counter() + sum(self._in_flight)
                self._changed.notify()
            self._complete(ids)
