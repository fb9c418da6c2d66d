"""Builds plans of engines that compile a kernel in several processes at once. What crosses the
pipes is JSON, nothing is unpickled."""

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

_MAX_PROCESSES = 16
#: The slowest kernels take some seconds; a build that takes this long never ends.
_SECONDS = 300.0
#: What cuDNN loads by name when it compiles; another process finds it where this one did.
_LIBRARIES = ("libnvrtc.so", "libcublasLt.so")


@value_type(frozen=True, slots=True)
class Job:
    """A plan to build: the graph's build function, name and location, the engine, and the values of
    its knobs by name."""

    symbol: str
    name: str
    location: str
    engine: int
    knobs: Mapping[str, int]

    def line(self) -> str:
        """It as JSON; equal jobs have equal lines."""
        return json.dumps(asdict(self), sort_keys=True)


@value_type(frozen=True, slots=True)
class Built:
    """What became of a job: cuDNN's JSON of the plan, or why there is none. `not_here` is that no
    process can give it, so that there may be one where it is asked for."""

    plan: str = ""
    error: str = ""
    not_here: bool = False


class BuildPool:
    """Processes that build plans of the graphs in `native` (native.so) for GPU `device`, or, with
    None, for the one that the file `properties` describes, with the cuDNN at `cudnn`. They start
    when there is work and end with `close`, or with this process."""

    def __init__(
        self,
        native: bytes,
        cudnn: str,
        *,
        device: int | None,
        properties: str = "",
        processes: int | None = None,
    ) -> None:
        self._native, self._cudnn, self._device, self._properties = (
            native,
            cudnn,
            device,
            properties,
        )
        self._count = min(_MAX_PROCESSES, processes or len(os.sched_getaffinity(0)))
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._all: list[_Process] = []
        self._closed = False
        self._threads = ThreadPoolExecutor(self._count)
        self._begun: dict[str, Future[Built]] = {}

    def ahead(self, jobs: Iterable[Job]) -> None:
        """Begins with jobs that `build` will be asked for."""
        for job in jobs:
            self._begin(job)

    def build(
        self, jobs: Sequence[Job], progress: Callable[[int], None] = lambda _: None
    ) -> list[Built]:
        """What became of each job, in their order; `progress` hears how many are done. An interrupt
        ends all processes."""
        futures = [self._begin(job) for job in jobs]
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                progress(done)
        except BaseException:
            self.close()
            raise
        for job in jobs:
            self._begun.pop(job.line(), None)
        return [future.result() for future in futures]

    def close(self) -> None:
        """Ends all processes. Calling it again does nothing."""
        with self._lock:
            self._closed = True
            processes, self._all = self._all, []
        for process in processes:
            process.kill()
        for process in processes:
            process.end()
        # The threads wait for their processes.
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, job: Job) -> Future[Built]:
        line = job.line()
        if line not in self._begun:
            self._begun[line] = (
                self._closed_future() if self._closed else self._threads.submit(self._one, line)
            )
        return self._begun[line]

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
            answer = process.ask(line.encode() + b"\n", seconds=_SECONDS)
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
            "device": self._device,
            "properties": self._properties,
            "libraries": libraries,
        }
        answer = process.ask(json.dumps(setup).encode() + b"\n" + self._native)
        if answer.get("ready") is not True:
            process.end()
            raise _Ended(f"the process for it could not start: {answer.get('error')}")
        return process


class _Ended(Exception):
    """A process is gone; the text says how."""


class _Process:
    """A build_worker. One thread at a time may ask it."""

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

    def ask(self, message: bytes, *, seconds: float | None = None) -> dict[str, Any]:
        """Sends a message and returns the answer. Raises _Ended when there is none, or none in
        time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = b""
        timer = threading.Timer(seconds, self._give_up, [seconds]) if seconds is not None else None
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

    def _give_up(self, seconds: float) -> None:
        self._limit = seconds
        self.kill()

    def end(self) -> str:
        """Ends the process, if it has not ended itself, and says how it ended. Calling it again
        does nothing."""
        with self._ending:
            with suppress(subprocess.TimeoutExpired):
                # One that died has closed its pipes, but may not be gone yet.
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
                return f"it was not built within {self._limit:g} s"
            return f"the process that built it ended: {how}" + (f": {last}" if last else "")


def _loaded(names: Sequence[str]) -> list[str]:
    """The files of these libraries that this process has loaded (Linux; none elsewhere)."""
    found: dict[str, None] = {}
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.partition("/")[2]
            if path.rpartition("/")[2].startswith(tuple(names)):
                found["/" + path] = None
    return list(found)
