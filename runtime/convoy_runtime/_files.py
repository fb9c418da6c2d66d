"""Files that others made, opened so that nothing but a regular file is read; and files written
whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = ["open_regular", "read_into", "read_regular", "write_whole"]

#: Linux reads and writes no more in one call.
_MOST_AT_ONCE = 1 << 30
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def open_regular(path: str | os.PathLike[str]) -> int:
    """A descriptor for reading the regular file at `path`. Raises OSError, also for what is no
    regular file: a FIFO would block, a device has no end. What is looked at is what was opened, so
    nobody can exchange it in between."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        # A socket cannot be opened, and neither can a device that is not there.
        if error.errno == errno.ENXIO:
            raise _irregular(Path(path).stat().st_mode, path) from error
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise _irregular(mode, path)
    return descriptor


def _irregular(mode: int, path: str | os.PathLike[str]) -> OSError:
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    return OSError(errno.EINVAL, f"expected a regular file, got {kind}", os.fspath(path))


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The content of the regular file at `path`. Raises OSError."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read()


def read_into(descriptor: int, memory: memoryview, offset: int) -> None:
    """Fills `memory` with the bytes of a file from `offset` on. Raises OSError, also when the file
    ends before."""
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
    """Writes a file with this content, or leaves what was at `path`. `mode` is less what umask
    takes. With `sync` the content is on the disk before it is at `path`. Raises OSError.

    The file has no name while it is written (O_TMPFILE), so that a process that is killed leaves
    nothing. File systems without such files get one with a name that begins with a dot, which stays
    when the process is killed.
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
                # Only with a descriptor does Python follow the link; the path is absolute, so it
                # does not matter which.
                os.link(f"/proc/self/fd/{descriptor}", temporary, src_dir_fd=descriptor)
                named = True
        temporary.replace(path)
        named = False
    finally:
        if named:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _temporary(path: Path, mode: int) -> tuple[int, bool]:
    """A new file in the folder of `path`, and whether it had to be given that name."""
    if Path("/proc/self/fd").is_dir():
        try:
            return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, mode), False
        except OSError as error:
            # What file systems and kernels without such files say.
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode), True
