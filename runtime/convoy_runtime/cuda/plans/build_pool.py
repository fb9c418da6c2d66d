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
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from convoy_runtime.value_types import value_type

__all__ = ["BuildPool", "Built", "Job"]

#: More processes are slower, because their system calls wait for each other. On a host with 32
#: cores and an H200, one of 4 compiles a plan of a YOLO body in 0.33 s, one of 8 in 0.48 s, one of
#: 16 in 0.95 s; its load takes 9.2, 9.5 and 12.2 s, that of a diffusion network 11.7, 10.1 and
#: 12.4 s.
_MAX_PROCESSES = 8
#: The timeout of a build. The slowest kernels take seconds.
_TIMEOUT_SECONDS = 300.0
#: Libraries that cuDNN loads by name to compile. Worker processes load the same files as this one.
_LIBRARIES = ("libnvrtc.so", "libcublasLt.so")


@value_type(frozen=True, slots=True)
class Job:
    """A plan to build.

    Attributes:
        symbol: The name of the graph's build function.
        name: The name of the graph.
        location: Its source location.
        engine: The index of the engine.
        knobs: Knob name to value.
    """

    symbol: str
    name: str
    location: str
    engine: int
    knobs: Mapping[str, int]

    def line(self) -> str:
        """Returns the job as JSON. Equal jobs have equal lines."""
        return json.dumps(asdict(self), sort_keys=True)


@value_type(frozen=True, slots=True)
class Built:
    """The outcome of a job.

    Attributes:
        plan: cuDNN's JSON of the plan.
        error: The reason if there is no plan.
        not_here: Whether the pool cannot build the plan; this process may be able to.
    """

    plan: str = ""
    error: str = ""
    not_here: bool = False


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
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._all: list[_Process] = []
        self._closed = False
        self._threads = ThreadPoolExecutor(self._count)
        self._begun: dict[str, Future[Built]] = {}
        #: Jobs that start when no job of `build` waits for a process, in order.
        self._ahead: dict[str, None] = {}
        self._running = 0

    def ahead(self, jobs: Iterable[Job]) -> None:
        """Starts jobs for later calls of `build`, whose jobs go first."""
        with self._lock:
            self._ahead |= dict.fromkeys(job.line() for job in jobs)
        self._begin_ahead()

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
        futures = [self._begin(job.line()) for job in jobs]
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                progress(done)
        except BaseException:
            self.close()
            raise
        with self._lock:
            for job in jobs:
                self._begun.pop(job.line(), None)
        return [future.result() for future in futures]

    def close(self) -> None:
        """Ends all processes. Further calls have no effect."""
        with self._lock:
            self._closed = True
            processes, self._all = self._all, []
        for process in processes:
            process.kill()
        for process in processes:
            process.end()
        # The threads wait for their processes.
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, line: str) -> Future[Built]:
        """Submits a job, unless it has begun."""
        with self._lock:
            self._ahead.pop(line, None)
            found = self._begun.get(line)
            if found is not None:
                return found
            if self._closed:
                return self._closed_future()
            self._running += 1
            found = self._begun[line] = self._threads.submit(self._one, line)
        found.add_done_callback(self._end)
        return found

    def _begin_ahead(self) -> None:
        while True:
            with self._lock:
                if self._closed or self._running >= self._count:
                    return
                line = next(iter(self._ahead), None)
            if line is None:
                return
            self._begin(line)

    def _end(self, _: Future[Built]) -> None:
        with self._lock:
            self._running -= 1
        self._begin_ahead()

    @staticmethod
    def _closed_future() -> Future[Built]:
        future: Future[Built] = Future()
        future.set_result(Built(error="the pool is closed"))
        return future

    def _one(self, line: str) -> Built:
        try:
            process = self._take()
        except _Ended as ended:
            return Built(error=str(ended), not_here=True)
        try:
            answer = process.ask(line.encode() + b"\n", timeout=_TIMEOUT_SECONDS)
        except _Ended as ended:
            return Built(error=str(ended))
        self._idle.put(process)
        plan, error = answer.get("plan"), answer.get("error")
        if isinstance(plan, str) and plan:
            return Built(plan=plan)
        return (
            Built(error=str(error))
            if error
            else Built(error="its plan cannot be written as JSON", not_here=True)
        )

    def _take(self) -> _Process:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        with self._lock:
            if self._closed:
                raise _Ended("the pool is closed")
            process = _Process(self._cudnn)
            self._all.append(process)
        libraries = _loaded(_LIBRARIES)
        setup = {
            "native_bytes": len(self._native),
            "properties": self._properties,
            "device": self._device,
            "libraries": libraries,
        }
        answer = process.ask(json.dumps(setup).encode() + b"\n" + self._native)
        if answer.get("ready") is not True:
            process.end()
            raise _Ended(f"the build process could not start: {answer.get('error')}")
        return process


class _Ended(Exception):
    """A process has ended. The message has the reason."""


class _Process:
    """A process that runs `build_worker`. Not thread-safe."""

    def __init__(self, cudnn: str) -> None:
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        environment = {**os.environ, "CONVOY_CUDNN": cudnn, "PYTHONPATH": paths}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._ending = threading.Lock()
        self._limit: float | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.build_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    def ask(self, message: bytes, *, timeout: float | None = None) -> dict[str, Any]:
        """Sends a message and returns the answer. Raises _Ended if the process ends, or does not
        answer within `timeout` seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = b""
        timer = threading.Timer(timeout, self._time_out, [timeout]) if timeout is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        with suppress(OSError, ValueError):
            self._process.stdin.write(message)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if timer is not None:
            timer.cancel()
        with suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        raise _Ended(self.end())

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def _time_out(self, timeout: float) -> None:
        self._limit = timeout
        self.kill()

    def end(self) -> str:
        """Ends the process if it is still running. Returns how it ended. May be called again."""
        with self._ending:
            with suppress(subprocess.TimeoutExpired):
                # A process that crashes closes its pipes before it ends.
                self._process.wait(timeout=1)
            self._process.kill()
            code = self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            last = ""
            if not self._errors.closed:
                self._errors.seek(0)
                last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                self._errors.close()
            if self._limit is not None:
                return f"the build exceeded {self._limit:g} s"
            return f"the build process ended: {how}" + (f": {last}" if last else "")


def _loaded(names: Sequence[str]) -> list[str]:
    """Returns the paths of these libraries in this process; empty on other systems than Linux."""
    found: dict[str, None] = {}
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.partition("/")[2]
            if path.rpartition("/")[2].startswith(tuple(names)):
                found["/" + path] = None
    return list(found)
