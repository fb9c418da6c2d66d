"""Worker processes that check models; one that crashes or hangs is detected, reported and
replaced."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType

from random_check import Verdict, check
from random_model import Model
from random_networks import random_network

__all__ = ["Job", "Workers"]

#: A process is replaced after this many models, because every library that it has loaded stays
#: loaded.
_MODELS_A_PROCESS = 150


@dataclass(frozen=True)
class Job:
    """A model to check: the random one of `seed`, or `model`, compiled for `targets`. `hook` names
    a function, `MODULE:NAME`, that is called before the check, for tests."""

    seed: int
    model: Model | None = None
    targets: tuple[str, ...] = ("cpu", "cuda")
    hook: str = ""


def _serve(connection: Connection) -> None:
    """Checks models until the connection is closed."""
    import importlib

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # PyTorch warns about deliberate edge cases, e.g. the variance of one element.
    warnings.simplefilter("ignore")
    while (job := connection.recv()) is not None:
        if job.hook:
            module, _, name = job.hook.partition(":")
            getattr(importlib.import_module(module), name)()
        connection.send(check(job.model or random_network(job.seed), job.targets))


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    done: int = 0
    job: Job | None = None
    deadline: float = 0.0
    #: CPU seconds of the process at the start of the job, and when the deadline was set.
    started: float = 0.0
    seen: float = 0.0

    def used(self) -> float:
        """CPU seconds of the process so far."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Workers:
    """`jobs` processes. A model hangs if it takes more than `timeout` CPU seconds, or uses no CPU
    for as long; on a busy machine, elapsed time says nothing. Use it as a context manager."""

    def __init__(self, jobs: int, *, timeout: float = 60) -> None:
        # Forked from a process that has imported the slow modules and has no other threads.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["warm"])
        self._count = jobs
        self._timeout = timeout
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        self._workers = [self._start() for _ in range(self._count)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            self._stop(worker)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Verdict]]:
        """Each job with its verdict, in order of completion."""
        todo = iter(jobs)
        for place in range(len(self._workers)):
            self._give(place, next(todo, None))
        while busy := [worker for worker in self._workers if worker.job is not None]:
            wait(
                [worker.connection for worker in busy],
                max(0.0, min(worker.deadline for worker in busy) - time.monotonic()),
            )
            for place, worker in enumerate(self._workers):
                if worker.job is None:
                    continue
                verdict = self._verdict(worker)
                if verdict is not None:
                    job = worker.job
                    self._give(place, next(todo, None), again=verdict.kind in ("crash", "hang"))
                    yield job, verdict

    def one(self, job: Job) -> Verdict:
        """The verdict of one job."""
        return next(iter(self.run([job])))[1]

    def _verdict(self, worker: _Worker) -> Verdict | None:
        """The verdict of a busy worker, or how it ended; None while it works."""
        try:
            if worker.connection.poll():
                verdict: Verdict = worker.connection.recv()
                return verdict
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode or 0
            return Verdict("crash", signal.Signals(-code).name if code < 0 else f"exit code {code}")
        if time.monotonic() < worker.deadline:
            return None
        used = worker.used()
        if used - worker.started >= self._timeout or used - worker.seen < self._timeout / 100:
            return Verdict("hang", f"more than {self._timeout:.0f} seconds")
        worker.deadline, worker.seen = time.monotonic() + self._timeout, used
        return None

    def _give(self, place: int, job: Job | None, *, again: bool = False) -> None:
        worker = self._workers[place]
        if again or worker.done >= _MODELS_A_PROCESS:
            if not again:
                worker.job = None
            self._stop(worker)
            worker = self._workers[place] = self._start()
        worker.job = job
        if job is not None:
            worker.done += 1
            worker.deadline = time.monotonic() + self._timeout
            worker.started = worker.seen = worker.used()
            worker.connection.send(job)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _stop(self, worker: _Worker) -> None:
        if worker.job is None:
            worker.connection.send(None)
            worker.process.join(2)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
