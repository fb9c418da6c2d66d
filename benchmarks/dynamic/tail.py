# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The times of calls of random batches, in relation to the median of their size."""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["call_times", "gpu_times", "host_times", "on_quietest_core", "percentiles_of"]

#: The percentiles of calls of random batches.
_PERCENTS = (50, 99, 99.9)
#: Calls between two waits of `gpu_times`. The first of them starts on an idle GPU, so its time
#: includes the host's, and 1 % of such calls would be the 99th percentile.
_CALLS_IN_FLIGHT = 1000
#: The seconds between two pieces of work of the host, as long as a call of batch 1, and the numbers
#: that a piece adds up, in 15 us.
_PAUSE, _HOST_WORK = 2.5e-4, 1500
#: The pieces of work that a core is judged by.
_CORE_WORK = 300


def percentiles_of(times: Mapping[int, Sequence[float]]) -> dict[str, float]:
    """Percentiles of the times of calls, each in relation to the median of its size; with and
    without the first call of each size.

    Args:
        times: Size to the times of its calls, in order.

    Returns:
        Name of a percentile, e.g. "p99" and "p99 without first calls", to its value.
    """
    found = {}
    for skipped, suffix in ((0, ""), (1, " without first calls")):
        ratios = sorted(
            each / median
            for of_size in times.values()
            for median in (statistics.median(of_size),)
            for each in of_size[skipped:]
        )
        for percent in _PERCENTS if ratios else ():
            place = min(len(ratios) - 1, int(len(ratios) * percent / 100))
            found[f"p{percent:g}{suffix}"] = ratios[place]
    return found


def call_times(
    call: Callable[[int], Any], batches: Sequence[int], synchronize: Callable[[], None]
) -> Mapping[int, list[float]]:
    """The seconds from the start of each call to its results, by the host's clock, one call at a
    time. The garbage collector is off, as in `timeit`.

    Args:
        call: Calls the program with a batch.
        batches: The batch of each call.
        synchronize: Waits for the results.

    Returns:
        Batch to the times of its calls, in order.
    """
    times: defaultdict[int, list[float]] = defaultdict(list)
    gc.collect()
    gc.disable()
    try:
        synchronize()
        for batch in batches:
            start = time.perf_counter()
            call(batch)
            synchronize()
            times[batch].append(time.perf_counter() - start)
    finally:
        gc.enable()
    return times


def host_times(count: int) -> Mapping[int, list[float]]:
    """The seconds of a fixed piece of work of the host, about as long as that of a call before the
    launch, each time after a pause of a short call: how steady the host itself is.

    Args:
        count: How often.

    Returns:
        0 to the times.
    """
    times = []
    for _ in range(count):
        end = time.perf_counter() + _PAUSE
        while time.perf_counter() < end:
            pass
        start = time.perf_counter()
        sum(range(_HOST_WORK))
        times.append(time.perf_counter() - start)
    return {0: times}


@contextmanager
def on_quietest_core() -> Iterator[int]:
    """Runs the enclosed code of this thread on the core where `host_times` is steadiest now, which
    it yields. On a machine whose processors several tenants share, its 99th percentile is between
    1.4 and 15 times the median, and other cores are the quiet ones seconds later."""
    cores = os.sched_getaffinity(0)
    try:
        steadiness = {}
        for core in cores:
            os.sched_setaffinity(0, {core})
            steadiness[core] = percentiles_of(host_times(_CORE_WORK))["p99"]
        quietest = min(cores, key=lambda core: steadiness[core])
        os.sched_setaffinity(0, {quietest})
        yield quietest
    finally:
        os.sched_setaffinity(0, cores)


def gpu_times(call: Callable[[int], Any], batches: Sequence[int]) -> Mapping[int, list[float]]:
    """The seconds of each call on the GPU, between two events, while the host is ahead of the GPU:
    copies of inputs and results, zeros for padded rows, and the run.

    Args:
        call: Calls the program with a batch.
        batches: The batch of each call.

    Returns:
        Batch to the times of its calls, in order.
    """
    times: defaultdict[int, list[float]] = defaultdict(list)
    for first in range(0, len(batches), _CALLS_IN_FLIGHT):
        part = batches[first : first + _CALLS_IN_FLIGHT]
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(part) + 1)]
        events[0].record()
        for batch, event in zip(part, events[1:], strict=True):
            call(batch)
            event.record()
        torch.cuda.synchronize()
        for batch, (begin, end) in zip(part, itertools.pairwise(events), strict=True):
            times[batch].append(begin.elapsed_time(end) / 1e3)
    return times
