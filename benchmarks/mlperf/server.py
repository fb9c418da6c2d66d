# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The system under test of Server: batches of the queries that wait.

A batch starts when the largest one is full. A smaller one starts when the device is about to
finish its work and the oldest query has waited for the deadline. So batches grow with the load, and
the device has work as long as queries wait. LoadGen's thread appends queries, one thread starts
batches, and one waits for them and completes their queries. LoadGen's thread takes no lock: the
three threads share the interpreter, and at 40,000 queries per second each query has 25 us.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue

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
        #: Number, sample and time of arrival of the queries that wait.
        self._waiting = deque[tuple[int, int, float]]()
        self._closing = False
        #: Wakes the thread that starts batches. It sleeps until so many queries wait; 0: awake.
        self._wake, self._wanted = SimpleQueue[None](), 0
        #: Guards the fields below.
        self._lock = threading.Lock()
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

    def issue(self, ids: list[int], indices: list[int]) -> None:
        # After an error, the threads complete what is queued.
        now, waiting = time.perf_counter(), self._waiting
        for number, index in zip(ids, indices, strict=True):
            waiting.append((number, index, now))
        # Below the wanted number, the time decides when the batch starts.
        if 0 < self._wanted <= len(waiting):
            self._wanted = 0
            self._wake.put(None)

    def close(self) -> None:
        self._closing = True
        self._wake.put(None)
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
        most, waiting = self._engine.most, self._waiting
        while (count := len(waiting)) < most:
            # First, so that what changes from now on wakes this thread.
            self._wanted = most if count else 1
            if self._closing and not count:
                return None
            left = None if not count else self._time_to_start() - time.perf_counter()
            if self._closing or (left is not None and left <= 0):
                break
            if len(waiting) < self._wanted:
                with suppress(Empty):
                    self._wake.get(timeout=left)
        self._wanted = 0
        taken = [waiting.popleft() for _ in range(min(count, most))]
        with self._lock:
            self._in_flight.append(self._seconds[self._engine.size_for(len(taken))])
            self._busy_until = max(time.perf_counter(), self._busy_until) + self._in_flight[-1]
        return [number for number, _, _ in taken], [index for _, index, _ in taken]

    def _time_to_start(self) -> float:
        """When a batch that is not full starts."""
        return max(self._waiting[0][2] + self._deadline, self._busy_until - _LEAD)

    def _finish_batches(self) -> None:
        while (batch := self._started.get()) is not None:
            slot, ids = batch
            if self._error is None:
                try:
                    self._engine.finish(slot)
                except Exception as error:
                    self._error = error
            self._free.put(slot)
            with self._lock:
                self._in_flight.popleft()
                # From the observed end of a batch, so that errors of the times do not add up.
                self._busy_until = time.perf_counter() + sum(self._in_flight)
            if self._wanted:
                self._wake.put(None)
            self._complete(ids)
