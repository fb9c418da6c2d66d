# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles PTX to machine code, on threads ahead of use: with nvJitLink if it is installed and
supports the PTX, else with the driver's compiler. Errors contain the log of ptxas.

On GPUs with programmatic dependent launch, all kernels first wait for the previous kernel
(`dependent_launch`)."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from convoy_runtime.errors import CudaError

from .dependent_launch import has_dependent_launch, wait_first
from .device import Device
from .nvjitlink import open_nvjitlink

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["PtxCompiler", "identity_of", "load_code", "load_ptx"]

_T = TypeVar("_T")

#: The size of the buffer for the compiler's messages. The driver truncates longer ones.
_LOG_BYTES = 8192
#: An architecture whose code runs on no other one, in PTX for it.
_ONLY = re.compile(rb"^\.target\s+(sm_\d+[af])", re.MULTILINE)


class PtxCompiler:
    """Compiles PTX for a GPU. Only `ahead` starts threads.

    Args:
        device: The GPU.
        text: Returns the PTX with a name.
    """

    def __init__(self, device: Device, text: Callable[[str], bytes]) -> None:
        self._device, self._text = device, text
        self._started: dict[str, Future[bytes]] = {}

    @contextmanager
    def ahead(self, names: Sequence[str]) -> Iterator[None]:
        """Compiles the PTX with `names` in order inside the `with`, on one thread per core.

        At the end of the `with`, pending texts are cancelled and running ones are waited for. An
        error is raised only by `machine_code` of its name.
        """
        if not names:
            yield
            return
        # Imported here, because a load that compiles nothing does not need it.
        from concurrent.futures import ThreadPoolExecutor

        threads = ThreadPoolExecutor(
            min(len(names), len(os.sched_getaffinity(0))), thread_name_prefix="ptx"
        )
        try:
            self._started = {
                name: threads.submit(self._compile, name) for name in dict.fromkeys(names)
            }
            yield
        finally:
            self._started = {}
            threads.shutdown(cancel_futures=True)

    def wait(self) -> None:
        """Returns when the threads are idle."""
        for future in self._started.values():
            future.exception()

    def machine_code(self, name: str) -> bytes:
        """Returns the machine code of the PTX with `name`, compiled ahead or now. Raises CudaError
        with the log of ptxas."""
        future = self._started.get(name)
        return self._compile(name) if future is None else future.result()

    def _compile(self, name: str) -> bytes:
        text = _for_device(self._device, self._text(name)) + b"\0"
        library = open_nvjitlink(self._device.driver.call("cuDriverGetVersion") // 1000)
        code = (
            None
            if library is None
            else library.machine_code(name, text, _architecture(self._device, text))
        )
        # The driver supports other PTX, or gives the reason why it does not.
        return self._compile_by_driver(name, text) if code is None else code

    def _compile_by_driver(self, name: str, text: bytes) -> bytes:
        call, kind = (
            self._device.driver.call,
            self._device.driver.module.CUjitInputType.CU_JIT_INPUT_PTX,
        )

        def compiled(options: list[Any], values: list[Any]) -> bytes:
            state = call("cuLinkCreate", len(options), options, values)
            try:
                call("cuLinkAddData", state, kind, text, len(text), name.encode(), 0, [], [])
                pointer, size = call("cuLinkComplete", state)
                return ctypes.string_at(int(pointer), int(size))
            finally:
                with suppress(CudaError):
                    call("cuLinkDestroy", state)

        # A new thread has no current context.
        with self._device.current():
            return _quoting(self._device, compiled)


def _for_device(device: Device, text: bytes) -> bytes:
    return wait_first(text) if has_dependent_launch(device) else text


def _architecture(device: Device, text: bytes) -> str:
    """Returns the target architecture of PTX: the architecture-specific one that it requires, or
    else that of the device."""
    only = _ONLY.search(text)
    return f"sm_{device.capability}" if only is None else only[1].decode()


def identity_of(device: Device, sha256: str) -> str:
    """Identifies the PTX that is compiled for a GPU: the hash of the artifact's, and whether its
    kernels wait."""
    return f"waits-{sha256}" if has_dependent_launch(device) else sha256


def load_code(device: Device, code: bytes) -> Any:
    """Returns a CUmodule of machine code on the device, which must be current. Raises CudaError."""
    # The buffer ends with a zero, so that the driver stops reading data that is not machine code.
    buffer = ctypes.create_string_buffer(code)
    return device.driver.call("cuModuleLoadData", ctypes.addressof(buffer))


def load_ptx(device: Device, text: bytes) -> Any:
    """Returns a CUmodule of PTX on the device, which must be current. Raises CudaError with the log
    of ptxas."""
    image = ctypes.create_string_buffer(_for_device(device, text))

    def loaded(options: list[Any], values: list[Any]) -> Any:
        return device.driver.call(
            "cuModuleLoadDataEx", ctypes.addressof(image), len(options), options, values
        )

    return _quoting(device, loaded)


def _quoting(device: Device, compiled: Callable[[list[Any], list[Any]], _T]) -> _T:
    """Calls `compiled` with options and values for the driver's compiler, and returns its result.
    Adds the compiler's messages to its errors."""
    kinds, log = device.driver.module.CUjit_option, bytearray(_LOG_BYTES)
    options = [kinds.CU_JIT_ERROR_LOG_BUFFER, kinds.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    try:
        return compiled(options, [log, len(log)])
    except CudaError as error:
        text = log.partition(b"\0")[0].decode(errors="replace").strip() or "no message"
        detail = f"the driver's compiler, for sm_{device.capability}: {text}"
        raise CudaError(
            call=error.call,
            name=error.name,
            description=error.description,
            hint=error.hint,
            detail=detail,
        ) from error
