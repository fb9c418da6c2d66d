# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures the time that each call adds to a replay of the program.

A call is measured in place: on the program's memory, with the results of its neighbors in the
cache, with the gap between two nodes of a CUDA graph and with the memset nodes that some plans
begin with. Events around a call would take longer than many calls.

A program reuses its memory. A call that runs without all previous calls works on arbitrary values,
but accesses the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import Any, Final

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.graphs.calls import Calls
from convoy_runtime.cuda.graphs.capture import Stopwatch, capture
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.manifest import Call, Graph, Manifest
from convoy_runtime.program import Progress

__all__ = ["InPlace", "windows_of"]

#: The number of calls that run before the measured one. For the first calls of the program, these
#: are the last calls of the previous run.
_CALLS_BEFORE: Final = 8
_ROUNDS: Final = 7
_ROUND_MICROSECONDS: Final = 1500.0


class _Window(Calls):
    """Enqueues the calls in `window` and skips the others."""

    def __init__(self, window: range, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._window = window

    def graph(
        self, index: int, call: int, site: Call, graph: Graph, pointers: tuple[int, ...]
    ) -> None:
        if index in self._window:
            super().graph(index, call, site, graph, pointers)

    def kernel(self, index: int, *arguments: Any) -> None:
        if index in self._window:
            super().kernel(index, *arguments)

    def copy(self, index: int, destination: int, source: int, size: int) -> None:
        if index in self._window:
            super().copy(index, destination, source, size)


class InPlace:
    """Times the calls of a program in place.

    Args:
        manifest: The program.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle.
        kernels: The functions of the manifest's kernels.
        plans: The plan of each graph by its index.
        run: Runs `convoy_main` with a table on the program's own memory.
    """

    def __init__(
        self,
        manifest: Manifest,
        device: Device,
        queue: Queue,
        kernels: Sequence[Any],
        plans: Mapping[int, Plan],
        run: Callable[[Calls], None],
    ) -> None:
        self._parts = manifest, queue, plans, kernels
        self._device, self._queue, self._run = device, queue, run
        self._workspace_bytes = max(
            (plan.report.workspace_bytes for plan in plans.values()), default=0
        )

    def times(self, count: int, watch: Stopwatch, progress: Progress | None) -> list[float]:
        """Measures the time that each call adds to the previous ones.

        Args:
            count: The number of calls of the program.
            watch: Times the runs.
            progress: Called before each call.

        Returns:
            Microseconds of each call. Noise may make a value negative.

        Raises:
            CudaError: The driver fails.
        """
        memory = Allocation(self._device, self._workspace_bytes)
        workspaces = [memory.pointer] * count
        found = []
        for index in range(count):
            if progress is not None:
                progress("timing calls in place", index, count)
            with ExitStack() as stack:
                # Timed in turn, so that changes of the clock affect both.
                both = []
                for last in (index - 1, index):
                    windows = windows_of(index - _CALLS_BEFORE, last, count)
                    captured = capture(
                        self._queue.driver,
                        self._queue.stream,
                        partial(self._enqueue, windows, workspaces),
                    )
                    stack.callback(captured.close)
                    both.append(captured)
                without, with_it = watch.rounds(
                    both, rounds=_ROUNDS, microseconds=_ROUND_MICROSECONDS
                )
            found.append(median(more - less for less, more in zip(without, with_it, strict=True)))
        return found

    def _enqueue(self, windows: Sequence[range], workspaces: Sequence[int]) -> None:
        for window in windows:
            self._run(_Window(window, *self._parts, workspaces))


def windows_of(first: int, last: int, count: int) -> list[range]:
    """Returns the calls from `first` to `last` of a program of `count` calls that is repeated.
    Negative numbers are calls of previous runs."""
    windows = []
    while first <= last:
        begin = first % count
        end = min(count, begin + last - first + 1)
        windows.append(range(begin, end))
        first += end - begin
    return windows
