"""Tunings that wait for the build processes while others proceed."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.tuning import overlap
from convoy_runtime.cuda.tuning.overlap import Overlap, Tuning, finished


class Graphs:
    """Tunings that wait for a job each, and a log of what they do."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.jobs: dict[int, Future[Any]] = {}
        self.overlap = Overlap(self.done)
        #: The graph whose job ends when a graph is done.
        self.then: dict[int, int] = {}

    def done(self, index: int, _: list[Plan]) -> None:
        self.log.append(f"{index} done")
        if index in self.then:
            self.jobs[self.then[index]].set_result(None)

    def begin(self, index: int, *, waits: bool = True) -> None:
        self.overlap.begin(index, self.tuning(index, waits=waits))

    def tuning(self, index: int, *, waits: bool = True) -> Tuning:
        self.log.append(f"{index} begins")
        try:
            if waits:
                self.jobs[index] = Future()
                yield [self.jobs[index]]
            plans: list[Plan] = []
            return plans
        finally:
            self.log.append(f"{index} ends")

    def taken(self) -> list[str]:
        log, self.log = self.log, []
        return log


def test_a_tuning_that_waits_is_resumed_when_its_jobs_have_ended() -> None:
    graphs = Graphs()
    graphs.begin(0)
    graphs.begin(1, waits=False)
    assert graphs.taken() == ["0 begins", "1 begins", "1 ends", "1 done"]
    graphs.begin(2)
    graphs.jobs[2].set_result(None)
    graphs.begin(3)
    assert graphs.taken() == ["2 begins", "3 begins", "2 ends", "2 done"]
    # At the end, in the order of the jobs.
    threading.Timer(0.05, graphs.jobs[3].set_result, [None]).start()
    graphs.then[3] = 0
    graphs.overlap.finish()
    assert graphs.taken() == ["3 ends", "3 done", "0 ends", "0 done"]


def test_few_tunings_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "_MOST", 2)
    graphs = Graphs()
    graphs.begin(0)
    graphs.begin(1)
    threading.Timer(0.05, graphs.jobs[1].set_result, [None]).start()
    graphs.begin(2)
    assert graphs.taken() == ["0 begins", "1 begins", "2 begins", "1 ends", "1 done"]


def test_tunings_are_closed() -> None:
    graphs = Graphs()
    graphs.begin(0)
    graphs.begin(1)
    graphs.overlap.close()
    graphs.overlap.close()
    assert graphs.taken() == ["0 begins", "1 begins", "0 ends", "1 ends"]


def test_an_error_ends_one_tuning() -> None:
    def failing() -> Tuning:
        yield [job]
        raise ValueError("no plan")

    job: Future[Any] = Future()
    graphs = Graphs()
    graphs.begin(0)
    graphs.overlap.begin(1, failing())
    job.set_result(None)
    with pytest.raises(ValueError, match="no plan"):
        graphs.overlap.finish()
    graphs.overlap.close()
    assert graphs.taken() == ["0 begins", "0 ends"]


def test_a_single_tuning_waits_for_its_jobs() -> None:
    graphs = Graphs()
    assert finished(graphs.tuning(0)) == []
    assert graphs.taken() == ["0 begins", "0 ends"]
