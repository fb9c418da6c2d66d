# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads the file of an artifact once into process memory and checks every byte. Later changes of
the file, including truncation, do not affect a loaded artifact.

The order of the checks: type and size of the file, the manifest's SHA-256 in the zip comment, and,
after the caller has read the manifest, every byte outside the contents of members, then the size
and the SHA-256 of every member.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from ._files import open_regular, read_into
from ._verification import Verification, check_digest, unreadable
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

__all__ = ["Archive", "allocate"]

#: Members up to this size are read at once: one or two milliseconds do not pay for a thread.
_READ_AT_ONCE = 1 << 20
#: Far above the manifest of the largest models: it has about a kilobyte per graph.
_MANIFEST_LIMIT = 1 << 26
#: The size of a huge page. Huge pages take a tenth of the page faults.
_HUGE = 1 << 21
#: Signatures of the first and the last record of a zip; the last one has 22 bytes if there is no
#: comment.
_ZIP, _ZIP_END = b"PK\x03\x04", b"PK\x05\x06"


class Archive:
    """An open artifact, as a context manager. Background reads keep their own file descriptors.

    Attributes:
        text: The manifest.
        digest: The SHA-256 of the manifest in hexadecimal, checked.

    Raises:
        ArtifactError: The file cannot be read, or is not an intact artifact.
    """

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
            raise unreadable(path, error) from error

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    @part("hashing")
    def read(
        self, files: Mapping[str, FileEntry], *, later: tuple[str, ...] = ()
    ) -> tuple[dict[str, memoryview], list[Verification]]:
        """Reads and verifies the members.

        Args:
            files: The members in the order of the manifest.
            later: Members to read in the background if they are large.

        Returns:
            Name to content, and the background reads. The content of a member in the background is
            valid after its `Verification.check` returns.

        Raises:
            ArtifactError: The file is truncated, damaged or unreadable.
        """
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
                check_digest(self._path, files[name], name, hashlib.sha256(content).hexdigest())
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
            raise unreadable(self._path, error) from error
        return found, verifications

    def _manifest(self) -> tuple[bytes, str]:
        head, end = self._at(0, ALIGNMENT), self._at(max(0, self._bytes - END_BYTES), END_BYTES)
        if not head:
            raise self._refuse("is empty")
        if head[: len(_ZIP)] != _ZIP:
            raise self._refuse("is not a Convoy artifact: it does not begin like a zip file")
        name = head[LOCAL_HEADER.size : LOCAL_HEADER.size + len(MANIFEST)]
        if name != MANIFEST.encode():
            raise self._refuse(
                f"is a zip file, but not a Convoy artifact: it does not begin with {MANIFEST}"
            )
        comment = stored_bytes(end)
        if comment is None and end[-22:-18] == _ZIP_END and end[-2:] == bytes(2):
            problem = (
                f"has no digest of {MANIFEST}: an older version of convoy wrote it, or "
                "another program repacked it"
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
        """`count` bytes at `offset`, or fewer at the end of the file."""
        content = bytearray(max(0, min(count, self._bytes - offset)))
        read_into(self._descriptor, memoryview(content), offset)
        return bytes(content)

    def _check_layout(self, members: list[ZipMember], layout: Layout) -> None:
        """Checks every byte outside the contents of members against the manifest."""
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
                    f"{what} does not match {MANIFEST}: the file is damaged, or another "
                    "program repacked it"
                )
                raise self._refuse(
                    problem,
                    None,
                    f"{expected[place]:#04x} at byte {offset + place}",
                    f"{got[place]:#04x}",
                )

    def _read_now(self, places: Mapping[str, tuple[int, int]]) -> dict[str, memoryview]:
        """Reads the members at these ranges of the file into one allocation, each at a multiple of
        64 bytes."""
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


def allocate(size: int, what: str, *, path: object = None) -> memoryview:
    """Allocates anonymous memory that begins at a page.

    Args:
        size: Bytes.
        what: The purpose, for messages.
        path: The artifact, for messages.

    Returns:
        The memory, filled with zeros.

    Raises:
        ArtifactError: The allocation fails.
    """
    try:
        if not size:
            return memoryview(bytearray())
        # Private: the kernel backs shared memory with a file, which is half as fast.
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            # Fails on a kernel without transparent huge pages.
            with contextlib.suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
        return memoryview(memory)
    except (OSError, OverflowError, MemoryError) as error:
        problem = f"cannot allocate {size} bytes for {what}"
        raise ArtifactError(problem=problem, path=path) from error
