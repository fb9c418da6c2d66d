# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checked calls of the CUDA driver through cuda.bindings. `open_driver` imports it and loads
libcuda."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from convoy_runtime.errors import CudaError, DeviceError
from convoy_runtime.timings import part

__all__ = ["Device", "Driver", "check_process", "forked", "open_driver"]

#: The hint for processes that fork.
_NO_FORK = (
    "start the process with the method spawn or forkserver of multiprocessing, or use CUDA "
    "only after the fork"
)

_HINTS = {
    "CUDA_ERROR_NO_DEVICE": "no GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_INVALID_DEVICE": "there is no GPU with that index",
    "CUDA_ERROR_NOT_INITIALIZED": (
        f"CUDA does not work in a process forked from one that has initialized it: {_NO_FORK}"
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "the GPU's memory is full: close other programs, or compile for a smaller batch"
    ),
    "CUDA_ERROR_INVALID_PTX": "the driver does not support this PTX: update it",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the artifact's PTX: update it",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the artifact's kernels were compiled for newer GPUs",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "driver and libcuda differ in version: reboot, or check LD_LIBRARY_PATH"
    ),
}


class Driver:
    """The driver's functions by name, e.g. `call("cuMemAlloc", n)`.

    Runs of a program call functions of `module` and check the status in place, which takes 0.04 us.
    `call` adds 0.27 us to a function.

    Attributes:
        module: The functions. Each returns a tuple of its status and its results.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls the function `name` and returns its results: None, one, or a tuple of several.
        Raises CudaError."""
        found = getattr(self.module, name)(*arguments)
        if found[0]:
            raise self.error(name, found[0])
        return found[1] if len(found) == 2 else found[1:] or None

    def error(self, call: str, result: Any) -> CudaError:
        """The error of the function `call`, which returned the status `result`."""

        def text(name: str) -> str:
            status, value = getattr(self.module, name)(result)
            return value.decode() if status == 0 and value else str(int(result))

        name = text("cuGetErrorName")
        return CudaError(
            call=call, name=name, description=text("cuGetErrorString"), hint=_HINTS.get(name)
        )


_lock = threading.Lock()
_driver: Driver | None = None
_forked = False


def _after_fork() -> None:
    global _lock, _forked
    # A thread of the parent, which the child does not have, may hold the lock.
    _lock, _forked = threading.Lock(), _forked or _driver is not None


os.register_at_fork(after_in_child=_after_fork)


def forked() -> bool:
    """Returns whether this process was forked from one that had opened the driver. The contexts
    belong to the parent, so CUDA must not be called here, not even to free memory."""
    return _forked


def check_process() -> None:
    """Raises DeviceError if this process was forked from one that had opened the driver."""
    if _forked:
        raise DeviceError(
            problem=(
                "this process was forked from one that had initialized CUDA, which does not "
                "work here"
            ),
            hint=_NO_FORK,
        )


@part("driver")
def open_driver() -> Driver:
    """Loads and initializes the driver, once per process.

    Raises:
        DeviceError: The bindings, libcuda or a GPU are missing, or this process was forked from one
            that had opened the driver.
    """
    global _driver
    check_process()
    with _lock:
        if _driver is None:
            try:
                with part("imports"):
                    from cuda.bindings import driver as module  # type: ignore[import-untyped]
            except ImportError as error:
                raise DeviceError(
                    problem=f"cuda.bindings cannot be imported: {error}",
                    hint="pip install cuda-bindings",
                ) from error
            driver = Driver(module)
            try:
                driver.call("cuInit", 0)
            except RuntimeError as error:
                # cuda.bindings raises this if it cannot load libcuda.
                hint = (
                    "install NVIDIA's driver, or use a machine with a GPU; artifacts of the cpu "
                    "target need none"
                )
                raise DeviceError(
                    problem="the NVIDIA driver is missing: libcuda.so.1 cannot be loaded",
                    hint=hint,
                ) from error
            _driver = driver
        return _driver


class Device:
    """One GPU, through its primary context, which CUDA's runtime and PyTorch use as well.

    Args:
        driver: The CUDA driver.
        index: The index of the GPU among the visible ones.

    Raises:
        DeviceError: There is no such GPU.
    """

    @part("context")
    def __init__(self, driver: Driver, index: int) -> None:
        count = driver.call("cuDeviceGetCount")
        if index >= count:
            raise DeviceError(
                problem=(
                    f"cuda:{index}: expected a GPU below {count}, the number of those "
                    f"visible, got {index}"
                )
            )
        self.driver, self.index = driver, index
        self.handle = driver.call("cuDeviceGet", index)
        self.name: str = driver.call("cuDeviceGetName", 256, self.handle).split(b"\0")[0].decode()
        # Never released: memory of this device and other users of the primary context may need it
        # until the process ends.
        self._context = driver.call("cuDevicePrimaryCtxRetain", self.handle)

    def attribute(self, name: str) -> int:
        """Returns the device attribute CU_DEVICE_ATTRIBUTE_`name`."""
        kinds = self.driver.module.CUdevice_attribute
        return int(
            self.driver.call(
                "cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), self.handle
            )
        )

    @property
    def capability(self) -> int:
        """The compute capability as in the name of the architecture, e.g. 90 for sm_90."""
        return 10 * self.attribute("COMPUTE_CAPABILITY_MAJOR") + self.attribute(
            "COMPUTE_CAPABILITY_MINOR"
        )

    @contextmanager
    def relaxed(self) -> Iterator[None]:
        """Like `current`, for destructors and other code that may run while this runtime or another
        library captures a stream on this thread. Freeing memory or waiting invalidates the capture
        in all modes except relaxed (cuThreadExchangeStreamCaptureMode)."""
        with self.current():
            name, relaxed = (
                "cuThreadExchangeStreamCaptureMode",
                self.driver.module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED,
            )
            before = self.driver.call(name, relaxed)
            try:
                yield
            finally:
                self.driver.call(name, before)

    def enter(self) -> bool:
        """Makes the device the thread's current one. Returns whether it was not. If so, `leave`
        must be called. Raises CudaError."""
        status, context = self.driver.module.cuCtxGetCurrent()
        if status:
            raise self.driver.error("cuCtxGetCurrent", status)
        if context == self._context:
            return False
        self.driver.call("cuCtxPushCurrent", self._context)
        return True

    def leave(self) -> None:
        """Undoes an `enter`. Raises CudaError."""
        self.driver.call("cuCtxPopCurrent")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes the device the thread's current one inside a `with`."""
        entered = self.enter()
        try:
            yield
        finally:
            if entered:
                self.leave()
