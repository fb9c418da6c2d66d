# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Times a loaded program: on a GPU a replay of its CUDA graph, without copies of inputs and
outputs; on the host a whole call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np

from .program import Program
from .value_types import value_type

__all__ = ["Figures", "measure"]

#: Number of rounds; the result is their median.
_ROUNDS = 7
_HOST_ROUNDS = 20
_HOST_REPLAYS = 50
#: Duration of a round.
_ROUND_SECONDS = 0.2


@value_type(frozen=True, slots=True)
class Figures:
    """Times in microseconds.

    Attributes:
        what: The timed unit.
        rounds: The number of rounds.
        count: The number of consecutive runs in a round.
        median: The median over rounds, per run.
        least: The fastest round, per run.
        most: The slowest round, per run.
        host: Host time to enqueue a run; None if a run is synchronous.
    """

    what: str
    rounds: int
    count: int
    median: float
    least: float
    most: float
    host: float | None


def measure(program: Program, inputs: Sequence[np.ndarray]) -> Figures:
    """Times a program.

    Args:
        program: The program.
        inputs: One host array per input.

    Returns:
        The times.
    """
    program.run_numpy(*inputs)
    replay = getattr(program, "replay", None)

    def time_runs(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            if replay is None:
                program.run_numpy(*inputs)
            else:
                replay()
        if replay is not None:
            program.synchronize()  # type: ignore[attr-defined]
        return (time.perf_counter() - begin) / count * 1e6

    count = max(1, int(_ROUND_SECONDS * 1e6 / max(time_runs(1), 0.1)))
    times = sorted(time_runs(count) for _ in range(_ROUNDS))
    what = "run" if replay is None else "replay of the CUDA graph"
    return Figures(
        what,
        _ROUNDS,
        count,
        median(times),
        times[0],
        times[-1],
        _host(program) if replay is not None else None,
    )


def _host(program: Program) -> float:
    """Host time of a replay in microseconds: the median over rounds that are too short to fill the
    driver's queue."""
    times = []
    for _ in range(_HOST_ROUNDS):
        program.synchronize()  # type: ignore[attr-defined]
        begin = time.perf_counter()
        for _ in range(_HOST_REPLAYS):
            program.replay()  # type: ignore[attr-defined]
        times.append((time.perf_counter() - begin) / _HOST_REPLAYS * 1e6)
    program.synchronize()  # type: ignore[attr-defined]
    return median(times)
