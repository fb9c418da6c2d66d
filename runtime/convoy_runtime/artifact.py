"""Opens an artifact: one zip with stored members. Everything is checked before anything in it is
used, and nothing is unpickled.

Order of the checks: the manifest's SHA-256 and the digest that the caller expects, the manifest's
format and versions, its fields, every byte of the zip that is not a member's, then size and SHA-256
of every member, then whether this machine can run the native code.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from ._archive import Archive, Verification
from ._safetensors import HostTensor, read_safetensors
from .errors import ArgumentError, ArtifactError, ConvoyRuntimeError
from .manifest import ALTERNATIVES, MANIFEST, GraphAlternatives, Host, Manifest
from .manifest_reader import read_manifest
from .timings import part

__all__ = ["Artifact", "check_form", "check_host", "open_artifact"]

WEIGHTS = "weights.safetensors"
CONSTANTS = "constants.safetensors"
#: What a digest begins with: how it was made.
_ALGORITHM = "sha256:"
#: LLVM's feature names where /proc/cpuinfo has another word; all others differ in punctuation at
#: most (sse4.2, sse4_2; amx-bf16).
_CPUINFO = {
    "64bit": "lm", "bmi": "bmi1", "crc32": "sse4_2", "lzcnt": "abm", "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand", "sahf": "lahf_lm", "sha": "sha_ni", "shstk": "user_shstk", "sse3": "pni",
    "x87": "fpu",
}  # fmt: skip
#: Features that Linux does not show. None of them is an instruction that models compute with:
#: avx10.1 is the sum of AVX-512 features that are listed beside it.
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
    """An open artifact whose members have been verified, but for those that
    `open_artifact(background=True)` still works on. `members` are their contents by name, in memory
    of this process: what becomes of the file no longer matters. `digest`, as `sha256:...`, is that
    of the manifest, which has those of all members."""

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
        """Waits for what is still being verified. Raises ArtifactError."""
        for each in self._verifications:
            each.check()

    @part("alternatives")
    def alternatives(self) -> GraphAlternatives:
        """What may run in place of the graphs of the manifest, read when it is first asked for.
        Raises ArtifactError."""
        if self._alternatives is None:
            # Only here: most loads need none of it.
            from .manifest_alternatives import read_alternatives

            found = self.members.get(ALTERNATIVES)
            self._alternatives = (
                GraphAlternatives()
                if found is None
                else read_alternatives(bytes(found), self.manifest, path=self.path)
            )
        return self._alternatives

    def constants(self) -> dict[str, HostTensor]:
        """The weights that no state dict has, by name, views of the member. Raises
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
        """The prepared weights by name, views of the member; None when the artifact was made
        without weights. Raises ArtifactError."""
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
        """Lets the memory of the prepared weights go, but for the arrays that `weights` gave. They
        cannot be read again."""
        self.members.pop(WEIGHTS, None)


@part("opening")
def open_artifact(
    path: str | os.PathLike[str],
    *,
    digest: str | None = None,
    any_host: bool = False,
    background: bool = False,
) -> Artifact:
    """Opens and verifies the artifact at `path`. Nothing of it is run, and nothing is mapped as
    code.

    With `digest`, as `sha256:` and 64 hexadecimal digits, an artifact that has another one is
    refused. `any_host` skips the check that this machine can run the native code, for tools that
    only read. With `background` threads read and hash what is large while the caller does other
    things: it must call `Artifact.verify`, as reading weights does. Raises ArtifactError,
    ArgumentError when `digest` is none.
    """
    if digest is not None:
        check_form(digest)
    path = Path(path)
    with Archive(path) as archive:
        found = f"{_ALGORITHM}{archive.digest}"
        if digest not in (None, found):
            problem = "is another artifact than the digest says, or was changed"
            raise ArtifactError(
                problem=problem, path=path, field="digest", expected=digest, got=found
            )
        manifest = read_manifest(archive.text, path=path)
        members, verifications = archive.read(manifest.files, later=(WEIGHTS, CONSTANTS))
    artifact = Artifact(path, manifest, members, verifications, digest=found)
    if not background:
        artifact.verify()
    if not any_host:
        check_host(manifest.host, path=path)
    return artifact


def check_form(digest: str) -> None:
    """Raises ArgumentError unless `digest` is the text of a digest."""
    digits = digest.removeprefix(_ALGORITHM)
    if digits == digest or len(digits) != 64 or digits.strip("0123456789abcdef"):
        expected = (
            "sha256: and 64 hexadecimal digits in lower case, as `convoy inspect --digest` "
            "prints them"
        )
        raise ArgumentError(
            argument="digest",
            problem="is no digest of an artifact",
            expected=expected,
            got=repr(digest),
        )


def check_host(
    host: Host, *, path: object = None, cpuinfo: str | os.PathLike[str] = "/proc/cpuinfo"
) -> None:
    """Raises ArtifactError when this machine, whose features are in the file `cpuinfo`, cannot run
    native code made for `host`."""

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
        # No further than to the first CPU's: the kernel makes this text while it is read, some
        # microseconds for each of hundreds of CPUs.
        with Path(cpuinfo).open() as lines:
            shown = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError as error:
        raise ArtifactError(
            problem=f"cannot tell this machine's CPU features: {error}", path=path
        ) from error
    flags = {_plain(flag) for flag in shown.partition(":")[2].split()}
    needed = [feature for feature in host.features if feature not in _NOT_SHOWN]
    missing = [feature for feature in needed if _plain(_CPUINFO.get(feature, feature)) not in flags]
    if missing:
        msg = "features"
        raise refuse(msg, f"a CPU like {host.cpu} with {', '.join(missing)}", "one without")


def _plain(feature: str) -> str:
    """A feature's name without punctuation: avx512_vnni and avx512vnni are one."""
    return "".join(character for character in feature if character.isalnum())
