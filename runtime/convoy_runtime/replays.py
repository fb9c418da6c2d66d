"""How long a loaded program takes: on a GPU its CUDA graph alone, without copies in and out, on the
host a whole call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np

from .program import Program
from .value_types import value_type

__all__ = ["Figures", "measure"]

#: A measurement lasts about this long, in rounds whose median is given.
_ROUNDS = 7
_HOST_ROUNDS = 20
_HOST_REPLAYS = 50
_ROUND_SECONDS = 0.2


@value_type(frozen=True, slots=True)
class Figures:
    """Microseconds of `what`: the median of `rounds` rounds of `count` in a row, and the least and
    the most. `host` is what one costs the host until it is enqueued, None where a call waits."""

    what: str
    rounds: int
    count: int
    median: float
    least: float
    most: float
    host: float | None


def measure(program: Program, inputs: Sequence[np.ndarray]) -> Figures:
    """Times `program` on host arrays."""
    program.run_numpy(*inputs)
    replay = getattr(program, "replay", None)

    def some(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            if replay is None:
                program.run_numpy(*inputs)
            else:
                replay()
        if replay is not None:
            program.synchronize()  # type: ignore[attr-defined]
        return (time.perf_counter() - begin) / count * 1e6

    count = max(1, int(_ROUND_SECONDS * 1e6 / max(some(1), 0.1)))
    times = sorted(some(count) for _ in range(_ROUNDS))
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
    """What a replay costs the host: the median over rounds so short that the driver's queue never
    fills."""
    times = []
    for _ in range(_HOST_ROUNDS):
        program.synchronize()  # type: ignore[attr-defined]
        begin = time.perf_counter()
        for _ in range(_HOST_REPLAYS):
            program.replay()  # type: ignore[attr-defined]
        times.append((time.perf_counter() - begin) / _HOST_REPLAYS * 1e6)
    program.synchronize()  # type: ignore[attr-defined]
    return median(times)
