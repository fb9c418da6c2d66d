# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds the plans of engines that compile a kernel in several processes at once. The processes
exchange JSON; nothing is unpickled.

A process plans for the properties of the GPU, and uses the GPU only for plans that fail without it:
contexts on an H100 take eight processes a second to create and half a second to destroy.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from typing import Any

from .build_jobs import Built, Job, Offer, Query
from .build_process import BuildProcess, ProcessEnded, loaded_libraries

__all__ = ["BuildPool"]

#: More processes are slower, because their system calls wait for each other. On a host with 32
#: cores and an H200, one of 4 compiles a plan of a YOLO body in 0.33 s, one of 8 in 0.48 s, one of
#: 16 in 0.95 s; its load takes 9.2, 9.5 and 12.2 s, that of a diffusion network 11.7, 10.1 and
#: 12.4 s.
_MAX_PROCESSES = 8
#: The timeout of a build. The slowest kernels take seconds.
_TIMEOUT_SECONDS = 300.0
#: Libraries that cuDNN loads by name to compile. Worker processes load the same files as this one.
_LIBRARIES = ("libnvrtc.so", "libcublasLt.so")


class BuildPool:
    """Processes that build plans. They start on demand, and end with `close` or with this process.

    Args:
        native: The content of native.so.
        cudnn: The path of cuDNN.
        properties: The JSON that describes the GPU (`cudnn.device_properties`).
        device: The index of the GPU; None if it is not installed.
        processes: The number of processes, at most 8. Default: the number of cores.
    """

    def __init__(
        self,
        native: bytes,
        cudnn: str,
        *,
        properties: str,
        device: int | None = None,
        processes: int | None = None,
    ) -> None:
        self._native, self._cudnn, self._properties = native, cudnn, properties
        self._device = device
        self._count = min(_MAX_PROCESSES, processes or len(os.sched_getaffinity(0)))
        self._idle: queue.SimpleQueue[BuildProcess] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._all: list[BuildProcess] = []
        self._closed = False
        self._threads = ThreadPoolExecutor(self._count)
        self._begun: dict[str, Future[dict[str, Any]]] = {}
        #: Jobs that start when none of `build` waits for a process, in order.
        self._ahead: dict[str, None] = {}
        #: Jobs and queries that start after these.
        self._speculative: dict[str, None] = {}
        #: What follows the answers to queries.
        self._follow_ups: dict[str, Callable[[Future[dict[str, Any]]], None]] = {}
        self._running = 0

    def ahead(self, jobs: Iterable[Job]) -> None:
        """Starts jobs for later calls of `build`, whose jobs go first."""
        with self._lock:
            self._ahead |= dict.fromkeys(job.line() for job in jobs)
        self._begin_ahead()

    def ask(
        self, queries: Iterable[Query], jobs_of: Callable[[Query, Sequence[Offer]], Sequence[Job]]
    ) -> None:
        """Starts queries, and the jobs that follow from their answers, after those of `ahead`, in
        at most half of the processes.

        Args:
            queries: The queries.
            jobs_of: Returns the jobs of an answer. Called in a thread.
        """
        with self._lock:
            for query in queries:
                line = query.line()
                self._speculative[line] = None
                self._follow_ups[line] = partial(self._follow, partial(jobs_of, query))
        self._begin_ahead()

    def offers(self, query: Query) -> list[Offer]:
        """Returns the answer to a query of `ask`. It is empty if the query has not begun, which
        then is not made, or if it fails."""
        with self._lock:
            self._speculative.pop(query.line(), None)
            begun = self._begun.pop(query.line(), None)
        return [] if begun is None else Offer.all_of(begun.result())

    def begin(self, jobs: Iterable[Job]) -> list[Future[dict[str, Any]]]:
        """Starts jobs for later calls of `build` before those of `ahead`. Returns their states."""
        return [self._begin(job.line()) for job in jobs]

    def build(
        self, jobs: Sequence[Job], progress: Callable[[int], None] = lambda _: None
    ) -> list[Built]:
        """Runs jobs. An interrupt ends all processes.

        Args:
            jobs: The jobs.
            progress: Called with the number of finished jobs.

        Returns:
            The outcome of each job.
        """
        futures = self.begin(jobs)
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                progress(done)
        except BaseException:
            self.close()
            raise
        with self._lock:
            for job in jobs:
                self._begun.pop(job.line(), None)
        return [Built.of(future.result()) for future in futures]

    def close(self) -> None:
        """Kills all processes. Further calls have no effect."""
        with self._lock:
            self._closed = True
            processes, self._all = self._all, []
        for process in processes:
            process.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)
        # Eight processes take half a second to free their memory.
        for process in processes:
            threading.Thread(target=process.end).start()

    def _begin(self, line: str) -> Future[dict[str, Any]]:
        """Submits a job or a query, unless it has begun."""
        with self._lock:
            self._ahead.pop(line, None)
            self._speculative.pop(line, None)
            found = self._begun.get(line)
            if found is not None:
                return found
            if self._closed:
                return self._closed_future()
            self._running += 1
            found = self._begun[line] = self._threads.submit(self._one, line)
            follow_up = self._follow_ups.pop(line, None)
        if follow_up is not None:
            found.add_done_callback(follow_up)
        found.add_done_callback(self._end)
        return found

    def _begin_ahead(self) -> None:
        while True:
            with self._lock:
                if self._closed or self._running >= self._count:
                    return
                # Half of the processes stay free for jobs that are needed now.
                few = self._running < max(1, self._count // 2)
                waiting = self._ahead or (self._speculative if few else {})
                line = next(iter(waiting), None)
            if line is None:
                return
            self._begin(line)

    def _follow(
        self,
        jobs_of: Callable[[Sequence[Offer]], Sequence[Job]],
        answered: Future[dict[str, Any]],
    ) -> None:
        """Adds the jobs of an answer. All queries come first; they take a tenth as long."""
        if answered.cancelled():
            return
        lines = [job.line() for job in jobs_of(Offer.all_of(answered.result()))]
        with self._lock:
            self._speculative |= dict.fromkeys(line for line in lines if line not in self._begun)

    def _end(self, _: Future[dict[str, Any]]) -> None:
        with self._lock:
            self._running -= 1
        self._begin_ahead()

    @staticmethod
    def _closed_future() -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        future.set_result({"error": "the pool is closed"})
        return future

    def _one(self, line: str) -> dict[str, Any]:
        """Returns the answer of a process. With `not_here`, the pool cannot answer."""
        try:
            process = self._take()
        except ProcessEnded as ended:
            return {"error": str(ended), "not_here": True}
        try:
            answer = process.ask(line.encode() + b"\n", timeout=_TIMEOUT_SECONDS)
        except ProcessEnded as ended:
            return {"error": str(ended)}
        self._idle.put(process)
        return answer

    def _take(self) -> BuildProcess:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        with self._lock:
            if self._closed:
                raise ProcessEnded("the pool is closed")
            process = BuildProcess(self._cudnn)
            self._all.append(process)
        libraries = loaded_libraries(_LIBRARIES)
        setup = {
            "native_bytes": len(self._native),
            "properties": self._properties,
            "device": self._device,
            "libraries": libraries,
        }
        answer = process.ask(json.dumps(setup).encode() + b"\n" + self._native)
        if answer.get("ready") is not True:
            process.end()
            raise ProcessEnded(f"the build process could not start: {answer.get('error')}")
        return process
