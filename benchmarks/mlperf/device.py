# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Batches on a GPU: samples in its memory, which are copied to the static input of a captured
program. The host enqueues a batch while earlier ones run, and waits once for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchmarks.mlperf.engine import SLOTS, Engine
from benchmarks.mlperf.gather import KernelGather
from convoy_runtime import Program
from convoy_runtime.cuda.driver.device import Device, open_driver
from convoy_runtime.cuda.driver.memory import Allocation
from convoy_runtime.cuda.program.executor import CudaProgram

__all__ = ["DeviceEngine"]

# CUstream_flags and CUevent_flags.
_STREAM_NON_BLOCKING = 1
_EVENT_DISABLE_TIMING = 2
#: Up to this number of samples, separate copies take less time than one kernel with its indices.
_FEW = 4


class DeviceEngine(Engine):
    """Samples in the memory of a GPU.

    Args:
        program: The loaded artifact, with weights. The CUDA graphs of all points are captured.
        index: The index of the GPU.
        gather: How more than a few samples are copied to the input: "kernel", one kernel of torch;
            "copies", one copy of the driver for each, which needs no torch.

    Raises:
        ArgumentError: The program has no batches of one input.
        DeviceError: The gather is "kernel", and torch has no CUDA.
    """

    def __init__(
        self, program: Program, index: int = 0, gather: Literal["kernel", "copies"] = "kernel"
    ) -> None:
        super().__init__(program)
        self._driver = open_driver()
        self._device = Device(self._driver, index)
        self._bytes = self._spec.bytes // self.most
        self._graphs: dict[int, CudaProgram] = {}
        for size, each in self.programs.items():
            assert isinstance(each, CudaProgram)
            each.capture()
            self._graphs[size] = each
        self._inputs = {size: each.static_inputs[0] for size, each in self._graphs.items()}
        with self._device.current():
            self._stream = int(self._driver.call("cuStreamCreate", _STREAM_NON_BLOCKING))
            self._events = [
                self._driver.call("cuEventCreate", _EVENT_DISABLE_TIMING) for _ in range(SLOTS)
            ]
        self._gather: KernelGather | None = None
        if gather == "kernel":
            inputs = {size: each.pointer for size, each in self._inputs.items()}
            self._gather = KernelGather(index, self._stream, inputs, self._bytes)
        self._memory: Allocation | None = None
        self._places: dict[int, int] = {}

    def load(self, indices: Sequence[int]) -> None:
        if set(indices) == self._places.keys():
            return
        self._memory = Allocation(self._device, len(indices) * self._bytes)
        self._places = {index: place for place, index in enumerate(indices)}
        with self._device.current():
            for index, place in self._places.items():
                row = self._row(index)
                pointer = self._memory.pointer + place * self._bytes
                self._driver.call("cuMemcpyHtoD", pointer, row.ctypes.data, row.nbytes)
        if self._gather is not None:
            self._gather.use(self._memory.pointer, len(indices))
        # The first kernel and the first replay of each graph take longer.
        for size in self.sizes:
            self.start(0, [indices[row % len(indices)] for row in range(size)])
            self.finish(0)

    def close(self) -> None:
        with self._device.current():
            self._driver.call("cuStreamSynchronize", self._stream)
            if self._gather is not None:
                self._gather.close()
            for event in self._events:
                self._driver.call("cuEventDestroy", event)
            self._driver.call("cuStreamDestroy", self._stream)
        self._memory, self._places, self._events = None, {}, []

    def start(self, slot: int, indices: Sequence[int]) -> None:
        assert self._memory is not None
        size = self.size_for(len(indices))
        places = [self._places[index] for index in indices]
        call, stream, width = self._driver.call, self._stream, self._bytes
        with self._device.current():
            if self._gather is not None and len(places) > _FEW:
                self._gather(slot, size, places)
            else:
                target, source = self._inputs[size].pointer, self._memory.pointer
                for place in places:
                    call("cuMemcpyDtoDAsync", target, source + place * width, width, stream)
                    target += width
            self._graphs[size].replay(stream)
            call("cuEventRecord", self._events[slot], stream)

    def finish(self, slot: int) -> None:
        with self._device.current():
            self._driver.call("cuEventSynchronize", self._events[slot])
