# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The systems under test of SingleStream and Offline, and what that of Server shares with them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

import mlperf_loadgen as loadgen

from benchmarks.mlperf.engine import SLOTS, Engine

__all__ = ["Offline", "SingleStream", "SystemUnderTest"]


class SystemUnderTest(ABC):
    """Receives queries of LoadGen.

    Responses have no data, which LoadGen reads in accuracy runs only: results stay in the memory of
    the device. An error ends the test: all queries are completed at once, and `check` raises it.

    Args:
        engine: Runs the batches.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._error: Exception | None = None
        self._threads: list[threading.Thread] = []
        # An assignment takes less time than a new object.
        self._responses = [loadgen.QuerySampleResponse(0, 0, 0) for _ in range(engine.most)]

    @abstractmethod
    def issue(self, ids: list[int], indices: list[int]) -> None:
        """Called by LoadGen with one or more samples. Runs them, or passes them to a thread that
        does. After an error, they are completed and not run.

        Args:
            ids: LoadGen's number of each response.
            indices: The index of each sample.
        """

    def close(self) -> None:
        """Ends the threads of the system. LoadGen has all responses."""
        for thread in self._threads:
            thread.join()

    def check(self) -> None:
        """Raises the error of a run, if there was one."""
        if self._error is not None:
            raise self._error

    def _complete(self, ids: Sequence[int]) -> None:
        """Tells LoadGen that samples are complete. One thread at a time may call this."""
        for begin in range(0, len(ids), len(self._responses)):
            part = ids[begin : begin + len(self._responses)]
            responses = self._responses[: len(part)]
            for response, number in zip(responses, part, strict=True):
                response.id = number
            loadgen.QuerySamplesComplete(responses)


class SingleStream(SystemUnderTest):
    """One sample at a time: a query is complete when the call returns."""

    def issue(self, ids: list[int], indices: list[int]) -> None:
        try:
            if self._error is None:
                self._engine.start(0, indices)
                self._engine.finish(0)
        except Exception as error:
            self._error = error
        self._complete(ids)


class Offline(SystemUnderTest):
    """All samples at once, in batches of the largest size. Up to SLOTS batches are enqueued, so
    that the device does not wait for the host."""

    def issue(self, ids: list[int], indices: list[int]) -> None:
        if self._error is not None:
            self._complete(ids)
            return
        most, started, completed = self._engine.most, deque[int](), 0
        try:
            for number, begin in enumerate(range(0, len(ids), most)):
                if len(started) == SLOTS:
                    self._engine.finish(started.popleft())
                    self._complete(ids[completed : completed + most])
                    completed += most
                self._engine.start(number % SLOTS, indices[begin : begin + most])
                started.append(number % SLOTS)
            while started:
                self._engine.finish(started.popleft())
                self._complete(ids[completed : completed + most])
                completed += most
        except Exception as error:
            self._error = error
            self._complete(ids[completed:])
