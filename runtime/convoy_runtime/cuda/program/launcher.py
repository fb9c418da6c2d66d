# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Enqueues runs of a captured program on the caller's stream, also during the caller's capture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.cuda.driver.windows import copy_in, copy_out
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.errors import CudaError
from convoy_runtime.interface import Window
from convoy_runtime.program import POISON

from .instance import Instance
from .turns import Turns

__all__ = ["Launcher"]

# CUstreamCaptureStatus.
_CAPTURE_STATUS_NONE = 0


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
        outputs: Callable[[], Sequence[int]],
        stream: int,
        *,
        host: bool = False,
        windows: tuple[Sequence[Window], Sequence[Window]] | None = None,
    ) -> None:
        """Enqueues the copies of the inputs, a run, and the copies of the outputs.

        Args:
            inputs: The address of each input; empty to use the content of the static buffers.
            outputs: Returns the address of each output; none to leave them in the static buffers.
                Called after the launch, so that the device does not wait for the allocation of
                results. Its errors are passed on.
            stream: The handle of the stream.
            host: Whether the addresses are on the host.
            windows: The parts of the static buffers that inputs and outputs have; None if they
                have all. The rest of the inputs becomes zeros.

        Raises:
            CudaError: The driver fails.
        """
        call, instance = self._driver.call, self._instance
        captured = instance.capture()
        to, back = (
            ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync")
            if host
            else ("cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync")
        )
        capturing = self._capturing(stream)
        self._follow(stream, capturing)
        if windows is not None:
            for pointer, (buffer, _), window in zip(
                inputs, instance.buffers.inputs, windows[0], strict=True
            ):
                copy_in(self._driver, buffer, pointer, window, stream, host=host)
        else:
            for pointer, (buffer, size) in zip(inputs, instance.buffers.inputs, strict=False):
                if size:
                    call(to, buffer, pointer, size, stream)
        for pointer, size in self._poisoned:
            call("cuMemsetD8Async", pointer, POISON, size, stream)
        if capturing:
            self._add_to_capture(captured, stream)
        else:
            captured.launch(stream)
        try:
            targets = outputs()
            if windows is not None:
                for pointer, (buffer, _), window in zip(
                    targets, instance.buffers.outputs, windows[1], strict=True
                ):
                    copy_out(self._driver, pointer, buffer, window, stream, host=host)
            else:
                for pointer, (buffer, size) in zip(targets, instance.buffers.outputs, strict=False):
                    if size:
                        call(back, pointer, buffer, size, stream)
        finally:
            # An event recorded in the caller's capture would become part of the caller's graph.
            if not capturing:
                self._turns.end(stream)

    def follow(self, stream: int) -> None:
        """Makes `stream` wait for the last run. Raises CudaError."""
        if self._turns.stream is not None:
            self._follow(stream, self._capturing(stream))

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError if it failed on the GPU."""
        self._turns.synchronize()

    def close(self) -> None:
        """Waits for the last run. Errors of earlier work on the device are ignored."""
        with contextlib.suppress(CudaError):
            self.synchronize()

    def _follow(self, stream: int, capturing: bool) -> None:
        """Makes `stream` wait for the last run. A capture cannot wait for work outside of it, so
        the caller has to order its graph after other runs."""
        if self._turns.stream not in (None, stream) and not capturing:
            self._turns.follow(stream)

    def _capturing(self, stream: int) -> bool:
        return int(self._driver.call("cuStreamIsCapturing", stream)) != _CAPTURE_STATUS_NONE

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
