# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""cuDNN's backend API: the library, checked calls and descriptors."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Final

from convoy_runtime._abi import ABI_VERSION, ConvoyCudnn
from convoy_runtime.cuda.driver.device import forked
from convoy_runtime.errors import CudnnError, DeviceError
from convoy_runtime.timings import part

from .enums import Attribute, Descriptor, Type

__all__ = ["INSTALL_HINT", "BackendDescriptor", "Cudnn", "version_text"]

#: What to do if cuDNN is missing or unusable.
INSTALL_HINT = (
    "pip install nvidia-cudnn-cu13==9.19.0.56, or set CONVOY_CUDNN to libcudnn.so.9 or to "
    "its folder"
)

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "cudnnGetVersion": (c_size_t, ()),
    "cudnnGetCudartVersion": (c_size_t, ()),
    "cudnnGetErrorString": (c_char_p, (c_int32,)),
    "cudnnGetLastErrorString": (None, (c_char_p, c_size_t)),
    "cudnnCreate": (c_int32, (POINTER(c_void_p),)),
    "cudnnDestroy": (c_int32, (c_void_p,)),
    "cudnnSetStream": (c_int32, (c_void_p, c_void_p)),
    "cudnnBackendCreateDescriptor": (c_int32, (c_int32, POINTER(c_void_p))),
    "cudnnBackendDestroyDescriptor": (c_int32, (c_void_p,)),
    "cudnnBackendFinalize": (c_int32, (c_void_p,)),
    "cudnnBackendSetAttribute": (c_int32, (c_void_p, c_int32, c_int32, c_int64, c_void_p)),
    "cudnnBackendGetAttribute": (
        c_int32,
        (c_void_p, c_int32, c_int32, c_int64, POINTER(c_int64), c_void_p),
    ),
    "cudnnBackendExecute": (c_int32, (c_void_p, c_void_p, c_void_p)),
}

#: Hints by the name of the status.
_HINTS = {
    "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED": (
        "cuDNN's other libraries must be in the folder of libcudnn.so.9, all of one version"
    ),
    "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH": (
        "two versions of cuDNN are mixed: check LD_LIBRARY_PATH and CONVOY_CUDNN"
    ),
    "CUDNN_STATUS_NOT_INITIALIZED": "is there a GPU, and a driver new enough for this cuDNN?",
    "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING": (
        "libcuda, or NVRTC (pip install nvidia-cuda-nvrtc), is missing"
    ),
    "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH": "this cuDNN has no kernels for this GPU",
}

_CTYPES: dict[Type, Any] = {
    Type.HANDLE: c_void_p,
    Type.INT64: c_int64,
    Type.VOID_PTR: c_void_p,
    Type.HEUR_MODE: c_int32,
    Type.KNOB_TYPE: c_int32,
    Type.NUMERICAL_NOTE: c_int32,
    Type.BACKEND_DESCRIPTOR: c_void_p,
    Type.BEHAVIOR_NOTE: c_int32,
    Type.INT32: c_int32,
}


