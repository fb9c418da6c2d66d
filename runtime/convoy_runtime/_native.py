# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads the native library of an artifact from verified bytes, never from a path that other users
can write to."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._abi import ABI_VERSION, BUILD_GRAPH, ENTRIES, RUN_ENTRIES, SHARE_THREADS
from ._elf import elf_problem
from .errors import ArtifactError
from .timings import part

__all__ = ["NativeLibrary", "load_native"]

MEMBER = "native.so"

# Declared by hand: a function of ctypes.CDLL is a reference cycle, so that only the garbage
# collector would release the library.
_dl = ctypes.CDLL(None)
_dlopen = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)(("dlopen", _dl))
_dlsym = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("dlsym", _dl))
_dlclose = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("dlclose", _dl))
_dlerror = ctypes.CFUNCTYPE(ctypes.c_char_p)(("dlerror", _dl))


class _Mapped:
    """A shared library, unloaded with the last reference to it or to one of its functions. A
    running call holds such a reference. `threads` is the library whose threads run the loops of
    this one, None if this one runs them. Raises OSError."""

    def __init__(self, path: str, descriptor: int = -1) -> None:
        name = os.fsencode(path)
        if (handle := _dlopen(name, os.RTLD_NOW | os.RTLD_LOCAL)) is None:
            raise OSError((_dlerror() or b"").decode(errors="replace"))
        self._handle = handle
        self.threads: _Mapped | None = None
        # Not at exit: daemon threads may be in a call.
        weakref.finalize(self, _unload, handle, name, descriptor).atexit = False

    def function(self, name: str, kind: Any) -> Any:
        """The function `name` with the ctypes prototype `kind`, or None if it is not exported."""
        if (address := _dlsym(self._handle, name.encode())) is None:
            return None
        function = kind(address)
        function.library = self
        return function


def _unload(handle: int, name: bytes, descriptor: int) -> None:
    _dlclose(handle)
    if descriptor < 0:
        return
    # The dynamic linker identifies a library by its path, which contains the descriptor's number.
    # A library that cannot be unloaded (DF_1_NODELETE) keeps the descriptor, because the linker
    # would return it for another library with the same number.
    if (loaded := _dlopen(name, os.RTLD_NOW | os.RTLD_NOLOAD)) is not None:
        _dlclose(loaded)
        return
    os.close(descriptor)


_lock = threading.Lock()
_loaded: weakref.WeakValueDictionary[bytes, NativeLibrary] = weakref.WeakValueDictionary()
#: The library whose threads run the parallel loops of all libraries in the process.
_threads: weakref.ref[_Mapped] | None = None


class NativeLibrary:
    """A loaded native.so.

    Each distinct content is loaded once per process, and unloaded with the last reference to the
    library or one of its functions.

    Attributes:
        main: `convoy_main`.
        prepare_weights: `convoy_prepare_weights`.
        sizes: `convoy_sizes`, the memory that the code was compiled for; `_sizes.check_sizes`
            compares it with a manifest.
    """

    def __init__(self, content: bytes | memoryview, path: object) -> None:
        self._path = path
        if (problem := elf_problem(content)) is not None:
            raise ArtifactError(problem=problem, path=path, member=MEMBER)
        try:
            self._library = _map(content)
        except OSError as error:
            problem = f"the library cannot be loaded: {error}"
            raise ArtifactError(problem=problem, path=path, member=MEMBER) from error
        entries = self._functions(ENTRIES)
        version = entries["convoy_abi_version"]()
        if version != ABI_VERSION:
            problem = "the library was generated for another ABI"
            raise ArtifactError(
                problem=problem,
                path=path,
                member=MEMBER,
                field="convoy_abi_version",
                expected=str(ABI_VERSION),
                got=str(version),
            )
        self.sizes = entries["convoy_sizes"]
        self.main = entries["convoy_main"]
        self.prepare_weights = entries["convoy_prepare_weights"]
        _share_threads(self._library)

    def builder(self, symbol: str | None) -> Any:
        """The build function of a graph.

        Args:
            symbol: `Graph.symbol`.

        Returns:
            The function, or None for a graph without a build function, which only kernels compute.

        Raises:
            ArtifactError: The library does not export the function.
        """
        if symbol is None:
            return None
        return self._function(symbol, BUILD_GRAPH)

    def run_functions(self) -> tuple[Any, Any]:
        """Returns `convoy_begin_run` and `convoy_end_run`. They take untyped pointers: each run
        calls them, and ctypes converts a structure or an array to a typed pointer in 110 ns, and
        an address to an untyped one in less than 10.

        Raises:
            ArtifactError: The library does not export them.
        """
        untyped = {
            name: (result, (ctypes.c_void_p,) * len(arguments))
            for name, (result, arguments) in RUN_ENTRIES.items()
        }
        begin, end, _ = self._functions(untyped).values()
        return begin, end

    def copy_kernels(self) -> bytes:
        """Returns the PTX of the kernels that copy inputs. Raises ArtifactError if the library does
        not export it."""
        result, arguments = RUN_ENTRIES["convoy_copy_kernels"]
        found = self._function("convoy_copy_kernels", ctypes.CFUNCTYPE(result, *arguments))()
        return bytes(found)

    def _functions(self, entries: Mapping[str, tuple[type, tuple[type, ...]]]) -> dict[str, Any]:
        return {
            name: self._function(name, ctypes.CFUNCTYPE(result, *arguments))
            for name, (result, arguments) in entries.items()
        }

    def _function(self, name: str, kind: Any) -> Any:
        function = self._library.function(name, kind)
        if function is None:
            raise ArtifactError(
                problem=f"the library does not export {name}", path=self._path, member=MEMBER
            )
        return function


def _map(content: bytes | memoryview) -> _Mapped:
    """Maps the library with this content. Raises OSError."""
    descriptor = -1
    # Sandboxes may lack memfd, or not allow to execute from one. The temporary file below is the
    # fallback, and reports the error of invalid content.
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.memfd_create("convoy-native", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        return _Mapped(f"/proc/self/fd/{descriptor}", descriptor)
    if descriptor >= 0:
        os.close(descriptor)
    import tempfile

    # A folder with permissions for this user only. The mapping outlives the file.
    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        path = Path(folder) / MEMBER
        path.write_bytes(content)
        return _Mapped(str(path))


def _share_threads(library: _Mapped) -> None:
    """Makes the loops of `library` run on the threads of the first library that has any, which
    then outlives `library`."""
    global _threads
    share = library.function("convoy_share_threads", SHARE_THREADS)
    if share is None:
        return
    first = None if _threads is None else _threads()
    if first is None:
        _threads = weakref.ref(library)
        return
    share(first.function("convoy_share_threads", SHARE_THREADS)(None))
    library.threads = first


@part("native library")
def load_native(content: bytes | memoryview, *, path: object = None) -> NativeLibrary:
    """Loads a native library, or returns the loaded one with the same content.

    Args:
        content: The verified member native.so.
        path: The artifact, for messages.

    Returns:
        The library.

    Raises:
        ArtifactError: The content is not a library of this ABI version.
    """
    digest = hashlib.sha256(content).digest()
    with _lock:
        library = _loaded.get(digest)
        if library is None:
            library = _loaded[digest] = NativeLibrary(content, path)
        return library


def _after_fork() -> None:
    # A thread of the parent, which the child does not have, may hold the lock.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
