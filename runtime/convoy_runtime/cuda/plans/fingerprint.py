# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Hashes of graphs: the keys under which their plans are stored."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

from convoy_runtime.manifest import Graph, kernel_member

__all__ = ["content_of", "fingerprint", "fingerprint_of", "kernels_fingerprint"]


def fingerprint_of(graph: Graph, build: Any) -> str | None:
    """Returns the fingerprint of a graph, from its manifest or from its build function."""
    return graph.fingerprint or fingerprint(build)


def fingerprint(build: Any) -> str | None:
    """Returns a hash of all cuDNN calls of a graph's build function, with descriptors numbered in
    order; None if the function fails or sets an attribute of unknown size.

    The compiler computes the same hash (`cudnn_backend::FuncOp::getFingerprint`).
    """
    # Imported here, because manifests usually have the fingerprint.
    from convoy_runtime.recorder import RecordingError, record

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
    """Returns the store key of a graph that cuDNN may run: its fingerprint, and the names of its
    alternatives because a plan may run one of them. None if it has no fingerprint."""
    found = fingerprint_of(graph, build)
    return (
        found if found is None else " ".join([found, *(f"[{name}]" for name in graph.alternatives)])
    )


def kernels_fingerprint(graph: Graph, members: Mapping[str, bytes | memoryview]) -> str:
    """Returns the store key of a graph that has only kernels: a hash of their PTX in the artifact's
    `members`."""
    digest = hashlib.sha256()
    for kernel in graph.kernels:
        digest.update(members[kernel_member(kernel.name)])
    return digest.hexdigest()