class _DlInfo(ctypes.Structure):
    _fields_ = (("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p), ("address", c_void_p))


def _file_of(function: Any) -> str:
    """Returns the path of the library that contains a function (dladdr)."""
    info = _DlInfo()
    found = ctypes.CDLL(None).dladdr(function, ctypes.byref(info))
    return info.file.decode(errors="replace") if found and info.file else ""


def version_text(version: int) -> str:
    """Returns the text of a version, e.g. 9.19.0 for 91900."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


class Cudnn:
    """A loaded libcudnn.

    Args:
        library: The library.
        path: The path or name that it was loaded by.

    Attributes:
        path: The file of the library.
        library: The library.
        version: Its version, e.g. 91900.

    Raises:
        DeviceError: The library is not cuDNN 9.
    """

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        try:
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except AttributeError as error:
            raise DeviceError(
                problem=f"{path} is not cuDNN 9: {error}", hint=INSTALL_HINT
            ) from error
        self.path: Final = _file_of(library.cudnnGetVersion) or path
        self.library: Final = library
        self.version: Final[int] = library.cudnnGetVersion()

    def call(self, name: str, *arguments: Any, what: str = "", location: str | None = None) -> None:
        """Calls an entry point.

        Args:
            name: The entry point.
            arguments: Its arguments.
            what: The object of the call, for messages.
            location: The source location, for messages.

        Raises:
            CudnnError: The call fails. The error has cuDNN's text.
        """
        status = getattr(self.library, name)(*arguments)
        if status:
            raise self.error(status, f"{name} ({what})" if what else name, location)

    def error(self, status: int, call: str, location: str | None = None) -> CudnnError:
        """Returns the error for a status that a call has just returned on this thread."""
        name = (self.library.cudnnGetErrorString(status) or b"").decode(errors="replace")
        return CudnnError(
            call=call,
            status=status,
            name=name,
            detail=self.last_error(),
            hint=_HINTS.get(name),
            location=location,
        )

    def last_error(self) -> str:
        """Returns cuDNN's text about the last error of this thread, and clears it."""
        buffer = ctypes.create_string_buffer(4096)
        self.library.cudnnGetLastErrorString(buffer, len(buffer))
        return buffer.value.decode(errors="replace").strip()

    @part("cuBLASLt library")
    def require_cublaslt(self) -> ctypes.CDLL:
        """Loads cuBLASLt, which cuDNN requires for every plan, and returns it. Raises DeviceError
        if it is missing; cuDNN would end the process."""
        major = self.library.cudnnGetCudartVersion() // 1000
        name = f"libcublasLt.so.{major}"
        wheels = [
            Path(folder or ".") / "nvidia" / part / "lib" / name
            for folder in sys.path
            for part in (f"cu{major}", "cublas")
        ]
        for place in [*(str(path) for path in wheels if path.is_file()), name]:
            with contextlib.suppress(OSError):
                return ctypes.CDLL(place)
        raise DeviceError(
            problem=f"{name}, which cuDNN requires, is missing",
            hint="pip install nvidia-cublas (for CUDA 12: nvidia-cublas-cu12)",
        )

    def table(self, report: Any) -> ConvoyCudnn:
        """Returns the entry points for generated code. `report` is a ConvoyCudnn.REPORT, which the
        caller keeps alive."""

        def entry(kind: Any, name: str) -> Any:
            return kind(ctypes.cast(getattr(self.library, name), c_void_p).value)

        return ConvoyCudnn(
            ABI_VERSION,
            0,
            entry(ConvoyCudnn.CREATE, "cudnnBackendCreateDescriptor"),
            entry(ConvoyCudnn.SET, "cudnnBackendSetAttribute"),
            entry(ConvoyCudnn.FINALIZE, "cudnnBackendFinalize"),
            entry(ConvoyCudnn.DESTROY, "cudnnBackendDestroyDescriptor"),
            report,
            entry(ConvoyCudnn.GET, "cudnnBackendGetAttribute"),
            entry(ConvoyCudnn.EXECUTE, "cudnnBackendExecute"),
        )

    def create(self, kind: Descriptor) -> BackendDescriptor:
        """Returns a new, empty descriptor. Raises CudnnError."""
        pointer = c_void_p()
        self.call("cudnnBackendCreateDescriptor", kind, ctypes.byref(pointer), what=kind.name)
        return BackendDescriptor(self, pointer.value or 0, kind.name)


class BackendDescriptor:
    """Owns a cudnnBackendDescriptor_t. It is destroyed by `close` or with the last reference."""

    def __init__(self, cudnn: Cudnn, pointer: int, name: str) -> None:
        self._cudnn, self.pointer, self._name = cudnn, pointer, name

    def set(
        self, attribute: Attribute, kind: Type, values: Sequence[Any] | bytes
    ) -> BackendDescriptor:
        """Sets an attribute to `values`, which may be descriptors. Raises CudnnError."""
        if isinstance(values, bytes):
            array: Any = ctypes.create_string_buffer(values, len(values))
        else:
            plain = [
                value.pointer if isinstance(value, BackendDescriptor) else value for value in values
            ]
            array = (_CTYPES[kind] * len(plain))(*plain)
        self._cudnn.call(
            "cudnnBackendSetAttribute",
            self.pointer,
            attribute,
            kind,
            len(values),
            array,
            what=f"{self._name}, {attribute.name}",
        )
        return self

    def finalize(self) -> BackendDescriptor:
        """Finalizes the descriptor. Raises CudnnError, e.g. if the engine of an execution plan does
        not support the graph."""
        self._cudnn.call("cudnnBackendFinalize", self.pointer, what=self._name)
        return self

    def get(self, attribute: Attribute, kind: Type, limit: int = 64) -> list[int]:
        """Returns the values of an attribute, at most `limit`. Raises CudnnError."""
        array = (_CTYPES[kind] * limit)()
        return [int(value or 0) for value in array[: self._read(attribute, kind, limit, array)]]

    def get_text(self, attribute: Attribute) -> str:
        """Returns the value of an attribute of characters. Raises CudnnError."""
        size = self._read(attribute, Type.CHAR, 0, None)
        buffer = ctypes.create_string_buffer(size)
        self._read(attribute, Type.CHAR, size, buffer)
        return buffer.value.decode()

    def count(self, attribute: Attribute, kind: Type) -> int:
        """Returns the number of values of an attribute. Raises CudnnError."""
        return self._read(attribute, kind, 0, None)

    def get_descriptors(
        self, attribute: Attribute, element: Descriptor, limit: int
    ) -> list[BackendDescriptor]:
        """Returns the descriptors of an attribute, at most `limit`, as new descriptors. Raises
        CudnnError."""
        made = [self._cudnn.create(element) for _ in range(limit)]
        array = (c_void_p * limit)(*(one.pointer for one in made))
        got = self._read(attribute, Type.BACKEND_DESCRIPTOR, limit, array)
        for spare in made[got:]:
            spare.close()
        return made[:got]

    def close(self) -> None:
        """Destroys the descriptor. Further calls have no effect."""
        pointer, self.pointer = self.pointer, 0
        if pointer and not forked():
            self._cudnn.library.cudnnBackendDestroyDescriptor(pointer)

    def __del__(self) -> None:
        self.close()

    def _read(self, attribute: Attribute, kind: Type, limit: int, array: Any) -> int:
        count = c_int64()
        arguments = (self.pointer, attribute, kind, limit, ctypes.byref(count), array)
        self._cudnn.call(
            "cudnnBackendGetAttribute", *arguments, what=f"{self._name}, {attribute.name}"
        )
        return min(count.value, limit) if limit else count.value
