# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles PTX to machine code with nvJitLink, a library of the CUDA toolkit that needs neither the
driver nor a context, and compiles in any number of threads at once."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast

__all__ = ["NvJitLink", "open_nvjitlink"]

_LIBRARY: Final = "libnvJitLink.so.{}"
#: nvJitLinkInputType.
_PTX: Final = 2

_lock = threading.Lock()
_opened: dict[str, NvJitLink | None] = {}


def _after_fork() -> None:
    # A thread of the parent, which the child does not have, may hold the lock.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class NvJitLink:
    """The functions of the library. They may be called from several threads at once.

    Args:
        library: The loaded library.

    Raises:
        AttributeError: It lacks a function.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        handle, size = ctypes.c_void_p, ctypes.c_size_t

        def function(name: str, *kinds: Any) -> Callable[..., int]:
            found: Any = getattr(library, f"nvJitLink{name}")
            found.argtypes = kinds
            return cast("Callable[..., int]", found)

        self._create = function(
            "Create", ctypes.POINTER(handle), ctypes.c_uint32, ctypes.POINTER(ctypes.c_char_p)
        )
        self._add = function(
            "AddData", handle, ctypes.c_int, ctypes.c_char_p, size, ctypes.c_char_p
        )
        self._complete = function("Complete", handle)
        self._size = function("GetLinkedCubinSize", handle, ctypes.POINTER(size))
        self._cubin = function("GetLinkedCubin", handle, ctypes.c_char_p)
        self._destroy = function("Destroy", ctypes.POINTER(handle))

    def machine_code(self, name: str, text: bytes, architecture: str) -> bytes | None:
        """Compiles PTX.

        Args:
            name: Its name.
            text: The PTX, which ends with a zero.
            architecture: The architecture to compile for, e.g. sm_90a.

        Returns:
            The cubin; None if the library does not support the PTX or the architecture.
        """
        handle, size = ctypes.c_void_p(), ctypes.c_size_t()
        options = (ctypes.c_char_p * 1)(f"-arch={architecture}".encode())
        if self._create(ctypes.byref(handle), len(options), options):
            return None
        try:
            if (
                self._add(handle, _PTX, text, len(text), name.encode())
                or self._complete(handle)
                or self._size(handle, ctypes.byref(size))
            ):
                return None
            code = ctypes.create_string_buffer(size.value)
            return None if self._cubin(handle, code) else code.raw
        finally:
            self._destroy(ctypes.byref(handle))


def open_nvjitlink(major: int) -> NvJitLink | None:
    """Loads nvJitLink, from the first of: CONVOY_NVJITLINK, the library that this process has
    already loaded, the nvidia-nvjitlink wheel, the system.

    Args:
        major: The major version of CUDA that the driver supports. The driver loads the machine code
            of every library of this version.

    Returns:
        The library; None if there is none.
    """
    name = _LIBRARY.format(major)
    key = os.environ.get("CONVOY_NVJITLINK") or name
    with _lock:
        if key not in _opened:
            _opened[key] = next(_found(key, name, major), None)
        return _opened[key]


def _found(key: str, name: str, major: int) -> Iterator[NvJitLink]:
    for path, mode in [(key, os.RTLD_NOW)] if key != name else _places(name, major):
        try:
            yield NvJitLink(ctypes.CDLL(path, mode=mode))
        except (OSError, AttributeError):
            continue


def _places(name: str, major: int) -> Iterator[tuple[str, int]]:
    yield name, os.RTLD_NOW | os.RTLD_NOLOAD
    for folder in sys.path:
        path = Path(folder or ".") / "nvidia" / f"cu{major}" / "lib" / name
        if path.is_file():
            yield str(path.resolve()), os.RTLD_NOW
    yield name, os.RTLD_NOW
