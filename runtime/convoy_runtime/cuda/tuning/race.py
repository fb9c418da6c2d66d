# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the candidates for a graph on one set of buffers, checks their results, and times them.

Each candidate first runs alone, on outputs filled with NaN and with guards around every tensor. A
candidate that writes outside its tensors, or whose results differ from the reference (an engine
that accumulates in float32, or the median of all candidates), is dropped. Each remaining candidate
is captured in a CUDA graph, on more buffers than the L2 cache holds. All are timed in turn, in
heats; slow ones are dropped after each heat.
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
from convoy_runtime.errors import CudaError, LibraryError
from convoy_runtime.manifest import Graph
from convoy_runtime.timings import part

from .candidates import Candidate, Reference, judge, reference_of
from .cold_runs import capture_cold_runs
from .levels import Level
from .result_memory import ResultMemory
from .scratch import Scratch

__all__ = ["FINALISTS", "HOST_MICROSECONDS", "Race"]

#: Number of candidates in the last heat.
FINALISTS: Final = 3
#: Upper bound on the host's launch overhead in the time of a single run.
HOST_MICROSECONDS: Final = 100.0
#: Microseconds of a round in the last heat.
_ROUND_MICROSECONDS = 500.0
#: Microseconds and number of rounds in earlier heats.
_HEAT_ROUND_MICROSECONDS, _HEAT_ROUNDS = 250.0, 3
#: Candidates slower than this times the fastest warm-up run are dropped.
_MAX_SLOWDOWN = 2
#: Slower ones are not run again.
_MAX_REPEATED_MICROSECONDS: Final = 1e4
#: Candidates slower than this times the fastest one of a heat are not in the next heat.
_MAX_HEAT_SLOWDOWN = 1.5


