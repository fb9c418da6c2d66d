# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes artifacts with dynamic sizes. The reader is convoy_runtime.dynamic.artifact."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from convoy.artifact import write_members
from convoy_runtime._safetensors import HostTensor, write_safetensors
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.dynamic.manifest import (
    DynamicManifest,
    DynamicTensor,
    Point,
    Symbol,
    read_dynamic_manifest,
)
from convoy_runtime.manifest import (
    ABI_VERSION,
    DYNAMIC_FORMAT,
    FORMAT_VERSION,
    Manifest,
    file_entry,
)

__all__ = ["PointProgram", "write_dynamic_artifact"]


@dataclass(frozen=True)
class PointProgram:
    """The program of a point.

    Attributes:
        values: The value of each symbol.
        manifest: Its manifest; its `files` are ignored.
        members: Name to content of its members, without weights.
    """

    values: Mapping[str, int]
    manifest: Manifest
    members: Mapping[str, bytes]


def write_dynamic_artifact(
    path: str | os.PathLike[str],
    symbols: Sequence[Symbol],
    inputs: Sequence[DynamicTensor],
    outputs: Sequence[DynamicTensor],
    points: Sequence[PointProgram],
    weights: Mapping[str, HostTensor] | None,
) -> None:
    """Writes an artifact atomically. Equal members of several points are stored once.

    Args:
        path: The file. A symbolic link is followed.
        symbols: The symbols.
        inputs: The inputs.
        outputs: The outputs.
        points: The points.
        weights: Origin to prepared weight. None for an artifact without weights.

    Raises:
        ArtifactWriteError: The path cannot be written.
        ArtifactError: The reader would reject the artifact.
    """
    members: dict[str, bytes] = {}
    places = []
    stored: set[str] = set()
    for index, point in enumerate(points):
        files = {name: file_entry([content]) for name, content in point.members.items()}
        for name, content in point.members.items():
            if files[name].sha256 not in stored:
                stored.add(files[name].sha256)
                members[f"points/{index}/{name}"] = content
        places.append(f"points/{index}/manifest.json")
        members[places[-1]] = replace(point.manifest, files=files).to_json().encode()
    entries = {name: file_entry([content]) for name, content in members.items()}
    if weights is not None:
        entries[WEIGHTS] = file_entry(write_safetensors(weights))
    first = points[0].manifest
    manifest = DynamicManifest(
        format=DYNAMIC_FORMAT,
        format_version=FORMAT_VERSION,
        abi_version=ABI_VERSION,
        target=first.target,
        producer=first.producer,
        symbols=tuple(symbols),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        points=tuple(
            Point(tuple(point.values[symbol.name] for symbol in symbols), place)
            for point, place in zip(points, places, strict=True)
        ),
        files=entries,
    )
    text = manifest.to_json().encode()
    # The reader's checks, before anything is written.
    read_dynamic_manifest(text, path=path)
    write_members(path, text, entries, members, weights)
