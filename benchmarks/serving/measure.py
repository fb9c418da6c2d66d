# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Throughput and latency of calls, direct ones and those of a server."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, Protocol

import numpy as np

__all__ = ["Latency", "Server", "Start", "latency", "rate"]

#: Runs a request, and returns a function that waits for its results.
Submit = Callable[[list[np.ndarray]], Callable[[], Any]]


class Server(Protocol):
    """A server of one artifact."""

    def submit(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        """Sends a request from Python; returns a function that waits for the results."""

    def http(self, arrays: list[np.ndarray]) -> Any:
        """Sends a request over HTTP and waits for the results."""


#: Starts a server of an artifact that runs loops with a number of threads.
Start = Callable[[str, int], AbstractContextManager[Server]]


@dataclass(frozen=True)
class Latency:
    """The time of a call in milliseconds."""

    median: float
    p99: float


def rate(submit: Submit, arrays: list[np.ndarray], seconds: float, window: int) -> float:
    """Requests per second with a constant number of unfinished requests.

    Args:
        submit: Sends a request.
        arrays: One array per input.
        seconds: How long to measure.
        window: The number of unfinished requests.

    Returns:
        Requests per second, counted between the first and the last result.
    """
    waiting = deque(submit(arrays) for _ in range(window))
    waiting.popleft()()
    start = now = time.perf_counter()
    count = 0
    while now - start < seconds:
        waiting.append(submit(arrays))
        waiting.popleft()()
        now = time.perf_counter()
        count += 1
    for each in waiting:
        each()
    return count / (now - start)


def latency(call: Callable[[], Any], count: int) -> Latency:
    """The time of one call after another, without the first tenth."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    kept = times[count // 10 :]
    return Latency(median(kept), quantiles(kept, n=100)[98])
