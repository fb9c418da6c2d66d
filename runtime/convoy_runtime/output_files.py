"""Files that commands and `save` write: checked before the work begins, and replaced whole or not
at all."""

from __future__ import annotations

import io
import os
import stat
import sys
import tempfile
from pathlib import Path

import numpy as np

from ._files import write_whole
from .errors import ArgumentError

__all__ = ["checked_folder", "checked_output", "checked_stream", "write_array", "write_text"]

#: Names of standard output. /dev/stdout is the file of the caller's redirection, which must be
#: continued and not replaced.
_STDOUT = ("-", "/dev/stdout")
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def checked_output(path: str | os.PathLike[str]) -> Path:
    """The file that writing to `path` creates or replaces; a symbolic link is followed, so that the
    link stays.

    Raises ArgumentError when that is no regular file, or when its folder does not exist or takes no
    new file. Call it before work that takes long.
    """
    target = Path(os.path.realpath(path))
    kind = _kind(path)
    if kind not in (None, stat.S_IFREG):
        raise _refusal(path, "a regular file", _KINDS.get(kind, "another kind of file"))
    if not target.parent.is_dir():
        raise _refusal(path, "a folder that exists", f"'{target.parent}'")
    try:
        # A file without a name: some folders say that they can be written to and take no file.
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise _refusal(
            path, "a folder that takes a new file", f"'{target.parent}': {error.strerror}"
        ) from error
    return target


def checked_stream(path: str | os.PathLike[str]) -> Path:
    """Like `checked_output`, for output that need not be a file: `-` and /dev/stdout are standard
    output, and a FIFO or a character device, as /dev/null, takes the bytes as they come."""
    return Path(path) if _is_stream(path) else checked_output(path)


def checked_folder(path: str | os.PathLike[str], *, option: str = "") -> Path:
    """The folder at `path`, which exists or can be made; `option` names it in messages. Raises
    ArgumentError."""
    name = f"{option} {path}".strip()
    nearest = Path(os.path.realpath(path))
    while _kind(nearest) is None and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise _refusal(
            name,
            "a folder",
            "a file" if nearest == Path(os.path.realpath(path)) else f"a file at '{nearest}'",
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise _refusal(name, "a folder that can be written to", f"'{nearest}', which cannot")
    return Path(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes text to standard output, a stream or a file, as `checked_stream` tells them apart.
    Raises ArgumentError, OSError."""
    if str(path) in _STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write(path, text.encode())


def write_array(path: str | os.PathLike[str], array: np.ndarray) -> None:
    """Writes an array in numpy's format to a stream or a file of exactly this name. Raises
    ArgumentError, OSError."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    if str(path) in _STDOUT:
        sys.stdout.buffer.write(buffer.getbuffer())
        sys.stdout.flush()
    else:
        _write(path, buffer.getbuffer())


def _write(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    try:
        if _is_stream(path):
            with Path(path).open("wb") as stream:
                stream.write(content)
        else:
            write_whole(checked_output(path), [content], sync=True)
    except OSError as error:
        # What the caller named, and not the file beside it.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_stream(path: str | os.PathLike[str]) -> bool:
    return str(path) in _STDOUT or _kind(path) in (stat.S_IFIFO, stat.S_IFCHR)


def _kind(path: str | os.PathLike[str]) -> int | None:
    """What is at `path`, links followed, as stat's S_IFMT gives it; None for nothing."""
    try:
        return stat.S_IFMT(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refusal(
            path, "a path that can be looked up", error.strerror or str(error)
        ) from error


def _refusal(path: str | os.PathLike[str], expected: str, got: str) -> ArgumentError:
    return ArgumentError(
        argument=str(path), problem="cannot be written", expected=expected, got=got
    )
