# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The order of the runs of programs that share static buffers."""

from __future__ import annotations

import contextlib

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.errors import CudaError

__all__ = ["Turns"]

# CUevent_flags.
_EVENT_DISABLE_TIMING = 2


class Turns:
    """The last run of the programs that share static buffers. Runs on several streams take turns.

    Args:
        driver: The CUDA driver.

    Attributes:
        stream: The stream of the last run, or None before the first.
        event: The handle of the event that is recorded at the end of each run.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.stream: int | None = None
        self.event = int(driver.call("cuEventCreate", _EVENT_DISABLE_TIMING))

    def end(self, stream: int) -> None:
        """Marks the end of a run that was enqueued on `stream`. Raises CudaError."""
        self._driver.call("cuEventRecord", self.event, stream)
        self.stream = stream

    def follow(self, stream: int) -> None:
        """Makes `stream` wait for the last run. Raises CudaError."""
        self._driver.call("cuStreamWaitEvent", stream, self.event, 0)

    def synchronize(self) -> None:
        """Waits for the last run. Raises CudaError if it failed on the GPU."""
        if self.stream is not None:
            self._driver.call("cuEventSynchronize", self.event)

    def close(self) -> None:
        """Waits for the last run and destroys the event. Errors of earlier work on the device are
        ignored."""
        with contextlib.suppress(CudaError):
            self.synchronize()
        self.stream = None
        with contextlib.suppress(CudaError):
            self._driver.call("cuEventDestroy", self.event)
