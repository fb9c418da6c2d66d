"""Candidates for a graph on one set of buffers: run, compared with a reference, timed.

A plan is run on buffers that hold NaN where it has to write, with guards around each; what it
computes is compared with what an engine computes that adds up in float32, or with the median of all
plans, and who writes outside, or something else, is out. Then each is captured in a CUDA graph over
more buffers than the L2 cache holds, and all are timed in turn, in heats after which the slow ones
leave.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import Any, Final

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch, finished
from convoy_runtime.cuda.plans.builder import no_memory_for
from convoy_runtime.cuda.plans.plan import Queue
from convoy_runtime.errors import CudaError, CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.timings import part

from .candidates import Candidate, Reference, judge, reference_of
from .cold_runs import capture_cold_runs
from .levels import Level
from .scratch import Scratch

__all__ = ["FINALISTS", "HOST_MICROSECONDS", "Race"]

#: So many are left for the last heat.
FINALISTS: Final = 3
#: What a single run's time may have in it of the host's part.
HOST_MICROSECONDS: Final = 100.0
#: Microseconds of a round, in the last heat and before, and how many rounds a heat before has.
_ROUND, _ROUND_OF_A_HEAT = 1500.0, 250.0
_ROUNDS_OF_A_HEAT = 3
#: Who takes this many times the best one's first time is not timed again.
_HOPELESS = 2
#: And who takes this many times as long as the best one of a heat is in no later one.
_FAR = 1.5


class Race:
    """Buffers for `graph` that `candidates` fit in; those whose workspaces there is no memory for
    are out. Times are taken with `watch`. Memory is gone with `close`. Raises CudaError when there
    is no memory for the tensors."""

    def __init__(
        self,
        device: Device,
        queue: Queue,
        graph: Graph,
        candidates: Sequence[Candidate],
        watch: Stopwatch,
    ) -> None:
        self._device, self._queue, self._graph, self._watch = device, queue, graph, watch
        self._scratch = self._room_for(candidates)
        #: The shortest time of a first run so far.
        self._shortest = math.inf

    def close(self) -> None:
        """Gives the memory back."""
        self._scratch.close()

    def run(self, candidates: Sequence[Candidate]) -> None:
        """Runs each that is not out yet; why one is from now on, what the others computed, and
        roughly what they take, is in them."""
        for each in candidates:
            if (
                each.reason is None
                and each.plan.report.workspace_bytes > self._scratch.workspace_bytes
            ):
                each.reason = "needs more workspace than all others"
            if each.reason is None:
                self._run(each)

    def check(self, candidates: Sequence[Candidate], reference: Reference) -> Reference:
        """Runs candidates that came later, and gives what they were compared with: `reference`, or
        one another where that has nothing."""
        for each in candidates:
            self.run([each])
            if reference.outputs:
                judge(self._graph, [each], reference)
        if not reference.outputs:
            reference = reference_of(self._graph, candidates)
            judge(self._graph, candidates, reference)
        return reference

    @part("timing plans")
    def time(self, candidates: Sequence[Candidate], level: Level) -> None:
        """Times those that are right and not hopelessly slow, the fastest ones longest."""
        with ExitStack() as captured:
            self._time(candidates, level, captured)

    def _time(self, candidates: Sequence[Candidate], level: Level, stack: ExitStack) -> None:
        """As `time`; what is captured is closed with `stack`."""
        racing: list[tuple[Candidate, Captured, int]] = []
        known: list[float] = []
        right = [each for each in candidates if each.reason is None]
        limit = _hopeless(min((each.microseconds or 0.0 for each in right), default=0.0))
        for candidate in right:
            if (candidate.microseconds or 0.0) > limit:
                continue
            try:
                captured, runs = capture_cold_runs(
                    self._device, self._queue, self._graph, candidate.plan, self._scratch
                )
            except (CudnnError, CudaError) as error:
                candidate.reason, candidate.microseconds = f"cannot be captured: {error}", None
                continue
            stack.callback(captured.close)
            racing.append((candidate, captured, runs))
            # A graph's first launch uploads it, and the host has a part in the time of a run that
            # is in no graph: neither is too short.
            known.append(min(self._watch.once(captured), (candidate.microseconds or 0.0) * runs))
        while racing:
            last = len(racing) <= FINALISTS
            rounds, microseconds = (
                (level.rounds, _ROUND) if last else (_ROUNDS_OF_A_HEAT, _ROUND_OF_A_HEAT)
            )
            times = self._watch.rounds(
                [each for _, each, _ in racing],
                rounds=rounds,
                microseconds=microseconds,
                known=known,
            )
            for (candidate, _, runs), figures in zip(racing, times, strict=True):
                candidate.microseconds = median(figures) / runs
            if last:
                return
            racing.sort(key=lambda each: each[0].microseconds or 0.0)
            limit = _FAR * (racing[0][0].microseconds or 0.0)
            racing = [
                each
                for each in racing[: max(FINALISTS, len(racing) // 2)]
                if (each[0].microseconds or 0.0) <= limit
            ]
            known = [(candidate.microseconds or 0.0) * runs for candidate, _, runs in racing]

    def _room_for(self, candidates: Sequence[Candidate]) -> Scratch:
        while True:
            size = max(
                (each.plan.report.workspace_bytes for each in candidates if each.reason is None),
                default=0,
            )
            try:
                return Scratch(self._device, self._queue.stream, self._graph, size)
            except CudaError as error:
                if not error.out_of_memory or size == 0:
                    raise
                for each in candidates:
                    if each.plan.report.workspace_bytes == size:
                        each.reason = no_memory_for(size)

    @part("running plans")
    def _run(self, candidate: Candidate) -> None:
        scratch, size = self._scratch, candidate.plan.report.workspace_bytes
        try:
            scratch.guard_workspace(size)
            scratch.poison()
            least = self._first_run(candidate)
            with finished(self._device.driver, self._queue.stream):
                results = scratch.outputs()
            candidate.reason = scratch.trespass(size)
            if candidate.reason is not None:
                return
            candidate.results = results
            if least > _hopeless(self._shortest):
                candidate.microseconds = least
                return
            # First runs may load code, which no capture allows; their times are no use.
            candidate.microseconds = self._watch.time(lambda: self._enqueue(candidate))
            self._shortest = min(self._shortest, candidate.microseconds)
        except CudnnError as error:
            candidate.reason = f"{error.name}: {error.detail}"
        except CudaError as error:
            # A launch that is refused leaves the device as it was; what fails later does not.
            if error.call != "cuLaunchKernel":
                raise
            candidate.reason = f"cannot be launched: {error.name}"

    def _first_run(self, candidate: Candidate) -> float:
        """Runs it, and gives the microseconds that it takes at least: the device may wait for the
        host as long as the host takes."""
        host = 0.0

        def enqueue() -> None:
            nonlocal host
            begin = time.perf_counter()
            self._enqueue(candidate)
            host = time.perf_counter() - begin

        return self._watch.time(enqueue) - host * 1e6

    def _enqueue(self, candidate: Candidate) -> Any:
        return candidate.plan.enqueue(
            self._queue, self._graph, self._scratch.sets[0], self._scratch.workspace
        )


def _hopeless(shortest: float) -> float:
    """From which time on a plan is, where another one takes `shortest` microseconds in a single
    run."""
    return _HOPELESS * shortest + HOST_MICROSECONDS
