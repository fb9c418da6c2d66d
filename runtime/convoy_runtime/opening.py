# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Opens artifacts with static or dynamic sizes. Everything is checked before use, and nothing is
unpickled.

The order of the checks: the manifest's SHA-256 and the digest that the caller expects, the
manifest's format and versions, its fields, every byte of the zip outside of members, the size and
SHA-256 of every member, and whether this machine can run the native code.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ._archive import Archive
from .artifact import ALGORITHM, CONSTANTS, WEIGHTS, Artifact, check_form, check_host
from .errors import ArgumentError, ArtifactError
from .manifest import DYNAMIC_FORMAT
from .manifest_reader import read_manifest
from .timings import part

if TYPE_CHECKING:
    from .dynamic.artifact import DynamicArtifact

__all__ = ["open_artifact", "open_file", "select_point"]


def open_artifact(
    path: str | os.PathLike[str],
    *,
    digest: str | None = None,
    point: Mapping[str, int] | None = None,
    any_host: bool = False,
    background: bool = False,
) -> Artifact:
    """Opens and verifies an artifact, without executing or mapping its code.

    Args:
        path: The file.
        digest: The expected digest, `sha256:` and 64 hexadecimal digits.
        point: For an artifact with dynamic sizes, the value of each symbol: one of its points.
        any_host: Whether to accept native code that this machine cannot run.
        background: Whether threads read and hash large members. The caller must then call
            `Artifact.verify`; reading weights does so.

    Returns:
        The artifact.

    Raises:
        ArtifactError: The file is not an intact artifact of this version for this machine, or has
            another digest.
        ArgumentError: `digest` is malformed, or `point` is not one of the artifact's points.
    """
    artifact = select_point(open_file(path, digest=digest), point or {})
    if not background:
        artifact.verify()
    if not any_host:
        check_host(artifact.manifest.host, path=path)
    return artifact


def select_point(opened: Artifact | DynamicArtifact, point: Mapping[str, int]) -> Artifact:
    """The artifact of a point, or the artifact itself if its sizes are static.

    Args:
        opened: The artifact.
        point: The value of each symbol; empty for static sizes.

    Returns:
        The artifact with static sizes.

    Raises:
        ArgumentError: There is no such point.
    """
    if not isinstance(opened, Artifact):
        return opened.select(point)
    if point:
        raise ArgumentError(
            argument="point",
            problem=f"{opened.path} has static sizes",
            expected="none",
            got=" ".join(f"{name}={value}" for name, value in point.items()),
        )
    return opened


@part("opening")
def open_file(
    path: str | os.PathLike[str], *, digest: str | None = None
) -> Artifact | DynamicArtifact:
    """Opens an artifact of either kind, whose large members are read in the background.

    Args:
        path: The file.
        digest: The expected digest.

    Returns:
        An `Artifact`, or a `DynamicArtifact` if sizes are dynamic.

    Raises:
        ArtifactError: The file is not an intact artifact of this version, or has another digest.
        ArgumentError: `digest` is malformed.
    """
    if digest is not None:
        check_form(digest)
    path = Path(path)
    with Archive(path) as archive:
        found = f"{ALGORITHM}{archive.digest}"
        if digest not in (None, found):
            problem = "does not match the given digest: another artifact, or a modified one"
            raise ArtifactError(
                problem=problem, path=path, field="digest", expected=digest, got=found
            )
        if f'"{DYNAMIC_FORMAT}"'.encode() in archive.text[:64]:
            # Imported here, because most loads do not need it.
            from .dynamic.artifact import read_dynamic

            return read_dynamic(archive, path, found)
        manifest = read_manifest(archive.text, path=path)
        members, verifications = archive.read(manifest.files, later=(WEIGHTS, CONSTANTS))
    return Artifact(path, manifest, members, verifications, digest=found)
