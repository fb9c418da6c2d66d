# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Enqueues runs of a captured program on the caller's stream, also during the caller's capture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.errors import CudaError
from convoy_runtime.program import POISON

from .cuda_interface import Copies
from .instance import Instance
from .turns import Turns

__all__ = ["Launcher"]


class Launcher:
    """Enqueues the runs of an instance. All runs work on its static buffers, so a run waits for a
    previous one on another stream.

    The device must be the thread's current one in every call. Not thread-safe.

    Args:
        driver: The CUDA driver.
        instance: The captured program.
        poisoned: Pointer and bytes of the buffers that are filled with POISON before each run.
        turns: The last run of the programs that share the buffers.
    """

    def __init__(
        self,
        driver: Driver,
        instance: Instance,
        poisoned: Sequence[tuple[int, int]],
        turns: Turns,
    ) -> None:
        self._driver, self._instance, self._turns = driver, instance, turns
        self._poisoned = [(pointer, size) for pointer, size in poisoned if size]

    def run(
        self,
        inputs: Sequence[int],
        outputs: Callable[[], tuple[Sequence[Any], Sequence[int]]],
        stream: int,
        copies: Copies,
    ) -> Sequence[Any]:
        """Enqueues the copies of the inputs, a run, and the copies of the outputs.

        Args:
            inputs: The address of each input.
            outputs: Returns the outputs and their addresses. Called after the launch, so that the
                device does not wait for the allocation of results. Its errors are passed on.
            stream: The handle of the stream.
            copies: The copies of the inputs and the outputs; none to use the content of the static
                buffers, and to leave the results in them.

        Returns:
            The outputs.

        Raises:
            CudaError: The driver fails.
        """
        driver, cuda, turns = self._driver, self._driver.module, self._turns
        captured = self._instance.capture()
        # The functions make this object of a number, and take 0.1 us longer.
        handle = cuda.CUstream(stream)
        status, capturing = cuda.cuStreamIsCapturing(handle)
        if status:
            raise driver.error("cuStreamIsCapturing", status)
        if turns.stream != stream:
            self._follow(stream, capturing)
        for place, copy in enumerate(copies[0]):
            copy(inputs[place], handle)
        for pointer, size in self._poisoned:
            driver.call("cuMemsetD8Async", pointer, POISON, size, handle)
        if capturing:
            self._add_to_capture(captured, stream)
        else:
            status = cuda.cuGraphLaunch(captured.instance, handle)[0]
            if status:
                raise driver.error("cuGraphLaunch", status)
        try:
            results, pointers = outputs()
            for place, copy in enumerate(copies[1]):
                copy(pointers[place], handle)
        finally:
            # An event recorded in the caller's capture would become part of the caller's graph.
            if not capturing:
                turns.end(stream)
        return results

    def follow(self, stream: int) -> None:
        """Makes `stream` wait for the last run. Raises CudaError."""
        if self._turns.stream is not None:
            self._follow(stream, self._driver.call("cuStreamIsCapturing", stream))

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError if it failed on the GPU."""
        self._turns.synchronize()

    def close(self) -> None:
        """Waits for the last run. Errors of earlier work on the device are ignored."""
        with contextlib.suppress(CudaError):
            self.synchronize()

    def _follow(self, stream: int, capturing: int) -> None:
        """Makes `stream` wait for the last run. A capture cannot wait for work outside of it, so
        the caller has to order its graph after other runs."""
        if self._turns.stream not in (None, stream) and not capturing:
            self._turns.follow(stream)

    def _add_to_capture(self, captured: Captured, stream: int) -> None:
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
            captured.graph,
        )
        call(
            "cuStreamUpdateCaptureDependencies",
            stream,
            [node],
            None,
            1,
            flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES,
        )
