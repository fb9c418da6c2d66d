"""The file of an artifact: read once into memory of this process, and checked byte by byte. What
happens to the file afterwards, a truncation as well, changes nothing that is loaded.

The order of the checks: kind and size of the file, the manifest's SHA-256 in the zip's comment,
and, once the caller has read the manifest, every byte that is not the content of a member, then
size and SHA-256 of every member.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path

from ._files import open_regular, read_into
from ._zip import (
    ALIGNMENT,
    END_BYTES,
    LOCAL_HEADER,
    Layout,
    ZipMember,
    comment_of,
    lay_out,
    stored_bytes,
)
from .errors import ArtifactError
from .manifest import MANIFEST, FileEntry
from .timings import part

__all__ = ["Archive", "Verification", "allocate"]

#: Bytes that take less time than a thread is worth: a millisecond or two.
_READ_AT_ONCE = 1 << 20
#: Bytes that are read, then hashed while a core's cache has them.
_PIECE = 1 << 19
#: More than the largest models have by far: a manifest has about a kilobyte for a graph.
_MANIFEST_LIMIT = 1 << 26
#: A huge page: with them memory is there at a tenth of the page faults.
_HUGE = 1 << 21
#: What a zip begins with, and its last record, which has 22 bytes where there is no comment.
_ZIP, _ZIP_END = b"PK\x03\x04", b"PK\x05\x06"


class Archive:
    """An open artifact. `text` is its manifest, and `digest` the manifest's SHA-256 in hexadecimal,
    which has been checked. A context manager: what `read` works on in the background keeps the file
    open for itself. Raises ArtifactError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = open_regular(path)
            try:
                self._bytes = os.fstat(self._descriptor).st_size
                self.text, self.digest = self._manifest()
            except BaseException:
                os.close(self._descriptor)
                raise
        except OSError as error:
            raise _unreadable(path, error) from error

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    @part("hashing")
    def read(
        self, files: Mapping[str, FileEntry], *, later: tuple[str, ...] = ()
    ) -> tuple[dict[str, memoryview], list[Verification]]:
        """The content of each member, as the manifest lists them: verified, but for those of
        `later` that are large. Threads still read these; each is to be used when
        `Verification.check` has returned. Raises ArtifactError."""
        members = [ZipMember(MANIFEST, len(self.text), zlib.crc32(self.text))]
        members += [ZipMember(name, entry.bytes, entry.crc32) for name, entry in files.items()]
        layout = lay_out(members, self.digest)
        if layout.bytes != self._bytes:
            raise self._refuse(
                "is truncated or damaged",
                expected=f"{layout.bytes} bytes",
                got=f"{self._bytes} bytes",
            )
        try:
            self._check_layout(members, layout)
            places = dict(zip(files, layout.contents[1:], strict=True))
            behind = [
                name for name in later if name in places and files[name].bytes > _READ_AT_ONCE
            ]
            found = self._read_now(
                {name: place for name, place in places.items() if name not in behind}
            )
            for name, content in found.items():
                _check_digest(self._path, files[name], name, hashlib.sha256(content).hexdigest())
            verifications = []
            for name in behind:
                found[name] = allocate(files[name].bytes, f"member {name}", path=self._path)
                verifications.append(
                    Verification(
                        self._path,
                        name,
                        files[name],
                        self._descriptor,
                        places[name][0],
                        found[name],
                    )
                )
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return found, verifications

    def _manifest(self) -> tuple[bytes, str]:
        head, end = self._at(0, ALIGNMENT), self._at(max(0, self._bytes - END_BYTES), END_BYTES)
        if not head:
            raise self._refuse("is empty")
        if head[: len(_ZIP)] != _ZIP:
            raise self._refuse("is no Convoy artifact: it does not start as a zip does")
        name = head[LOCAL_HEADER.size : LOCAL_HEADER.size + len(MANIFEST)]
        if name != MANIFEST.encode():
            raise self._refuse(
                f"is a zip, but no Convoy artifact: it does not begin with {MANIFEST}"
            )
        comment = stored_bytes(end)
        if comment is None and end[-22:-18] == _ZIP_END and end[-2:] == bytes(2):
            problem = (
                f"has no digest of {MANIFEST}: an older version of convoy wrote it, or "
                "another program packed it again"
            )
            raise self._refuse(f"{problem}; compile the model again")
        if comment is None:
            raise self._refuse(
                f"is truncated or damaged: it does not end with the digest of {MANIFEST}"
            )
        size = LOCAL_HEADER.unpack_from(head)[8]
        if size > _MANIFEST_LIMIT:
            raise self._refuse(
                "is too large", MANIFEST, f"at most {_MANIFEST_LIMIT} bytes", f"{size} bytes"
            )
        text = self._at(ALIGNMENT, size)
        digest = hashlib.sha256(text).hexdigest()
        if comment != comment_of(digest):
            raise self._refuse(
                "is damaged",
                MANIFEST,
                comment.decode(errors="backslashreplace"),
                comment_of(digest).decode(),
            )
        return text, digest

    def _at(self, offset: int, count: int) -> bytes:
        """Bytes of the file, fewer where it ends."""
        content = bytearray(max(0, min(count, self._bytes - offset)))
        read_into(self._descriptor, memoryview(content), offset)
        return bytes(content)

    def _check_layout(self, members: list[ZipMember], layout: Layout) -> None:
        """Every byte that is not content is as the manifest says."""
        around = [
            (f"the header of {member.name}", *header)
            for member, header in zip(members, layout.headers, strict=True)
        ]
        for what, offset, expected in (
            *around,
            ("the directory", layout.directory_begin, layout.directory),
        ):
            got = self._at(offset, len(expected))
            if got != expected:
                place = next(
                    index
                    for index, pair in enumerate(zip(expected, got, strict=True))
                    if pair[0] != pair[1]
                )
                problem = (
                    f"{what} is not as {MANIFEST} says: the file is damaged, or another "
                    "program packed it again"
                )
                raise self._refuse(
                    problem,
                    None,
                    f"{expected[place]:#04x} at byte {offset + place}",
                    f"{got[place]:#04x}",
                )

    def _read_now(self, places: Mapping[str, tuple[int, int]]) -> dict[str, memoryview]:
        """The members at these places of the file, each at a multiple of 64 bytes in memory that
        they share."""
        total = sum(end - begin + -(end - begin) % ALIGNMENT for begin, end in places.values())
        memory, offset, found = allocate(total, "the members", path=self._path), 0, {}
        for name, (begin, end) in places.items():
            content = memory[offset : offset + end - begin]
            read_into(self._descriptor, content, begin)
            found[name] = content.toreadonly()
            offset += len(content) + -len(content) % ALIGNMENT
        return found

    def _refuse(
        self,
        problem: str,
        member: str | None = None,
        expected: str | None = None,
        got: str | None = None,
    ) -> ArtifactError:
        return ArtifactError(
            problem=problem, path=self._path, member=member, expected=expected, got=got
        )


