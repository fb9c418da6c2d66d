# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads regular files only, and writes files atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = ["open_regular", "read_into", "read_regular", "write_whole"]

#: Below Linux's limit of a single read or write.
_MOST_AT_ONCE = 1 << 30
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def open_regular(path: str | os.PathLike[str]) -> int:
    """Opens the regular file at `path` for reading.

    The check is on the open descriptor, so that the file cannot be exchanged in between. A FIFO
    would block, and a device has no end.

    Args:
        path: The file.

    Returns:
        The file descriptor.

    Raises:
        OSError: The file cannot be opened or is not a regular file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        # Sockets and absent devices cannot be opened.
        if error.errno == errno.ENXIO:
            raise _irregular(Path(path).stat().st_mode, path) from error
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise _irregular(mode, path)
    return descriptor


def _irregular(mode: int, path: str | os.PathLike[str]) -> OSError:
    kind = next((name for test, name in _KINDS if test(mode)), "another kind of file")
    return OSError(errno.EINVAL, f"expected a regular file, got {kind}", os.fspath(path))


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The content of the regular file at `path`. Raises OSError."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read()


def read_into(descriptor: int, memory: memoryview, offset: int) -> None:
    """Fills `memory` with the bytes of a file at `offset`. Raises OSError, also when the file is
    too short."""
    done = 0
    while done < len(memory):
        count = os.preadv(descriptor, [memory[done : done + _MOST_AT_ONCE]], offset + done)
        if not count:
            raise OSError(
                errno.EIO,
                (
                    f"expected {len(memory)} bytes at {offset}, got {done}: the file was "
                    "truncated while it was read"
                ),
            )
        done += count


def write_whole(
    path: str | os.PathLike[str],
    pieces: Iterable[bytes | memoryview],
    *,
    mode: int = 0o666,
    sync: bool = False,
) -> None:
    """Creates or replaces a file atomically.

    The file is unnamed while it is written (O_TMPFILE), so that a killed process leaves nothing
    behind. On file systems without O_TMPFILE, a file whose name begins with a dot is left behind.

    Args:
        path: The file.
        pieces: The content.
        mode: The permissions before umask.
        sync: Whether to write the content to disk before the file appears at `path`.

    Raises:
        OSError: The file cannot be written; the old one is unchanged.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor, named = _temporary(temporary, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            if sync:
                os.fsync(descriptor)
            if not named:
                # Python follows the link only with a directory descriptor. The path is absolute, so
                # any descriptor will do.
                os.link(f"/proc/self/fd/{descriptor}", temporary, src_dir_fd=descriptor)
                named = True
        temporary.replace(path)
        named = False
    finally:
        if named:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _temporary(path: Path, mode: int) -> tuple[int, bool]:
    """A descriptor of a new file in the folder of `path`, and whether it is named `path`."""
    if Path("/proc/self/fd").is_dir():
        try:
            return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, mode), False
        except OSError as error:
            # The errors of file systems and kernels without O_TMPFILE.
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode), True