class Race:
    """Compares candidates for one graph on the same buffers. `close` frees the buffers.

    Args:
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle to run on.
        memory: Allocates the results.
        graph: The graph.
        candidates: The candidates that determine the size of the workspace. Those whose workspaces
            do not fit into the device's memory are dropped.
        watch: Times the runs.

    Raises:
        CudaError: The device has no memory for the graph's tensors.
    """

    def __init__(
        self,
        device: Device,
        queue: Queue,
        memory: ResultMemory,
        graph: Graph,
        candidates: Sequence[Candidate],
        watch: Stopwatch,
    ) -> None:
        self._device, self._queue, self._memory = device, queue, memory
        self._graph, self._watch = graph, watch
        self._scratch = self._allocate(candidates)
        #: Microseconds of the fastest warm-up run so far.
        self._fastest = math.inf

    def close(self) -> None:
        """Frees the buffers."""
        self._scratch.close()

    def run(self, candidates: Sequence[Candidate]) -> None:
        """Runs each candidate that is not dropped, and sets its results and approximate time, or
        the reason why it is dropped."""
        for each in candidates:
            if (
                each.reason is None
                and each.plan.report.workspace_bytes > self._scratch.workspace_bytes
            ):
                each.reason = "its workspace is larger than those of all others"
            if each.reason is None:
                self._run(each)

    def check(self, candidates: Sequence[Candidate], reference: Reference) -> Reference:
        """Runs further candidates, and drops those with wrong results.

        Args:
            candidates: The candidates.
            reference: The reference for the results.

        Returns:
            `reference`, or a new reference from these candidates if it has no outputs.
        """
        for each in candidates:
            self.run([each])
            if reference.outputs:
                judge(self._graph, [each], reference)
        if not reference.outputs:
            reference = reference_of(self._graph, candidates)
            judge(self._graph, candidates, reference)
        return reference

    @part("timing plans")
    def time(
        self, candidates: Sequence[Candidate], level: Level, *, preliminary: bool = False
    ) -> None:
        """Times the candidates that are not dropped, in more rounds for the fastest ones.

        Args:
            candidates: The candidates; sets their times.
            level: The tuning level, with the number of rounds.
            preliminary: Whether the fastest ones are timed again, beside others. Then their last
                heat is as short as the others.
        """
        with ExitStack() as captured:
            self._time(candidates, level, captured, preliminary)

    def _time(
        self, candidates: Sequence[Candidate], level: Level, stack: ExitStack, preliminary: bool
    ) -> None:
        """Implements `time`. Captured graphs are closed with `stack`."""
        racing: list[tuple[Candidate, Captured, int]] = []
        known: list[float] = []
        correct = [each for each in candidates if each.reason is None]
        limit = _slowest_warm_up(min((each.microseconds or 0.0 for each in correct), default=0.0))
        for candidate in correct:
            if self._is_slower(candidate, limit):
                continue
            try:
                captured, runs = capture_cold_runs(
                    self._device, self._queue, self._graph, candidate.plan, self._scratch
                )
            except (CudaError, LibraryError) as error:
                candidate.reason, candidate.microseconds = f"cannot be captured: {error}", None
                continue
            stack.callback(captured.close)
            racing.append((candidate, captured, runs))
            # The first launch of a graph uploads it, and a run outside a graph includes launch
            # overhead. Both are upper bounds.
            known.append(min(self._watch.once(captured), (candidate.microseconds or 0.0) * runs))
        while racing:
            last = len(racing) <= FINALISTS
            rounds, microseconds = (
                (level.rounds, _ROUND_MICROSECONDS)
                if last and not preliminary
                else (_HEAT_ROUNDS, _HEAT_ROUND_MICROSECONDS)
            )
            times = self._watch.rounds(
                [each for _, each, _ in racing],
                rounds=rounds,
                microseconds=microseconds,
                known=known,
            )
            for (candidate, _, runs), figures in zip(racing, times, strict=True):
                candidate.microseconds, candidate.single = median(figures) / runs, False
            if last:
                return
            racing.sort(key=lambda each: each[0].microseconds or 0.0)
            limit = _MAX_HEAT_SLOWDOWN * (racing[0][0].microseconds or 0.0)
            racing = [
                each
                for each in racing[: max(FINALISTS, len(racing) // 2)]
                if (each[0].microseconds or 0.0) <= limit
            ]
            known = [(candidate.microseconds or 0.0) * runs for candidate, _, runs in racing]

    def _is_slower(self, candidate: Candidate, limit: float) -> bool:
        """Returns whether a candidate took longer than `limit` microseconds, in two runs: other
        work of the device may delay one, e.g. of a build process that needs it."""
        known = candidate.microseconds or 0.0
        if limit < known <= _MAX_REPEATED_MICROSECONDS:
            again = self._watch.time(lambda: self._enqueue(candidate))
            candidate.microseconds = known = min(known, again)
        return known > limit

    def _allocate(self, candidates: Sequence[Candidate]) -> Scratch:
        """Allocates buffers with the largest workspace that fits into memory. Drops the candidates
        that need a larger one."""
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
            at_least = self._first_run(candidate)
            with finished(self._device.driver, self._queue.stream):
                results = scratch.outputs(self._memory)
            candidate.reason = scratch.trespass(size)
            if candidate.reason is not None:
                return
            candidate.results = results
            if at_least > _slowest_warm_up(self._fastest):
                candidate.microseconds = at_least
                return
            # The first run may load code, which takes time and cannot be captured. The second one
            # is the timed warm-up run.
            candidate.microseconds = self._watch.time(lambda: self._enqueue(candidate))
            candidate.single = True
            self._fastest = min(self._fastest, candidate.microseconds)
        except LibraryError as error:
            candidate.reason = f"{error.name}: {error.detail}"
        except CudaError as error:
            # The device is usable after a rejected launch, but not after later failures.
            if not error.call.startswith("cuLaunchKernel"):
                raise
            candidate.reason = f"cannot be launched: {error.name}"

    def _first_run(self, candidate: Candidate) -> float:
        """Runs a candidate and returns a lower bound of its time in microseconds: the measured time
        minus the host time, during which the device may be idle."""
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


def _slowest_warm_up(fastest: float) -> float:
    """Returns the limit in microseconds on the warm-up run of timed candidates, if the fastest one
    takes `fastest` microseconds."""
    return _MAX_SLOWDOWN * fastest + HOST_MICROSECONDS