class Verification(threading.Thread):
    """Reads and hashes a member in the background. Python's lock is free meanwhile."""

    def __init__(
        self,
        path: Path,
        member: str,
        entry: FileEntry,
        descriptor: int,
        offset: int,
        memory: memoryview,
    ) -> None:
        super().__init__(name=f"hashing {member}")
        self._path, self._member, self._entry, self._offset, self._memory = (
            path,
            member,
            entry,
            offset,
            memory,
        )
        self._digest = ""
        self._error: OSError | None = None
        # The caller closes its own.
        self._descriptor = os.dup(descriptor)
        self.start()

    def run(self) -> None:
        digest = hashlib.sha256()
        try:
            for begin in range(0, len(self._memory), _PIECE):
                piece = self._memory[begin : begin + _PIECE]
                read_into(self._descriptor, piece, self._offset + begin)
                digest.update(piece)
        except OSError as error:
            self._error = error
        finally:
            os.close(self._descriptor)
        self._digest = digest.hexdigest()

    def check(self) -> None:
        """Waits for the end. Raises ArtifactError unless the member is what the manifest says."""
        self.join()
        if self._error is not None:
            raise _unreadable(self._path, self._error) from self._error
        _check_digest(self._path, self._entry, self._member, self._digest)


def allocate(size: int, what: str, *, path: object = None) -> memoryview:
    """Memory of this process, which is no file's and begins at a page. Raises ArtifactError, which
    names the bytes, when there is not as much."""
    try:
        if not size:
            return memoryview(bytearray())
        # Private: shared memory would be a file of its own to the kernel, and twice as slow.
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            # A kernel that was built without them refuses.
            with contextlib.suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
        return memoryview(memory)
    except (OSError, OverflowError, MemoryError) as error:
        raise ArtifactError(problem=f"no memory of {size} bytes for {what}", path=path) from error


def _check_digest(path: Path, entry: FileEntry, member: str, digest: str) -> None:
    if digest != entry.sha256:
        raise ArtifactError(
            problem="is damaged",
            path=path,
            member=member,
            expected=f"sha256 {entry.sha256}",
            got=digest,
        )


def _unreadable(path: Path, error: OSError) -> ArtifactError:
    return ArtifactError(problem=f"cannot be read: {error.strerror or error}", path=path)
