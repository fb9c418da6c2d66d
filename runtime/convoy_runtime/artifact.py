"""Opens an artifact: one zip with stored members. Everything is checked before anything in it is used, and nothing is unpickled.

Order of the checks: the zip itself, the manifest's format and versions, its fields, then size and SHA-256 of every member, then
whether this machine can run the native code.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import platform
import struct
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ._safetensors import HostTensor, read_safetensors
from .errors import ArtifactError
from .manifest import ALTERNATIVES, MANIFEST, GraphAlternatives, Host, Manifest
from .manifest_reader import read_manifest
from .timings import part

__all__ = ["Artifact", "open_artifact"]

WEIGHTS = "weights.safetensors"
CONSTANTS = "constants.safetensors"
#: Bytes that take less time than a thread is worth: a millisecond or two.
_HASHED_AT_ONCE = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
#: LLVM's feature names where /proc/cpuinfo has another word; all others differ in punctuation at most (sse4.2, sse4_2; amx-bf16).
_CPUINFO = {
    "64bit": "lm", "bmi": "bmi1", "crc32": "sse4_2", "lzcnt": "abm", "pclmul": "pclmulqdq", "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand", "sahf": "lahf_lm", "sha": "sha_ni", "shstk": "user_shstk", "sse3": "pni", "x87": "fpu",
}  # fmt: skip
#: Features that Linux does not show. None of them is an instruction that models compute with: avx10.1 is the sum of AVX-512
#: features that are listed beside it.
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
    """An open artifact whose members have been verified, but for those that `open_artifact(background=True)` still works on. `members` are
    views of the mapped file, by name."""

    def __init__(self, path: Path, manifest: Manifest, members: dict[str, memoryview], hashing: Sequence[_Hashing] = ()) -> None:
        self.path, self.manifest, self.members, self._hashing = path, manifest, members, hashing
        self._alternatives: GraphAlternatives | None = None

    @part("hashing")
    def verify(self) -> None:
        """Waits for what is still being verified. Raises ArtifactError."""
        for each in self._hashing:
            each.join()
            _check_digest(self.path, self.manifest, each.member, each.digest)

    @part("alternatives")
    def alternatives(self) -> GraphAlternatives:
        """What may run in place of the graphs of the manifest, read when it is first asked for. Raises ArtifactError."""
        if self._alternatives is None:
            # Only here: most loads need none of it.
            from .manifest_alternatives import read_alternatives

            found = self.members.get(ALTERNATIVES)
            self._alternatives = GraphAlternatives() if found is None else read_alternatives(bytes(found), self.manifest, path=self.path)
        return self._alternatives

    def constants(self) -> dict[str, HostTensor]:
        """The weights that no state dict has, by name, views of the file. Raises ArtifactError."""
        if CONSTANTS not in self.members:
            return {}
        self.verify()
        found = read_safetensors(self.members[CONSTANTS], path=self.path, member=CONSTANTS)
        for name in self.manifest.constants:
            if name not in found:
                raise ArtifactError(problem="is in the manifest but not in the file", path=self.path, member=CONSTANTS, field=name)
        return found

    @part("weights")
    def weights(self) -> dict[str, HostTensor] | None:
        """The prepared weights by name, views of the file; None when the artifact was made without weights. Raises ArtifactError."""
        if WEIGHTS not in self.members:
            return None
        self.verify()
        found = read_safetensors(self.members[WEIGHTS], path=self.path, member=WEIGHTS)
        expected = {spec.name: spec for spec in self.manifest.prepared}
        for name in sorted(expected.keys() ^ found.keys()):
            problem = "is in the manifest but not in the file" if name in expected else "is in the file but not in the manifest"
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


@part("opening")
def open_artifact(path: str | os.PathLike[str], *, any_host: bool = False, background: bool = False) -> Artifact:
    """Opens and verifies the artifact at `path`.

    `any_host` skips the check that this machine can run the native code, for tools that only read. With `background` threads hash what is
    large while the caller does other things: it must call `Artifact.verify`, as reading weights does. Raises ArtifactError.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")
            locations = _directory(path, file, data)
    except OSError as error:
        raise ArtifactError(problem=f"cannot be read: {error.strerror or error}", path=path) from error
    if MANIFEST not in locations:
        raise ArtifactError(problem="is a zip, but no Convoy artifact: it has no manifest.json", path=path)
    manifest = read_manifest(bytes(locations.pop(MANIFEST)), path=path)
    artifact = Artifact(path, manifest, locations, _verify(path, manifest, locations))
    if not background:
        artifact.verify()
    if not any_host:
        check_host(manifest.host, path=path)
    return artifact


