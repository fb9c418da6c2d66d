"""Writes artifacts. The reader is convoy_runtime.artifact, the format is described in docs/architecture.md."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from convoy_runtime._safetensors import HostTensor, write_safetensors
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.manifest import ALTERNATIVES, MANIFEST, FileEntry, Manifest
from convoy_runtime.manifest_alternatives import read_alternatives
from convoy_runtime.manifest_reader import read_manifest

from .errors import ArtifactWriteError

__all__ = ["HostTensor", "write_artifact"]

ALIGNMENT = 64
_LOCAL_HEADER_BYTES = 30
_ZIP64_EXTRA_BYTES = 20
#: The header id of our padding in a zip's extra field; readers skip what they do not know.
_PADDING_ID = 0xC0DE
#: The same artifact from the same inputs, byte for byte: the earliest date that a zip can say.
_DATE = (1980, 1, 1, 0, 0, 0)


def write_artifact(
    path: str | os.PathLike[str],
    manifest: Manifest,
    members: Mapping[str, bytes],
    weights: Mapping[str, HostTensor] | None = None,
) -> Manifest:
    """Writes an artifact to `path`, whole or not at all, and returns the manifest with its `files` filled in.

    `members` are native.so, kernels.ptx, alternatives.json and plans/*.json by name; `manifest.files` is computed here. `weights` are the
    prepared weights, exactly those of `manifest.prepared`, or None to leave the data out. Raises ArtifactWriteError when the path cannot
    be written, ValueError when weights and manifest do not agree, ArtifactError when what is given is no artifact.
    """
    path = Path(path)
    entries = {name: FileEntry(hashlib.sha256(content).hexdigest(), len(content)) for name, content in members.items()}
    if weights is not None:
        _check_weights(manifest, weights)
        digest, size = hashlib.sha256(), 0
        for piece in write_safetensors(weights):
            digest.update(piece)
            size += len(piece)
        entries[WEIGHTS] = FileEntry(digest.hexdigest(), size)
    manifest = replace(manifest, files=entries)
    text = manifest.to_json().encode()
    # What the reader would refuse must not be written.
    read_manifest(text, path=path)
    if ALTERNATIVES in members:
        read_alternatives(members[ALTERNATIVES], manifest, path=path)
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                _write(archive, file.tell, MANIFEST, len(text), [text])
                for member, content in members.items():
                    _write(archive, file.tell, member, len(content), [content])
                if weights is not None:
                    _write(archive, file.tell, WEIGHTS, entries[WEIGHTS].bytes, write_safetensors(weights))
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        message = f"{path}: cannot write the artifact: {error.strerror or error}"
        raise ArtifactWriteError(message) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
    return manifest


def _write(archive: zipfile.ZipFile, tell: object, name: str, size: int, pieces: Iterable[bytes | memoryview]) -> None:
    """One stored member whose data starts at a multiple of 64 bytes in the file, so that it can be used where it is mapped."""
    entry = zipfile.ZipInfo(name, _DATE)
    entry.external_attr = 0o644 << 16
    entry.file_size = size
    # zipfile decides on a zip64 header by this rule, and puts its extra field before ours.
    header = _LOCAL_HEADER_BYTES + len(name.encode()) + (_ZIP64_EXTRA_BYTES if size * 1.05 > zipfile.ZIP64_LIMIT else 0)
    padding = -(tell() + header + 4) % ALIGNMENT  # type: ignore[operator]
    entry.extra = _PADDING_ID.to_bytes(2, "little") + padding.to_bytes(2, "little") + bytes(padding)
    with archive.open(entry, "w") as member:
        for piece in pieces:
            member.write(piece)


def _check_weights(manifest: Manifest, weights: Mapping[str, HostTensor]) -> None:
    expected = {spec.name: (spec.dtype, spec.shape) for spec in manifest.prepared}
    got = {name: (tensor.dtype, tensor.array.shape) for name, tensor in weights.items()}
    if expected != got:
        names = sorted(name for name in expected.keys() | got.keys() if expected.get(name) != got.get(name))
        listed = "; ".join(f"{name}: expected {expected.get(name)}, got {got.get(name)}" for name in names)
        message = f"the prepared weights do not agree with the manifest: {listed}"
        raise ValueError(message)
