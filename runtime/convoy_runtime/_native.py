"""Loads the native library of an artifact from verified bytes, never from a path that someone else could have written to."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from ._abi import ABI_VERSION, BUILD_GRAPH, ENTRIES
from .errors import ArtifactError
from .timings import part

__all__ = ["NativeLibrary", "load_native"]

MEMBER = "native.so"

_lock = threading.Lock()
_loaded: dict[bytes, NativeLibrary] = {}


class NativeLibrary:
    """A loaded native.so: `main` and `prepare_weights` are its two entries, `builder` finds the build function of a graph.

    A library is loaded once a process for each distinct content and stays: code in it may still be on some thread's stack. Its
    file descriptor stays open as well, because the loader knows a library by its path, and a closed number is given out again.
    """

    def __init__(self, content: bytes | memoryview, path: object) -> None:
        self._path = path
        self._descriptor = -1
        try:
            self._library = self._load(content)
        except OSError as error:
            problem = f"the library cannot be loaded: {error}"
            raise ArtifactError(problem=problem, path=path, member=MEMBER) from error
        entries = {}
        for name, (result, arguments) in ENTRIES.items():
            entry = self._symbol(name)
            entry.restype, entry.argtypes = result, arguments
            entries[name] = entry
        version = entries["convoy_abi_version"]()
        if version != ABI_VERSION:
            problem = "the library was generated for another ABI"
            raise ArtifactError(
                problem=problem, path=path, member=MEMBER, field="convoy_abi_version", expected=str(ABI_VERSION), got=str(version)
            )
        self.main = entries["convoy_main"]
        self.prepare_weights = entries["convoy_prepare_weights"]

    def builder(self, symbol: str | None) -> Any:
        """The build function of a graph, `Graph.symbol`; None for a graph that has only kernels. Raises ArtifactError when the library
        lacks it."""
        if symbol is None:
            return None
        return BUILD_GRAPH(ctypes.cast(self._symbol(symbol), ctypes.c_void_p).value or 0)

    def _symbol(self, name: str) -> Any:
        try:
            return getattr(self._library, name)
        except AttributeError as error:
            raise ArtifactError(problem=f"the library does not export {name}", path=self._path, member=MEMBER) from error

    def _load(self, content: bytes | memoryview) -> ctypes.CDLL:
        mode = os.RTLD_NOW | os.RTLD_LOCAL
        # Sandboxes may have no memfd, or not run what lies in one; then, and when the content is at fault, the file below has the word.
        with contextlib.suppress(OSError, AttributeError):
            self._descriptor = os.memfd_create("convoy-native", os.MFD_CLOEXEC)
            with os.fdopen(self._descriptor, "wb", closefd=False) as file:
                file.write(content)
            return ctypes.CDLL(f"/proc/self/fd/{self._descriptor}", mode=mode)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        import tempfile

        # A folder that only this user can enter. The mapping outlives the file.
        with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
            path = Path(folder) / MEMBER
            path.write_bytes(content)
            return ctypes.CDLL(str(path), mode=mode)


@part("native library")
def load_native(content: bytes | memoryview, *, path: object = None) -> NativeLibrary:
    """The library with this content; `path` names the artifact in messages. Raises ArtifactError."""
    digest = hashlib.sha256(content).digest()
    with _lock:
        if digest not in _loaded:
            _loaded[digest] = NativeLibrary(content, path)
        return _loaded[digest]
