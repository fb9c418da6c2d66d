# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The CUDA graphs of the programs for the points of one artifact."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.errors import CudaError

from .run_graph import RunGraph
from .turns import Turns

__all__ = ["KeptGraphs"]


class KeptGraphs:
    """CUDA graphs that are captured on first use. Above a number of them, or if the device has no
    memory for another one, the least recently used one is destroyed, and captured again on its next
    use.

    The device must be the thread's current one in every call. Not thread-safe.

    Args:
        device: The GPU.
        turns: The last run of all programs.
        most: The most graphs that are kept.
    """

    def __init__(self, device: Device, turns: Turns, most: int) -> None:
        self._device, self._turns, self._most = device, turns, most
        self._kept: OrderedDict[object, RunGraph] = OrderedDict()

    def get(self, key: object, capture: Callable[[], RunGraph]) -> RunGraph:
        """The graph of a program.

        Args:
            key: Identifies the program.
            capture: Captures the graph, if it is not kept.

        Returns:
            The graph, which stays valid until the next call.

        Raises:
            CudaError: The last run failed, or what `capture` raises.
        """
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        # Relaxed, because the caller may capture a stream of its own on this thread.
        with self._device.relaxed():
            while len(self._kept) >= self._most:
                self._drop_oldest()
            while True:
                try:
                    self._kept[key] = made = capture()
                except CudaError as error:
                    if not error.out_of_memory or not self._kept:
                        raise
                    self._drop_oldest()
                else:
                    return made

    def drop(self, key: object) -> None:
        """Destroys the graph of a program, if it is kept. Its last run must have finished."""
        if (found := self._kept.pop(key, None)) is not None:
            found.close()

    def _drop_oldest(self) -> None:
        # Runs take turns, so after the last one no graph is in flight.
        self._turns.synchronize()
        self._kept.popitem(last=False)[1].close()

    def __contains__(self, key: object) -> bool:
        return key in self._kept
