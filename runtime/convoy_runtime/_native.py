"""Loads the native library of an artifact from verified bytes, never from a path that someone else
could have written to."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import threading
import weakref
from pathlib import Path
from typing import Any

from ._abi import ABI_VERSION, BUILD_GRAPH, ENTRIES, SHARE_THREADS
from ._elf import elf_problem
from .errors import ArtifactError
from .timings import part

__all__ = ["NativeLibrary", "load_native"]

MEMBER = "native.so"

# By hand, because a function of ctypes.CDLL refers to itself: the garbage collector alone would
# find that a library is not used any more.
_dl = ctypes.CDLL(None)
_dlopen = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)(("dlopen", _dl))
_dlsym = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("dlsym", _dl))
_dlclose = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("dlclose", _dl))
_dlerror = ctypes.CFUNCTYPE(ctypes.c_char_p)(("dlerror", _dl))


class _Mapped:
    """A shared library that is unloaded with the last reference to it, or to one of its functions;
    a call has such a reference. `threads` is the library whose threads run the loops of this one,
    None when these are its own. Raises OSError."""

    def __init__(self, path: str, descriptor: int = -1) -> None:
        name = os.fsencode(path)
        if (handle := _dlopen(name, os.RTLD_NOW | os.RTLD_LOCAL)) is None:
            raise OSError((_dlerror() or b"").decode(errors="replace"))
        self._handle = handle
        self.threads: _Mapped | None = None
        # Not at exit: threads that the process does not wait for may be in a call.
        weakref.finalize(self, _unload, handle, name, descriptor).atexit = False

    def function(self, name: str, kind: Any) -> Any:
        """The function `name` as a `kind` of ctypes; None when the library does not export it."""
        if (address := _dlsym(self._handle, name.encode())) is None:
            return None
        function = kind(address)
        function.library = self
        return function


def _unload(handle: int, name: bytes, descriptor: int) -> None:
    _dlclose(handle)
    if descriptor < 0:
        return
    # The dynamic linker knows a library by its path, which has the number of the descriptor. So a
    # library that cannot be unloaded (DF_1_NODELETE) keeps it: another library with that number
    # would be taken for this one.
    if (still := _dlopen(name, os.RTLD_NOW | os.RTLD_NOLOAD)) is not None:
        _dlclose(still)
        return
    os.close(descriptor)


_lock = threading.Lock()
_loaded: weakref.WeakValueDictionary[bytes, NativeLibrary] = weakref.WeakValueDictionary()
#: The library whose threads run the loops of all libraries of the process.
_threads: weakref.ref[_Mapped] | None = None


class NativeLibrary:
    """A loaded native.so: `main` and `prepare_weights` are its two entries, `builder` finds the
    build function of a graph.

    A library is loaded once a process for each distinct content, and unloaded when nothing refers
    to it, or to one of its functions.
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
        entries = {
            name: self._function(name, ctypes.CFUNCTYPE(result, *arguments))
            for name, (result, arguments) in ENTRIES.items()
        }
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
        #: Gives what memory it was compiled for; `_sizes.check_sizes` compares that with a
        #: manifest.
        self.sizes = entries["convoy_sizes"]
        self.main = entries["convoy_main"]
        self.prepare_weights = entries["convoy_prepare_weights"]
        _share_threads(self._library)

    def builder(self, symbol: str | None) -> Any:
        """The build function of a graph, `Graph.symbol`; None for a graph that has only kernels.
        Raises ArtifactError when the library lacks it."""
        if symbol is None:
            return None
        return self._function(symbol, BUILD_GRAPH)

    def _function(self, name: str, kind: Any) -> Any:
        function = self._library.function(name, kind)
        if function is None:
            raise ArtifactError(
                problem=f"the library does not export {name}", path=self._path, member=MEMBER
            )
        return function


def _map(content: bytes | memoryview) -> _Mapped:
    """The library with this content. Raises OSError."""
    descriptor = -1
    # Sandboxes may have no memfd, or not run what lies in one; then, and when the content is at
    # fault, the file below has the word.
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.memfd_create("convoy-native", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        return _Mapped(f"/proc/self/fd/{descriptor}", descriptor)
    if descriptor >= 0:
        os.close(descriptor)
    import tempfile

    # A folder that only this user can enter. The mapping outlives the file.
    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        path = Path(folder) / MEMBER
        path.write_bytes(content)
        return _Mapped(str(path))


def _share_threads(library: _Mapped) -> None:
    """Has the loops of `library` run on the threads of the first library that has any; those two
    are then unloaded in this order."""
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
    """The library with this content; `path` names the artifact in messages. Raises
    ArtifactError."""
    digest = hashlib.sha256(content).digest()
    with _lock:
        library = _loaded.get(digest)
        if library is None:
            library = _loaded[digest] = NativeLibrary(content, path)
        return library


def _after_fork() -> None:
    # Another thread of the parent, which is not here, may have held it.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
