# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An open artifact: its manifest, its members, and what it requires of a machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from ._safetensors import HostTensor, read_safetensors
from ._verification import Verification
from .errors import ArgumentError, ArtifactError, ConvoyRuntimeError
from .manifest import (
    ALTERNATIVES,
    MANIFEST,
    GraphAlternatives,
    Host,
    Manifest,
)
from .timings import part

__all__ = ["ALGORITHM", "CONSTANTS", "WEIGHTS", "Artifact", "check_form", "check_host"]

WEIGHTS = "weights.safetensors"
CONSTANTS = "constants.safetensors"
#: The prefix of a digest: its algorithm.
ALGORITHM = "sha256:"
#: LLVM's feature names to those of /proc/cpuinfo, where they differ by more than punctuation
#: (sse4.2, sse4_2; amx-bf16).
_CPUINFO = {
    "64bit": "lm", "bmi": "bmi1", "crc32": "sse4_2", "lzcnt": "abm", "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand", "sahf": "lahf_lm", "sha": "sha_ni", "shstk": "user_shstk", "sse3": "pni",
    "x87": "fpu",
}  # fmt: skip
#: Features that Linux does not list. Models do not depend on them: avx10.1 is a set of AVX-512
#: features, which are listed separately.
_NOT_SHOWN = {
    "avx10.1",
    "avx10.1-256",
    "avx10.1-512",
    "hreset",
    "kl",
    "lwp",
    "pconfig",
    "prefetchi",
    "ptwrite",
    "sgx",
    "uintr",
    "usermsr",
    "widekl",
}


class Artifact:
    """An open artifact. Members are verified, except those that `open_artifact(background=True)`
    still reads.

    Attributes:
        path: The file.
        manifest: The manifest.
        members: Name to content, in process memory; later changes of the file have no effect.
        digest: The digest of the manifest, `sha256:...`. The manifest has the digests of members.
    """

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        members: dict[str, memoryview],
        verifications: Sequence[Verification] = (),
        *,
        digest: str = "",
    ) -> None:
        self.path, self.manifest, self.members, self.digest = path, manifest, members, digest
        self._verifications = verifications
        self._alternatives: GraphAlternatives | None = None

    @part("hashing")
    def verify(self) -> None:
        """Waits for background verification. Raises ArtifactError."""
        for each in self._verifications:
            each.check()

    @part("alternatives")
    def alternatives(self) -> GraphAlternatives:
        """The alternatives of the manifest's graphs, read on the first call. Raises
        ArtifactError."""
        if self._alternatives is None:
            # Imported here, because most loads do not need it.
            from .manifest_alternatives import read_alternatives

            found = self.members.get(ALTERNATIVES)
            self._alternatives = (
                GraphAlternatives()
                if found is None
                else read_alternatives(bytes(found), self.manifest, path=self.path)
            )
        return self._alternatives

    def constants(self) -> dict[str, HostTensor]:
        """The weights that are not in a state dict: name to a view of the member. Raises
        ArtifactError."""
        if CONSTANTS not in self.members:
            return {}
        self.verify()
        found = read_safetensors(self.members[CONSTANTS], path=self.path, member=CONSTANTS)
        for name in self.manifest.constants:
            if name not in found:
                raise ArtifactError(
                    problem="is in the manifest but not in the file",
                    path=self.path,
                    member=CONSTANTS,
                    field=name,
                )
        return found

    @part("weights")
    def weights(self) -> dict[str, HostTensor] | None:
        """The prepared weights.

        Returns:
            Name to a view of the member, or None if the artifact has no weights.

        Raises:
            ArtifactError: The member does not match the manifest.
            ConvoyRuntimeError: `release_weights` was called.
        """
        if WEIGHTS not in self.manifest.files:
            return None
        if WEIGHTS not in self.members:
            message = "the weights were released"
            raise ConvoyRuntimeError(message)
        self.verify()
        found = read_safetensors(self.members[WEIGHTS], path=self.path, member=WEIGHTS)
        expected = {spec.name: spec for spec in self.manifest.prepared}
        for name in sorted(expected.keys() ^ found.keys()):
            problem = (
                "is in the manifest but not in the file"
                if name in expected
                else "is in the file but not in the manifest"
            )
            raise ArtifactError(problem=problem, path=self.path, member=WEIGHTS, field=name)
        for name, spec in expected.items():
            got = found[name]
            if got.dtype != spec.dtype or got.array.shape != spec.shape:
                have = f"{got.dtype}{list(got.array.shape)}"
                raise ArtifactError(
                    problem="differs from the manifest",
                    path=self.path,
                    member=WEIGHTS,
                    field=name,
                    expected=f"{spec.dtype}{list(spec.shape)}",
                    got=have,
                )
        return found

    def release_weights(self) -> None:
        """Releases the memory of the prepared weights, except that of arrays from `weights`. The
        weights cannot be read again."""
        self.members.pop(WEIGHTS, None)


def check_form(digest: str) -> None:
    """Raises ArgumentError unless `digest` has the form of a digest."""
    digits = digest.removeprefix(ALGORITHM)
    if digits == digest or len(digits) != 64 or digits.strip("0123456789abcdef"):
        expected = (
            "sha256: and 64 hexadecimal digits in lower case, as `convoy inspect --digest` "
            "prints them"
        )
        raise ArgumentError(
            argument="digest",
            problem="is not the digest of an artifact",
            expected=expected,
            got=repr(digest),
        )


def check_host(
    host: Host, *, path: object = None, cpuinfo: str | os.PathLike[str] = "/proc/cpuinfo"
) -> None:
    """Checks that this machine can run native code.

    Args:
        host: The machine that the code was compiled for.
        path: The artifact, for messages.
        cpuinfo: The file with this machine's CPU features.

    Raises:
        ArtifactError: The architecture differs, or the CPU lacks a feature.
    """

    def refuse(field: str, expected: str, got: str) -> ArtifactError:
        problem = "the artifact was compiled for another machine"
        return ArtifactError(
            problem=problem,
            path=path,
            member=MANIFEST,
            field=f"host.{field}",
            expected=expected,
            got=got,
        )

    architecture = host.triple.split("-")[0]
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    if architecture != machine or "linux" not in host.triple:
        msg = "triple"
        raise refuse(msg, host.triple, f"{machine} {platform.system()}")
    try:
        # Only the first CPU is read: the kernel generates the text on read, which takes
        # microseconds for each of hundreds of CPUs.
        with Path(cpuinfo).open() as lines:
            shown = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError as error:
        raise ArtifactError(
            problem=f"cannot read this machine's CPU features: {error}", path=path
        ) from error
    flags = {_plain(flag) for flag in shown.partition(":")[2].split()}
    needed = [feature for feature in host.features if feature not in _NOT_SHOWN]
    missing = [feature for feature in needed if _plain(_CPUINFO.get(feature, feature)) not in flags]
    if missing:
        msg = "features"
        raise refuse(msg, f"a CPU like {host.cpu} with {', '.join(missing)}", "one without")


def _plain(feature: str) -> str:
    """A feature's name without punctuation: avx512_vnni equals avx512vnni."""
    return "".join(character for character in feature if character.isalnum())
