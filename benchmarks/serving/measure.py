# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Throughput and latency of calls, direct ones and those of a server."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Protocol

import numpy as np

__all__ = [
    "Latency",
    "Load",
    "Rate",
    "Server",
    "Start",
    "Submit",
    "closed_loop",
    "cpu_seconds_of",
    "latency",
    "rate",
]

#: Runs a request, and returns a function that waits for its results.
Submit = Callable[[list[np.ndarray]], Callable[[], Any]]


class Server(Protocol):
    """A server of one artifact."""

    def submit(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        """Sends a request from Python; returns a function that waits for the results."""

    def cpu_seconds(self) -> float:
        """The CPU time that the process that runs the model has used."""

    def http(self, arrays: list[np.ndarray]) -> Any:
        """Sends a request over HTTP and waits for the results."""


#: Starts a server of an artifact that runs loops with a number of threads.
Start = Callable[[str, int], AbstractContextManager[Server]]


@dataclass(frozen=True)
class Rate:
    """Requests per second, and the CPU time of the model's process per request in milliseconds."""

    per_second: float
    cpu_ms: float


@dataclass(frozen=True)
class Latency:
    """The time of a call in milliseconds."""

    median: float
    p99: float


@dataclass(frozen=True)
class Load:
    """Requests of a number of clients.

    Attributes:
        clients: The number of clients.
        per_second: Requests per second of all clients.
        p50: The median time of a request in milliseconds.
        p99: The 99th percentile.
    """

    clients: int
    per_second: float
    p50: float
    p99: float


def rate(
    submit: Submit,
    arrays: list[np.ndarray],
    seconds: float,
    window: int,
    cpu_seconds: Callable[[], float],
) -> Rate:
    """Sends requests with a constant number of unfinished ones.

    Args:
        submit: Sends a request.
        arrays: One array per input.
        seconds: How long to measure.
        window: The number of unfinished requests.
        cpu_seconds: The CPU time that the model's process has used.

    Returns:
        The rate of all requests, until the last result. Results of one call come together, so a
        rate until some result in between would have a part of a call too few.
    """
    start = now = time.perf_counter()
    cpu = cpu_seconds()
    waiting = deque(submit(arrays) for _ in range(window))
    count = 0
    while waiting:
        waiting.popleft()()
        count += 1
        now = time.perf_counter()
        if now - start < seconds:
            waiting.append(submit(arrays))
    return Rate(count / (now - start), 1e3 * (cpu_seconds() - cpu) / count)


def closed_loop(submit: Submit, arrays: list[np.ndarray], clients: int, seconds: float) -> Load:
    """Sends requests by clients that wait for each result.

    Args:
        submit: Sends a request; called by several threads.
        arrays: One array per input.
        clients: The number of clients, each a thread.
        seconds: How long clients send requests.

    Returns:
        The rate until the last result, and the times of all requests.

    Raises:
        Exception: A request failed.
    """
    end = time.perf_counter() + seconds

    def client() -> list[float]:
        times = []
        # Two, because percentiles need them.
        while len(times) < 2 or time.perf_counter() < end:
            start = time.perf_counter()
            submit(arrays)()
            times.append(1e3 * (time.perf_counter() - start))
        return times

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        running = [pool.submit(client) for _ in range(clients)]
        times = [each for client_times in running for each in client_times.result()]
    elapsed = time.perf_counter() - start
    return Load(clients, len(times) / elapsed, median(times), quantiles(times, n=100)[98])


def cpu_seconds_of(process: int) -> float:
    """The CPU time that a process has used, its system calls included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def latency(call: Callable[[], Any], count: int) -> Latency:
    """The time of one call after another, without the first tenth."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    kept = times[count // 10 :]
    return Latency(median(kept), quantiles(kept, n=100)[98])
