# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The native functions that enqueue the runs of a program: `convoy_begin_run` and `convoy_end_run`
of convoy_abi.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_uint64
from functools import lru_cache
from typing import Final

from convoy_runtime._abi import ABI_VERSION, CAPTURING, ConvoyDriver, ConvoyRun, ConvoyWindow
from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.interface import Window

__all__ = ["NativeRuns", "RunArrays"]

#: The functions of the driver, in the order of ConvoyDriver.
_FUNCTIONS: Final = (
    "cuStreamIsCapturing",
    "cuMemsetD8Async",
    "cuMemsetD2D8Async",
    "cuMemcpyAsync",
    "cuMemcpy2DAsync",
    "cuGraphLaunch",
    "cuEventRecord",
    "cuGraphExecKernelNodeSetParams",
    "cuGraphNodeSetEnabled",
    "cuLaunchKernel",
)
#: The version of CUDA that introduced the newest variant of them that is called.
_CUDA_VERSION: Final = 12000


class RunArrays:
    """The windows of the arrays of a call.

    Args:
        table: The functions of the driver.
        inputs: The address of each input's buffer, and its window.
        outputs: The same for the outputs.

    Attributes:
        run: The ConvoyRun.
        address: Its address, as an argument of native functions.
        inputs: The type of the addresses of the inputs.
        outputs: The type of the addresses of the outputs.
    """

    __slots__ = ("_windows", "address", "inputs", "outputs", "run")

    def __init__(
        self,
        table: ConvoyDriver,
        inputs: Sequence[tuple[int, Window]],
        outputs: Sequence[tuple[int, Window]],
    ) -> None:
        self._windows = _windows(inputs), _windows(outputs)
        self.run = ConvoyRun(ctypes.pointer(table), *self._windows, len(inputs), len(outputs), 0, 0)
        self.address = ctypes.addressof(self.run)
        self.inputs, self.outputs = c_uint64 * len(inputs), c_uint64 * len(outputs)


class NativeRuns:
    """Enqueues the two parts of a run, between which the caller allocates the results.

    Args:
        driver: The CUDA driver.
        native: The native library of the program.

    Raises:
        ArtifactError: The library does not export the functions.
        CudaError: The driver lacks a function.
    """

    def __init__(self, driver: Driver, native: NativeLibrary) -> None:
        self._driver = driver
        self._begin, self._end = native.run_functions()
        self._table = _table(driver)

    def arrays(
        self, inputs: Sequence[tuple[int, Window]], outputs: Sequence[tuple[int, Window]]
    ) -> RunArrays:
        """The windows of the arrays of a call. Arguments as `RunArrays`."""
        return RunArrays(self._table, inputs, outputs)

    def begin(
        self,
        arrays: RunArrays,
        graph: int | None,
        pointers: Sequence[int],
        stream: int,
        from_host: bool,
    ) -> bool:
        """Enqueues the copies of the inputs and the launch.

        Args:
            arrays: The windows.
            graph: The address of the ConvoyGraph, or None to launch nothing.
            pointers: The address of each input.
            stream: The handle of the stream.
            from_host: Whether the inputs are in host memory.

        Returns:
            Whether it is enqueued. With a graph, nothing is enqueued on a stream that is being
            captured.

        Raises:
            CudaError: The driver fails.
        """
        addresses = arrays.inputs(*pointers) if pointers else None
        status = self._begin(arrays.address, graph, addresses, from_host, stream)
        if status and status != CAPTURING:
            raise self._error(arrays.run, status)
        return not status

    def end(
        self,
        arrays: RunArrays,
        graph: int,
        pointers: Sequence[int],
        event: int | None,
        stream: int,
        to_host: bool,
    ) -> None:
        """Enqueues the copies of the outputs and the record of an event.

        Args:
            arrays: The windows.
            graph: The address of the run's ConvoyGraph.
            pointers: The address of each output.
            event: The handle of the event, or None to record none.
            stream: The handle of the stream.
            to_host: Whether the outputs are in host memory.

        Raises:
            CudaError: The driver fails. After a copy that fails, the event is recorded.
        """
        addresses = arrays.outputs(*pointers) if pointers else None
        if status := self._end(arrays.address, graph, addresses, to_host, event, stream):
            raise self._error(arrays.run, status)

    def _error(self, run: ConvoyRun, status: int) -> Exception:
        result = self._driver.module.CUresult(status)
        return self._driver.error(_FUNCTIONS[run.failed], result)


@lru_cache(maxsize=1)
def _table(driver: Driver) -> ConvoyDriver:
    """The functions of the driver, which all programs of a process share. Raises CudaError."""
    return ConvoyDriver(
        ABI_VERSION,
        0,
        *(
            int(driver.call("cuGetProcAddress", name.encode(), _CUDA_VERSION, 0)[0])
            for name in _FUNCTIONS
        ),
    )


def _windows(buffers: Sequence[tuple[int, Window]]) -> ctypes.Array[ConvoyWindow]:
    return (ConvoyWindow * len(buffers))(
        *(
            ConvoyWindow(buffer, window.rows, window.width, window.pitch)
            for buffer, window in buffers
        )
    )
