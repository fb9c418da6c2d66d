# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Output files of commands and `save`: checked before the work begins, and replaced atomically."""

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

#: Names of standard output. /dev/stdout may be a file that the caller redirects to, which must not
#: be replaced.
_STDOUT = ("-", "/dev/stdout")
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def checked_output(path: str | os.PathLike[str]) -> Path:
    """Checks that a file can be written, before long work.

    Args:
        path: The file.

    Returns:
        The file that writing to `path` creates or replaces; symbolic links are followed.

    Raises:
        ArgumentError: `path` is not a regular file, or its folder does not exist or is not
            writable.
    """
    target = Path(os.path.realpath(path))
    kind = _kind(path)
    if kind not in (None, stat.S_IFREG):
        raise _refusal(path, "a regular file", _KINDS.get(kind, "another kind of file"))
    if not target.parent.is_dir():
        raise _refusal(path, "a folder that exists", f"'{target.parent}'")
    try:
        # Creates an unnamed file: permissions alone do not show that the folder is writable.
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise _refusal(path, "a writable folder", f"'{target.parent}': {error.strerror}") from error
    return target


def checked_stream(path: str | os.PathLike[str]) -> Path:
    """Like `checked_output`, but also accepts streams: `-` and /dev/stdout are standard output, and
    a FIFO or a character device, e.g. /dev/null, is written directly."""
    return Path(path) if _is_stream(path) else checked_output(path)


def checked_folder(path: str | os.PathLike[str], *, option: str = "") -> Path:
    """Checks that a folder exists or can be created.

    Args:
        path: The folder.
        option: The command line option, for messages.

    Returns:
        `path`.

    Raises:
        ArgumentError: A file is in the way, or the folder is not writable.
    """
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
        raise _refusal(name, "a writable folder", f"'{nearest}', which is not")
    return Path(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes text to a path that `checked_stream` accepts. Raises ArgumentError, OSError."""
    if str(path) in _STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write(path, text.encode())


def write_array(path: str | os.PathLike[str], array: np.ndarray) -> None:
    """Writes an array in numpy's format to a path that `checked_stream` accepts, without adding a
    suffix. Raises ArgumentError, OSError."""
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
        # Reports the caller's path, not the temporary file.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_stream(path: str | os.PathLike[str]) -> bool:
    return str(path) in _STDOUT or _kind(path) in (stat.S_IFIFO, stat.S_IFCHR)


def _kind(path: str | os.PathLike[str]) -> int | None:
    """The S_IFMT bits of the file at `path` after following links, or None if there is no file."""
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
