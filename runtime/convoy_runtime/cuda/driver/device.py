"""Checked calls of the CUDA driver through cuda.bindings, which is imported, and libcuda loaded,
when a device is opened."""

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

#: What to do in place of a fork.
_NO_FORK = (
    "start the process with the method spawn or forkserver of multiprocessing, or use CUDA "
    "only after the fork"
)

_HINTS = {
    "CUDA_ERROR_NO_DEVICE": "no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_INVALID_DEVICE": "there is no GPU of that number",
    "CUDA_ERROR_NOT_INITIALIZED": (
        f"CUDA does not work in a child of fork of a process that has initialized it: {_NO_FORK}"
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "the GPU's memory is full: close other programs, or compile for a smaller batch"
    ),
    "CUDA_ERROR_INVALID_PTX": "the driver does not take this PTX: update it",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the artifact's PTX: update it",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the artifact's kernels were compiled for newer GPUs",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "driver and libcuda differ in version: reboot, or look at LD_LIBRARY_PATH"
    ),
}


class Driver:
    """The driver's functions by name. `call("cuMemAlloc", n)` raises CudaError or returns what the
    function gives back."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls the function `name` and checks its CUresult."""
        found = getattr(self.module, name)(*arguments)
        if found[0] != 0:
            raise self._error(name, found[0])
        return found[1] if len(found) == 2 else found[1:] or None

    def _error(self, call: str, result: Any) -> CudaError:
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
    # Another thread of the parent, which is not here, may have held it.
    _lock, _forked = threading.Lock(), _forked or _driver is not None


os.register_at_fork(after_in_child=_after_fork)


def forked() -> bool:
    """Whether this process is a child of fork of one that had opened the driver. Its contexts are
    the parent's, so nothing of CUDA may be called here, not even to give something back."""
    return _forked


def check_process() -> None:
    """Raises DeviceError in a child of fork of a process that had opened the driver."""
    if _forked:
        raise DeviceError(
            problem=(
                "this process is a child of fork of one that had initialized CUDA, which "
                "does not work here"
            ),
            hint=_NO_FORK,
        )


@part("driver")
def open_driver() -> Driver:
    """Loads and initializes the driver, once a process. Raises DeviceError when the bindings,
    libcuda or a GPU are missing, and in a child of fork of a process that had opened the driver."""
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
                # What cuda.bindings raises when it cannot load the library itself.
                hint = (
                    "install NVIDIA's driver, or run where a GPU is; artifacts of the cpu "
                    "target need none"
                )
                raise DeviceError(
                    problem="the NVIDIA driver is not there: libcuda.so.1 cannot be loaded",
                    hint=hint,
                ) from error
            _driver = driver
        return _driver


class Device:
    """One GPU, through its primary context: the one that CUDA's runtime, and so PyTorch, uses as
    well."""

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
        # Never released: whoever holds memory of this device would have to be gone, and so would
        # every other user in this thread.
        self._context = driver.call("cuDevicePrimaryCtxRetain", self.handle)
        self._key = int(self._context)

    def attribute(self, name: str) -> int:
        """The device attribute CU_DEVICE_ATTRIBUTE_`name`."""
        kinds = self.driver.module.CUdevice_attribute
        return int(
            self.driver.call(
                "cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), self.handle
            )
        )

    @property
    def capability(self) -> int:
        """The compute capability as in the name of its architecture: 90 for sm_90."""
        return 10 * self.attribute("COMPUTE_CAPABILITY_MAJOR") + self.attribute(
            "COMPUTE_CAPABILITY_MINOR"
        )

    @contextmanager
    def finalizing(self) -> Iterator[None]:
        """As `current`, for destructors. The garbage collector may run one while this thread
        captures a stream, of this runtime's or of another library's, which giving memory back would
        end in any other mode (cuThreadExchangeStreamCaptureMode)."""
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

    def current(self) -> _Current:
        """Makes the device this thread's current one while the `with` lasts."""
        return _Current(self.driver, self._context, self._key)


class _Current:
    """A context that is current while the `with` lasts. Not a generator: every run of a program
    enters one."""

    __slots__ = ("_context", "_driver", "_key", "_pushed")

    def __init__(self, driver: Driver, context: Any, key: int) -> None:
        self._driver, self._context, self._key, self._pushed = driver, context, key, False

    def __enter__(self) -> None:
        if int(self._driver.call("cuCtxGetCurrent")) != self._key:
            self._driver.call("cuCtxPushCurrent", self._context)
            self._pushed = True

    def __exit__(self, *_: object) -> None:
        if self._pushed:
            self._driver.call("cuCtxPopCurrent")
