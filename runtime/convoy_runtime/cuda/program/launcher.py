# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Enqueues runs of a captured program on the caller's stream, also during the caller's capture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.errors import CudaError
from convoy_runtime.program import POISON

from .instance import Instance
from .native_runs import NativeRuns, RunArrays
from .run_graph import RunGraph
from .turns import Turns

__all__ = ["Launcher"]


class Launcher:
    """Enqueues the runs of an instance. All runs work on its static buffers, so a run waits for a
    previous one on another stream.

    The device must be the thread's current one in every call. Not thread-safe.

    Args:
        driver: The CUDA driver.
        runs: Enqueues the runs.
        instance: The captured program.
        poisoned: Pointer and bytes of the buffers that are filled with POISON before each run.
        turns: The last run of the programs that share the buffers.
    """

    def __init__(
        self,
        driver: Driver,
        runs: NativeRuns,
        instance: Instance,
        poisoned: Sequence[tuple[int, int]],
        turns: Turns,
    ) -> None:
        self._driver, self._runs, self._instance, self._turns = driver, runs, instance, turns
        self._no_arrays = runs.arrays((), ())
        self._poisoned = [(pointer, size) for pointer, size in poisoned if size]

    def run(
        self,
        inputs: Sequence[int],
        outputs: Callable[[], tuple[Sequence[Any], Sequence[int]]],
        stream: int,
        arrays: RunArrays,
        *,
        host: bool = False,
    ) -> Sequence[Any]:
        """Enqueues the copies of the inputs, a run, and the copies of the outputs.

        Args:
            inputs: The address of each input.
            outputs: Returns the outputs and their addresses. Called after the launch, so that the
                device does not wait for the allocation of results. Its errors are passed on.
            stream: The handle of the stream.
            arrays: The windows of the inputs and outputs.
            host: Whether the inputs and outputs are in host memory that the device accesses.

        Returns:
            The outputs.

        Raises:
            CudaError: The driver fails.
        """
        runs, turns = self._runs, self._turns
        graph = self._instance.capture()
        if turns.stream != stream:
            self.follow(stream)
        for pointer, size in self._poisoned:
            self._driver.call("cuMemsetD8Async", pointer, POISON, size, stream)
        event: int | None = turns.event
        if not runs.begin(arrays, graph.address, inputs, stream, host):
            runs.begin(arrays, None, inputs, stream, host)
            self._add_to_capture(graph, stream)
            # An event recorded in the caller's capture would become part of the caller's graph.
            event = None
        try:
            results, pointers = outputs()
        except BaseException:
            if event is not None:
                turns.end(stream)
            raise
        if event is not None:
            turns.stream = stream
        runs.end(arrays, graph.address, pointers, event, stream, host)
        return results

    def replay(self, stream: int) -> None:
        """Enqueues a run on the content of the static buffers. Arguments and errors as `run`."""
        self.run((), lambda: ((), ()), stream, self._no_arrays)

    def follow(self, stream: int) -> None:
        """Makes `stream` wait for the last run, if that is on another one. A capture cannot wait
        for work outside of it, so the caller has to order its graph after other runs. Raises
        CudaError."""
        if self._turns.stream in (None, stream):
            return
        if not self._driver.call("cuStreamIsCapturing", stream):
            self._turns.follow(stream)

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError if it failed on the GPU."""
        self._turns.synchronize()

    def close(self) -> None:
        """Waits for the last run. Errors of earlier work on the device are ignored."""
        with contextlib.suppress(CudaError):
            self.synchronize()

    def _add_to_capture(self, run: RunGraph, stream: int) -> None:
        """Adds a captured graph as a child node to the graph that the caller captures on
        `stream`."""
        call, flags = self._driver.call, self._driver.module.CUstreamUpdateCaptureDependencies_flags
        _, _, graph, found, *_ = call("cuStreamGetCaptureInfo", stream)
        dependencies = list(found or ())
        node = call(
            "cuGraphAddChildGraphNode",
            graph,
            dependencies,
            len(dependencies),
            run.graph,
        )
        call(
            "cuStreamUpdateCaptureDependencies",
            stream,
            [node],
            None,
            1,
            flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES,
        )
