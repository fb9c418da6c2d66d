# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes artifacts. The reader is convoy_runtime.opening; docs/architecture.md describes the
format."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from convoy_runtime._files import write_whole
from convoy_runtime._safetensors import HostTensor, write_safetensors
from convoy_runtime._zip import ZipMember, lay_out
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import ALTERNATIVES, MANIFEST, FileEntry, Manifest, file_entry
from convoy_runtime.manifest_alternatives import read_alternatives
from convoy_runtime.manifest_reader import read_manifest
from convoy_runtime.output_files import checked_output

from .errors import ArtifactWriteError

__all__ = ["HostTensor", "write_artifact", "write_members"]


def write_artifact(
    path: str | os.PathLike[str],
    manifest: Manifest,
    members: Mapping[str, bytes],
    weights: Mapping[str, HostTensor] | None = None,
) -> Manifest:
    """Writes an artifact atomically.

    Args:
        path: The file. A symbolic link is followed.
        manifest: The manifest; its `files` are ignored.
        members: Name to content: native.so, kernels.ptx, alternatives.json and plans/*.json.
        weights: The prepared weights, exactly those of `manifest.prepared`. None for an artifact
            without weights.

    Returns:
        The manifest with its `files`.

    Raises:
        ArtifactWriteError: The path cannot be written.
        ValueError: The weights do not match the manifest.
        ArtifactError: The reader would reject the artifact.
    """
    entries = {name: file_entry([content]) for name, content in members.items()}
    if weights is not None:
        _check_weights(manifest, weights)
        entries[WEIGHTS] = file_entry(write_safetensors(weights))
    manifest = replace(manifest, files=entries)
    text = manifest.to_json().encode()
    # The reader's checks, before anything is written.
    read_manifest(text, path=path)
    if ALTERNATIVES in members:
        read_alternatives(members[ALTERNATIVES], manifest, path=path)
    write_members(path, text, entries, members, weights)
    return manifest


def write_members(
    path: str | os.PathLike[str],
    text: bytes,
    files: Mapping[str, FileEntry],
    members: Mapping[str, bytes],
    weights: Mapping[str, HostTensor] | None,
) -> None:
    """Writes the file of an artifact atomically.

    Args:
        path: The file. A symbolic link is followed.
        text: The manifest.
        files: The other members, as in the manifest.
        members: Their contents, without that of weights.safetensors.
        weights: The content of weights.safetensors.

    Raises:
        ArtifactWriteError: The path cannot be written.
    """
    try:
        path = checked_output(path)
        write_whole(path, _pieces(text, files, members, weights), sync=True)
    except ArgumentError as error:
        raise ArtifactWriteError(str(error)) from error
    except OSError as error:
        message = f"{path}: cannot write the artifact: {error.strerror or error}"
        raise ArtifactWriteError(message) from error


def _pieces(
    text: bytes,
    entries: Mapping[str, FileEntry],
    members: Mapping[str, bytes],
    weights: Mapping[str, HostTensor] | None,
) -> Iterator[bytes | memoryview]:
    """The content of the file."""
    files = [ZipMember(MANIFEST, len(text), zlib.crc32(text))]
    files += [ZipMember(name, entry.bytes, entry.crc32) for name, entry in entries.items()]
    layout = lay_out(files, hashlib.sha256(text).hexdigest())
    for file, (_, header) in zip(files, layout.headers, strict=True):
        yield header
        if file.name == MANIFEST:
            yield text
        elif file.name == WEIGHTS and weights is not None:
            yield from write_safetensors(weights)
        else:
            yield members[file.name]
    yield layout.directory


def _check_weights(manifest: Manifest, weights: Mapping[str, HostTensor]) -> None:
    expected = {spec.name: (spec.dtype, spec.shape) for spec in manifest.prepared}
    got = {name: (tensor.dtype, tensor.array.shape) for name, tensor in weights.items()}
    if expected != got:
        names = sorted(
            name for name in expected.keys() | got.keys() if expected.get(name) != got.get(name)
        )
        listed = "; ".join(
            f"{name}: expected {expected.get(name)}, got {got.get(name)}" for name in names
        )
        message = f"the prepared weights do not match the manifest: {listed}"
        raise ValueError(message)
