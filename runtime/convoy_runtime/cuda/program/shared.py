# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the programs for the points of one artifact share on a GPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.driver.host_memory import HostMemory, HostResults
from convoy_runtime.manifest import Manifest

from .array_exchange import ArrayExchange
from .buffers import ProgramMemory
from .kept_graphs import KeptGraphs
from .run_graph import CopyKernels
from .turns import Turns

__all__ = ["Shared"]


class Shared:
    """The GPU, the memory and the lock of one program, or of several that run one after another.

    Args:
        index: The index of the GPU.
        manifests: The programs.
        most_graphs: The most CUDA graphs that are kept.

    Attributes:
        device: The GPU.
        lock: Held during each call.
        host_memory: Holds inputs in calls with host arrays, and outputs that `host_results` do not.
        host_results: Hold outputs in calls with host arrays.
        exchange: Borrows inputs and allocates results.
        turns: The last run.
        graphs: The CUDA graphs.
        copies: The kernels that copy inputs and outputs.

    Raises:
        DeviceError: The GPU or its driver is missing.
        CudaError: The device has too little memory.
    """

    def __init__(self, index: int, manifests: Sequence[Manifest], most_graphs: int = 1) -> None:
        self._users = 0
        self.lock = threading.RLock()
        self.device = Device(open_driver(), index)
        self.host_memory = HostMemory(self.device)
        self.host_results = HostResults(self.device)
        self.exchange = ArrayExchange(self.device)
        with self.device.current():
            self._memory: ProgramMemory | None = ProgramMemory(self.device, manifests)
            self.turns = Turns(self.device.driver)
        self.graphs = KeptGraphs(self.device, self.turns, most_graphs)
        self.copies = CopyKernels(self.device)

    @property
    def memory(self) -> ProgramMemory:
        """The static memory, until the last user has left."""
        assert self._memory is not None
        return self._memory

    def join(self) -> None:
        """Adds a user."""
        self._users += 1

    def leave(self) -> None:
        """Removes a user. The last one waits for the last run and frees the memory; arrays on the
        static buffers keep them alive. The device must be the thread's current one."""
        self._users -= 1
        if not self._users:
            self.turns.close()
            self.exchange.close()
            self.host_memory.close()
            self.host_results.close()
            self.copies.close()
            self._memory = None
