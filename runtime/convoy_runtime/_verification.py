# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares members of an artifact with the digests of its manifest, also in the background."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from ._files import read_into
from .errors import ArtifactError
from .manifest import FileEntry

__all__ = ["Verification", "check_digest", "unreadable"]


#: Bytes to read, then hash while they are in the cache of a core.
_PIECE = 1 << 19


class Verification(threading.Thread):
    """Reads and hashes a member in the background, without holding the GIL."""

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
        # The caller closes its descriptor.
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
        """Waits for the thread. Raises ArtifactError unless the member matches the manifest."""
        self.join()
        if self._error is not None:
            raise unreadable(self._path, self._error) from self._error
        check_digest(self._path, self._entry, self._member, self._digest)


def check_digest(path: Path, entry: FileEntry, member: str, digest: str) -> None:
    if digest != entry.sha256:
        raise ArtifactError(
            problem="is damaged",
            path=path,
            member=member,
            expected=f"sha256 {entry.sha256}",
            got=digest,
        )


def unreadable(path: Path, error: OSError) -> ArtifactError:
    return ArtifactError(problem=f"cannot be read: {error.strerror or error}", path=path)
