# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds and loads cuDNN. Nothing is loaded before `open_cudnn` is called."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from convoy_runtime.errors import DeviceError
from convoy_runtime.timings import part

from .library import INSTALL_HINT, Cudnn, version_text

__all__ = ["load_libraries", "open_cudnn"]

LIBRARY = "libcudnn.so.9"
#: The oldest cuDNN that reports the workspace of an engine configuration before its plan is built.
MINIMUM = 90200

_lock = threading.Lock()
_opened: dict[str, Cudnn] = {}


def _after_fork() -> None:
    # A thread of the parent, which the child does not have, may hold the lock.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


@part("cuDNN library")
def open_cudnn(minimum: int = MINIMUM) -> Cudnn:
    """Loads cuDNN, from the first of: CONVOY_CUDNN, the library that this process has already
    loaded, the nvidia-cudnn wheel, the system.

    Args:
        minimum: The oldest version to accept, e.g. 91900.

    Raises:
        DeviceError: cuDNN is missing or too old.
    """
    tried: list[str] = []
    with _lock:
        for name, mode in _places():
            cudnn = _opened.get(name)
            if cudnn is None:
                try:
                    cudnn = Cudnn(ctypes.CDLL(name, mode=mode), name)
                except OSError as error:
                    tried.append(
                        f"{name}: {error}"
                        if mode != _RESIDENT
                        else f"{name}: not loaded in this process yet"
                    )
                    continue
                _opened[name] = cudnn
            needed = max(minimum, MINIMUM)
            if not needed <= cudnn.version < 100000:
                found = f"cuDNN {version_text(cudnn.version)} at {cudnn.path}"
                problem = (
                    f"{found} is not supported: expected {version_text(needed)} or later, of "
                    "major version 9"
                )
                raise DeviceError(problem=problem, hint=INSTALL_HINT)
            return cudnn
    raise DeviceError(
        problem="cuDNN is missing; tried:\n    " + "\n    ".join(tried), hint=INSTALL_HINT
    )


def load_libraries(minimum: int) -> threading.Thread:
    """Loads cuDNN and cuBLASLt on a thread, and returns the thread. Meanwhile the caller can create
    the GPU's context: loading takes 70 ms. Errors are raised on use of the libraries."""

    def load() -> None:
        with contextlib.suppress(DeviceError):
            open_cudnn(minimum).require_cublaslt()

    thread = threading.Thread(target=load, name="convoy-libraries", daemon=True)
    thread.start()
    return thread


_RESIDENT = os.RTLD_NOW | os.RTLD_NOLOAD


def _places() -> Iterator[tuple[str, int]]:
    chosen = os.environ.get("CONVOY_CUDNN")
    if chosen:
        # The user's choice is used or rejected, never replaced by another cuDNN.
        path = Path(chosen)
        yield str(path / LIBRARY if path.is_dir() else path), os.RTLD_NOW
        return
    yield LIBRARY, _RESIDENT
    for folder in sys.path:
        path = Path(folder or ".") / "nvidia" / "cudnn" / "lib" / LIBRARY
        if path.is_file():
            yield str(path.resolve()), os.RTLD_NOW
    yield LIBRARY, os.RTLD_NOW
