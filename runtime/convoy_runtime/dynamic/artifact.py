# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Opens an artifact with dynamic sizes. Each of its points is an artifact that shares members with
the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from convoy_runtime._archive import Archive
from convoy_runtime._safetensors import HostTensor, read_safetensors
from convoy_runtime._verification import Verification
from convoy_runtime.artifact import CONSTANTS, WEIGHTS, Artifact
from convoy_runtime.errors import ArgumentError, ArtifactError
from convoy_runtime.manifest_reader import read_manifest
from convoy_runtime.timings import part

from .manifest import DynamicManifest, Symbol, read_dynamic_manifest

__all__ = ["DynamicArtifact", "PointArtifact", "point_text", "read_dynamic"]


class PointArtifact(Artifact):
    """A point of a `DynamicArtifact`, with the weights of all points."""

    shared: DynamicArtifact

    def weights(self) -> dict[str, HostTensor] | None:
        found = self.shared.weights()
        if found is None:
            return None
        return {spec.name: found[spec.origin] for spec in self.manifest.prepared}

    def release_weights(self) -> None:
        self.shared.release_weights()


class DynamicArtifact:
    """An open artifact with dynamic sizes. Members are verified, except those that are still read
    in the background; reading weights waits for them.

    Attributes:
        path: The file.
        manifest: The manifest.
        points: The artifact of each point, in the order of the manifest.
        digest: The digest of the manifest, `sha256:...`.
    """

    def __init__(
        self,
        path: Path,
        manifest: DynamicManifest,
        members: dict[str, memoryview],
        verifications: Sequence[Verification],
        *,
        digest: str,
    ) -> None:
        self.path, self.manifest, self.digest = path, manifest, digest
        self._members, self._verifications = members, verifications
        self._weights: dict[str, HostTensor] | None = None
        contents = {entry.sha256: members[name] for name, entry in manifest.files.items()}
        self.points = tuple(self._point(index, contents) for index in range(len(manifest.points)))

    def _point(self, index: int, contents: Mapping[str, memoryview]) -> PointArtifact:
        member = self.manifest.points[index].manifest
        manifest = read_manifest(bytes(self._members[member]), path=f"{self.path}: {member}")
        for name, entry in manifest.files.items():
            if entry.sha256 not in contents:
                raise ArtifactError(
                    problem=f"member {name} of {member} is not in the file", path=self.path
                )
        for spec in manifest.prepared:
            if not spec.origin:
                raise ArtifactError(
                    problem="is missing", path=self.path, member=member, field="prepared.origin"
                )
        if manifest.target != self.manifest.target:
            raise ArtifactError(
                problem="another target",
                path=self.path,
                member=member,
                field="target",
                expected=self.manifest.target,
                got=manifest.target,
            )
        found = PointArtifact(
            self.path,
            manifest,
            {name: contents[entry.sha256] for name, entry in manifest.files.items()},
            self._verifications,
            digest=self.digest,
        )
        found.shared = self
        return found

    def select(self, values: Mapping[str, int]) -> PointArtifact:
        """Returns the point with these values of the symbols. Raises ArgumentError if there is
        none."""
        names = [symbol.name for symbol in self.manifest.symbols]
        wanted = tuple(values.get(name) for name in names)
        for point, artifact in zip(self.manifest.points, self.points, strict=True):
            if point.values == wanted and len(values) == len(names):
                return artifact
        listed = ", ".join(
            point_text(self.manifest.symbols, point.values) for point in self.manifest.points
        )
        given = " ".join(f"{name}={value}" for name, value in values.items())
        raise ArgumentError(
            argument="point",
            problem=f"{self.path} has no such point",
            expected=f"one of: {listed}",
            got=given or "none",
        )

    def verify(self) -> None:
        """Waits for background verification. Raises ArtifactError."""
        for each in self._verifications:
            each.check()

    @part("weights")
    def weights(self) -> dict[str, HostTensor] | None:
        """The prepared weights of all points.

        Returns:
            Origin of a weight to a view of the member, or None if the artifact has no weights.

        Raises:
            ArtifactError: The member does not match the manifests.
        """
        if WEIGHTS not in self.manifest.files:
            return None
        if self._weights is None:
            self.verify()
            found = read_safetensors(self._members[WEIGHTS], path=self.path, member=WEIGHTS)
            for point in self.points:
                for spec in point.manifest.prepared:
                    got = found.get(spec.origin)
                    if got is None or (got.dtype, got.array.shape) != (spec.dtype, spec.shape):
                        raise ArtifactError(
                            problem="differs from the manifest of a point",
                            path=self.path,
                            member=WEIGHTS,
                            field=spec.origin,
                            expected=str(spec),
                            got="none" if got is None else f"{got.dtype}{list(got.array.shape)}",
                        )
            self._weights = found
        return self._weights

    def release_weights(self) -> None:
        """Releases the memory of the prepared weights, except that of arrays from `weights`."""
        self._members.pop(WEIGHTS, None)
        self._weights = None


def read_dynamic(archive: Archive, path: Path, digest: str) -> DynamicArtifact:
    """Reads the members of an archive whose manifest is that of an artifact with dynamic sizes.

    Args:
        archive: The open archive.
        path: The file.
        digest: The digest of the manifest.

    Returns:
        The artifact, whose large members are read in the background.

    Raises:
        ArtifactError: The file is not an intact artifact of this version.
    """
    manifest = read_dynamic_manifest(archive.text, path=path)
    later = [name for name in manifest.files if name.endswith((WEIGHTS, CONSTANTS))]
    members, verifications = archive.read(manifest.files, later=tuple(later))
    return DynamicArtifact(path, manifest, members, verifications, digest=digest)


def point_text(symbols: Sequence[Symbol], values: Sequence[int]) -> str:
    """A point as text, e.g. `batch=8 image=224`."""
    return " ".join(f"{symbol.name}={value}" for symbol, value in zip(symbols, values, strict=True))
