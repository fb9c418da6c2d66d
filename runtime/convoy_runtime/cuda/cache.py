"""Plans that outlive the process. Building one may take a second, because some engines compile a kernel; restoring one takes about 2 ms.

A plan is kept under what it depends on: the exact content of its graph, as the graph's build function tells it to a recorder, the
options, and the scope (cuDNN's version, the GPU, the driver). A plan that cannot be restored is made again.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from convoy_runtime._abi import ABI_VERSION, ConvoyCudnn

from ._enums import Type

__all__ = ["PlanCache", "fingerprint"]

#: Bytes of an element by cudnnBackendAttributeType_t; all other types up to LAST_TYPE are enums of 4 bytes.
_BYTES = {Type.HANDLE: 8, 2: 1, Type.INT64: 8, 5: 8, Type.VOID_PTR: 8, Type.BACKEND_DESCRIPTOR: 8, Type.CHAR: 1, 26: 16}
_LAST_TYPE = 30


def fingerprint(build: Any) -> str | None:
    """A hash of everything that a graph's build function says to cuDNN, with descriptors by their order; None when it says something
    whose size is not known here, or fails."""
    digest = hashlib.sha256()
    count = 0
    known = True

    def create(kind: int, result: Any) -> int:
        nonlocal count
        count += 1
        result[0] = count
        digest.update(struct.pack("<cqq", b"c", kind, count))
        return 0

    def set_attribute(descriptor: int, attribute: int, kind: int, elements: int, data: int | None) -> int:
        nonlocal known
        known = known and 0 <= kind <= _LAST_TYPE
        # A handle is of this process; everything else is part of the graph.
        size = 0 if kind == Type.HANDLE or not data else elements * _BYTES.get(kind, 4)
        digest.update(struct.pack("<cqqqq", b"s", descriptor or 0, attribute, kind, elements))
        digest.update(ctypes.string_at(data or 0, size) if size else b"")
        return 0

    def finalize(descriptor: int) -> int:
        digest.update(struct.pack("<cq", b"f", descriptor or 0))
        return 0

    table = ConvoyCudnn(
        ABI_VERSION,
        0,
        ConvoyCudnn.CREATE(create),
        ConvoyCudnn.SET(set_attribute),
        ConvoyCudnn.FINALIZE(finalize),
        ConvoyCudnn.DESTROY(lambda _: 0),
        ConvoyCudnn.REPORT(lambda *_: None),
    )
    result = ctypes.c_void_p()
    status = build(ctypes.byref(table), None, ctypes.byref(result))
    return digest.hexdigest() if known and status == 0 else None


class PlanCache:
    """A folder of plans, one JSON file each. `scope` is what all of them depend on beside graph and options."""

    def __init__(self, folder: Path, scope: str) -> None:
        self._folder, self._scope = folder, scope
        self._warned = False

    @staticmethod
    def default_folder() -> Path:
        """$CONVOY_CACHE, else convoy in $XDG_CACHE_HOME, else ~/.cache/convoy."""
        if chosen := os.environ.get("CONVOY_CACHE"):
            return Path(chosen)
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "convoy"

    def load(self, graph: str, options: str) -> dict[str, Any] | None:
        """What was stored for a graph of this fingerprint, or None."""
        with suppress(OSError, ValueError):
            entry = json.loads(self._path(graph, options).read_text())
            if isinstance(entry, dict) and isinstance(entry.get("plan"), str) and isinstance(entry.get("report"), dict):
                return entry
        return None

    def store(self, graph: str, options: str, entry: dict[str, Any]) -> None:
        """Keeps `entry`, whole or not at all. A folder that cannot be written is worth a warning, not an error."""
        path = self._path(graph, options)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "w") as file:
                json.dump(entry, file)
            Path(name).replace(path)
        except OSError as error:
            if not self._warned:
                warnings.warn(f"cuDNN plans are not kept: {self._folder}: {error.strerror}", RuntimeWarning, stacklevel=2)
            self._warned = True

    def _path(self, graph: str, options: str) -> Path:
        key = hashlib.sha256("\n".join((self._scope, options, graph)).encode()).hexdigest()
        return self._folder / "plans" / f"{key}.json"
