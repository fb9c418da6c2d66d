# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures the calls of a program one by one, as the tuner measures candidates: in CUDA graphs, on
more memory than the L2 cache holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, Final

from convoy_runtime._abi import pointer_array
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import carve
from convoy_runtime.cuda.graphs.calls import Calls, TracedCall
from convoy_runtime.cuda.graphs.capture import Captured, Launchable, Stopwatch, capture
from convoy_runtime.cuda.graphs.streams import Order
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.tuning.cold_runs import capture_cold_runs
from convoy_runtime.cuda.tuning.scratch import Scratch, cold_sets
from convoy_runtime.manifest import Manifest
from convoy_runtime.profile import GpuFacts, Profile, Timing
from convoy_runtime.program import Progress

from .in_place import InPlace

__all__ = ["Profiler"]

_ROUNDS: Final = 7
_ROUND_MICROSECONDS: Final = 1500.0
#: The size of the measured copy, in multiples of the L2 cache.
_COPY_CACHES: Final = 8


class Profiler:
    """Times the calls of a program.

    Args:
        manifest: The program.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle.
        kernels: The functions of the manifest's kernels.
        plans: The plan of each graph by its index.
    """

    def __init__(
        self,
        manifest: Manifest,
        device: Device,
        queue: Queue,
        kernels: Sequence[Any],
        plans: Mapping[int, Plan],
    ) -> None:
        self._manifest, self._device, self._queue, self._plans = manifest, device, queue, plans
        self._calls = Calls(manifest, queue, plans, kernels, ())
        self._watch = Stopwatch(queue.driver, queue.stream)

    def profile(
        self,
        calls: Sequence[TracedCall],
        order: Order,
        in_place: InPlace,
        captured: Launchable,
        form: str,
        progress: Progress | None,
    ) -> Profile:
        """Measures each call alone and in place, and the whole program. Of equal calls, one is
        measured alone.

        Args:
            calls: The calls of the program.
            order: Their order in the captured program.
            in_place: Times the calls in place.
            captured: The captured program.
            form: The name of its form.
            progress: Called before each step.

        Returns:
            The times of the calls and of a replay.

        Raises:
            CudaError: The driver fails, e.g. because of too little memory.
        """
        try:
            known: dict[TracedCall | int, float] = {}
            timings = []
            for done, call in enumerate(calls):
                # Calls of one graph differ only in their pointers, which have no effect here.
                key = (
                    self._manifest.calls[call.index].graph
                    if call.kind == "graph"
                    else _unnumbered(call)
                )
                if key not in known:
                    if progress is not None:
                        progress(f"timing {self._name(call)}", done, len(calls))
                    known[key] = self._time(call)
                timings.append(
                    Timing(call.kind, call.index, call.bytes, known[key], after=order.after[done])
                )
            added = in_place.times(len(calls), self._watch, progress)
            both = tuple(
                replace(timing, in_place_microseconds=more)
                for timing, more in zip(timings, added, strict=True)
            )
            return Profile(self._facts(), form, both, self._median(captured))
        finally:
            self._watch.close()

    def _name(self, call: TracedCall) -> str:
        if call.kind == "graph":
            return self._manifest.graphs[self._manifest.calls[call.index].graph].name
        return self._manifest.kernels[call.index].name if call.kind == "kernel" else "a copy"

    def _time(self, call: TracedCall) -> float:
        if call.kind == "graph":
            return self._graph(self._manifest.calls[call.index].graph)
        if call.launch is not None:
            arguments = self._manifest.kernels[call.index].arguments
            launch = call.launch

            def kernel(pointers: list[int]) -> None:
                self._calls.kernel(0, call.index, *launch, pointer_array(pointers), len(pointers))

            return self._rotated([argument.bytes for argument in arguments], kernel)
        return self._copy(call.bytes // 2)

    def _graph(self, index: int) -> float:
        graph, plan, queue = self._manifest.graphs[index], self._plans[index], self._queue
        scratch = Scratch(self._device, queue.stream, graph, plan.report.workspace_bytes)
        try:
            return self._run_time(*capture_cold_runs(self._device, queue, graph, plan, scratch))
        finally:
            scratch.close()

    def _copy(self, size: int) -> float:
        return self._rotated(
            [size, size], lambda pointers: self._calls.copy(0, pointers[1], pointers[0], size)
        )

    def _rotated(self, sizes: list[int], enqueue: Callable[[list[int]], None]) -> float:
        """Returns the microseconds of the work of `enqueue` on buffers of these sizes. The buffers
        hold zeros, which are valid indices of any type."""
        sets = cold_sets(self._device, sum(sizes))
        memory, pointers = carve(self._device, sizes * sets)
        self._queue.driver.call(
            "cuMemsetD8Async", memory.pointer, 0, memory.size, self._queue.stream
        )
        return self._over(
            [pointers[index : index + len(sizes)] for index in range(0, len(pointers), len(sizes))],
            enqueue,
        )

    def _over(self, sets: Sequence[list[int]], enqueue: Callable[[list[int]], None]) -> float:
        def everything() -> None:
            for pointers in sets:
                enqueue(pointers)

        return self._run_time(
            capture(self._queue.driver, self._queue.stream, everything), len(sets)
        )

    def _run_time(self, captured: Captured, runs: int) -> float:
        try:
            return self._median(captured) / runs
        finally:
            captured.close()

    def _median(self, captured: Launchable) -> float:
        (times,) = self._watch.rounds([captured], rounds=_ROUNDS, microseconds=_ROUND_MICROSECONDS)
        return median(times)

    def _facts(self) -> GpuFacts:
        device, cudnn = self._device, self._queue.cudnn
        size = _COPY_CACHES * device.attribute("L2_CACHE_SIZE")
        return GpuFacts(
            name=device.name,
            compute_capability=(
                device.attribute("COMPUTE_CAPABILITY_MAJOR"),
                device.attribute("COMPUTE_CAPABILITY_MINOR"),
            ),
            multiprocessors=device.attribute("MULTIPROCESSOR_COUNT"),
            clock_khz=device.attribute("CLOCK_RATE"),
            memory_clock_khz=device.attribute("MEMORY_CLOCK_RATE"),
            memory_bus_bits=device.attribute("GLOBAL_MEMORY_BUS_WIDTH"),
            l2_bytes=device.attribute("L2_CACHE_SIZE"),
            driver=int(device.driver.call("cuDriverGetVersion")),
            cudnn=cudnn.version if cudnn is not None else 0,
            copy_bytes_per_second=2 * size / self._copy(size) * 1e6,
        )


def _unnumbered(call: TracedCall) -> TracedCall:
    """Returns a call without the number of its copy, so that copies of one size are equal."""
    return TracedCall("copy", 0, bytes=call.bytes) if call.kind == "copy" else call
