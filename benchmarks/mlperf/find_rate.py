# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The highest rate of queries with a valid test of Server."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.mlperf.trial import Outcome

__all__ = ["highest_valid"]

#: The share of the upper limit that is tried first, and the one at which the search ends.
_FIRST, _PRECISION = 0.88, 0.01


def highest_valid(
    run: Callable[[float], Outcome], limit: float, budget: float
) -> tuple[Outcome, list[Outcome]]:
    """Bisects the rate of queries.

    Args:
        run: Runs a test with a rate in queries per second.
        limit: The upper limit, which is not tried.
        budget: The seconds of the search. It does not begin a test that would take longer, as long
            as the longest one took; the first test is always run.

    Returns:
        The valid test with the highest rate, or the last test if none is valid; and all tests.
    """
    begin, longest = time.perf_counter(), 0.0
    low, high, rate = 0.0, limit, _FIRST * limit
    outcomes: list[Outcome] = []
    while not outcomes or (
        high - low > _PRECISION * limit and time.perf_counter() + longest - begin <= budget
    ):
        started = time.perf_counter()
        outcome = run(rate)
        longest = max(longest, time.perf_counter() - started)
        outcomes.append(outcome)
        low, high = (rate, high) if outcome.valid else (low, rate)
        rate = (low + high) / 2
    valid = [each for each in outcomes if each.valid]
    return max(valid, key=lambda each: each.target) if valid else outcomes[-1], outcomes