def _directory(path: Path, file: BinaryIO, data: memoryview) -> dict[str, memoryview]:
    """Where each member's bytes lie. Members must be stored, have plain names, and be there once."""

    def refuse(problem: str, member: str | None = None) -> ArtifactError:
        return ArtifactError(problem=problem, path=path, member=member)

    if not len(data):
        msg = "is empty"
        raise refuse(msg)
    if bytes(data[:4]) != b"PK\x03\x04":
        msg = "is no Convoy artifact: it does not start as a zip does"
        raise refuse(msg)
    try:
        entries = zipfile.ZipFile(file).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        msg = f"is truncated or damaged: {error}"
        raise refuse(msg) from error
    members: dict[str, memoryview] = {}
    for entry in entries:
        name = entry.filename
        if name.startswith("/") or "\\" in name or ".." in PurePosixPath(name).parts or name.endswith("/") or not name:
            msg = "is no name that a member may have"
            raise refuse(msg, repr(name))
        if name in members:
            msg = "is there twice"
            raise refuse(msg, name)
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            msg = "is compressed or encrypted; members are stored"
            raise refuse(msg, name)
        header = data[entry.header_offset : entry.header_offset + _LOCAL_HEADER.size]
        if len(header) < _LOCAL_HEADER.size or bytes(header[:4]) != b"PK\x03\x04":
            msg = "is truncated or damaged: its header is not where the directory says"
            raise refuse(msg, name)
        *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        begin = entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        if begin + entry.file_size > len(data):
            msg = "is truncated or damaged: it ends after the file"
            raise refuse(msg, name)
        members[name] = data[begin : begin + entry.file_size]
    return members


@part("hashing")
def _verify(path: Path, manifest: Manifest, members: dict[str, memoryview]) -> list[_Hashing]:
    """Checks names and sizes, and the content of what is small; the rest is being hashed."""
    for name in sorted(manifest.files.keys() ^ members.keys()):
        problem = "is listed in manifest.json but missing" if name in manifest.files else "is not listed in manifest.json"
        raise ArtifactError(problem=problem, path=path, member=name)
    for name, entry in manifest.files.items():
        if len(members[name]) != entry.bytes:
            raise ArtifactError(
                problem="is truncated or damaged",
                path=path,
                member=name,
                expected=f"{entry.bytes} bytes",
                got=f"{len(members[name])} bytes",
            )
    large = [name for name in (WEIGHTS, CONSTANTS) if name in members and len(members[name]) > _HASHED_AT_ONCE]
    hashing = [_Hashing(name, members[name]) for name in large]
    for name in manifest.files:
        if name not in large:
            _check_digest(path, manifest, name, hashlib.sha256(members[name]).hexdigest())
    return hashing


def _check_digest(path: Path, manifest: Manifest, member: str, digest: str) -> None:
    expected = manifest.files[member].sha256
    if digest != expected:
        raise ArtifactError(problem="is damaged", path=path, member=member, expected=f"sha256 {expected}", got=digest)


class _Hashing(threading.Thread):
    """Hashes a member; `digest` is there after `join`. Python's lock is free meanwhile."""

    def __init__(self, member: str, content: memoryview) -> None:
        super().__init__(name=f"hashing {member}")
        self.member, self._content, self.digest = member, content, ""
        self.start()

    def run(self) -> None:
        self.digest = hashlib.sha256(self._content).hexdigest()


def check_host(host: Host, *, path: object = None, cpuinfo: str | os.PathLike[str] = "/proc/cpuinfo") -> None:
    """Raises ArtifactError when this machine, whose features are in the file `cpuinfo`, cannot run native code made for `host`."""

    def refuse(field: str, expected: str, got: str) -> ArtifactError:
        problem = "the artifact was compiled for another machine"
        return ArtifactError(problem=problem, path=path, member=MANIFEST, field=f"host.{field}", expected=expected, got=got)

    architecture = host.triple.split("-")[0]
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if architecture != machine or "linux" not in host.triple:
        msg = "triple"
        raise refuse(msg, host.triple, f"{machine} {platform.system()}")
    try:
        # No further than to the first CPU's: the kernel makes this text while it is read, some microseconds for each of hundreds of CPUs.
        with Path(cpuinfo).open() as lines:
            shown = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError as error:
        raise ArtifactError(problem=f"cannot tell this machine's CPU features: {error}", path=path) from error
    flags = {_plain(flag) for flag in shown.partition(":")[2].split()}
    needed = [feature for feature in host.features if feature not in _NOT_SHOWN]
    missing = [feature for feature in needed if _plain(_CPUINFO.get(feature, feature)) not in flags]
    if missing:
        msg = "features"
        raise refuse(msg, f"a CPU like {host.cpu} with {', '.join(missing)}", "one without")


def _plain(feature: str) -> str:
    """A feature's name without punctuation: avx512_vnni and avx512vnni are one."""
    return "".join(character for character in feature if character.isalnum())
