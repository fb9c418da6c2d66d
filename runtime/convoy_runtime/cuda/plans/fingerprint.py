"""What a graph is, as a hash: the key under which its plans are kept."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

from convoy_runtime.manifest import Graph, kernel_member

__all__ = ["content_of", "fingerprint", "fingerprint_of", "kernels_fingerprint"]


def fingerprint_of(graph: Graph, build: Any) -> str | None:
    """The fingerprint of a graph, which its manifest has or its build function gives."""
    return graph.fingerprint or fingerprint(build)


def fingerprint(build: Any) -> str | None:
    """A hash of everything that a graph's build function says to cuDNN, with descriptors by their
    order; None when it says something whose size is not known here, or fails. The compiler computes
    the same (`cudnn_backend::FuncOp::getFingerprint`)."""
    from convoy_runtime.recorder import (
        RecordingError,
        record,
    )  # only here: what is compiled has its fingerprint in the manifest

    try:
        recording = record(build)
    except RecordingError:
        return None
    digest = hashlib.sha256()
    for call in recording.calls:
        number = call.descriptor + 1
        if call.name == "create":
            digest.update(
                struct.pack("<cqq", b"c", recording.descriptors[call.descriptor].kind, number)
            )
        elif call.setting is not None:
            setting = call.setting
            digest.update(
                struct.pack("<cqqqq", b"s", number, call.attribute, setting.type, setting.count)
            )
            data = (
                setting.data
                if isinstance(setting.data, bytes)
                else b"".join(struct.pack("<q", each + 1) for each in setting.data)
            )
            digest.update(data)
        else:
            digest.update(struct.pack("<cq", b"f", number))
    return digest.hexdigest()


def content_of(graph: Graph, build: Any) -> str | None:
    """What a store knows a graph by that cuDNN may run: its fingerprint and the names of its
    alternatives, of which a plan may be one."""
    found = fingerprint_of(graph, build)
    return (
        found if found is None else " ".join([found, *(f"[{name}]" for name in graph.alternatives)])
    )


def kernels_fingerprint(graph: Graph, members: Mapping[str, bytes | memoryview]) -> str:
    """The same of a graph that has only kernels: a hash of their PTX, which is in `members` of the
    artifact."""
    digest = hashlib.sha256()
    for kernel in graph.kernels:
        digest.update(members[kernel_member(kernel.name)])
    return digest.hexdigest()
