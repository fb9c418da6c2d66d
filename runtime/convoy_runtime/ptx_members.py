# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The members of an artifact with the PTX of a graph's kernel, compressed by gzip to a sixth. There
may be a hundred of them for each point of a dynamic size."""

from __future__ import annotations

import gzip
import zlib

from .errors import ArtifactError

__all__ = ["pack_ptx", "unpack_ptx"]

#: Far above the PTX of one kernel: damaged or hostile members do not fill the memory.
_MOST_BYTES = 1 << 26
#: zlib's code for the header of gzip.
_GZIP = 31


def pack_ptx(text: bytes) -> bytes:
    """Compresses PTX. Equal texts have equal results.

    Args:
        text: The PTX.

    Returns:
        The content of the member.
    """
    return gzip.compress(text, mtime=0)


def unpack_ptx(content: bytes | memoryview, member: str) -> bytes:
    """Restores the PTX of a member.

    Args:
        content: The content of the member.
        member: Its name, for messages.

    Returns:
        The PTX.

    Raises:
        ArtifactError: The content is not one stream of gzip of at most 64 MiB.
    """
    stream = zlib.decompressobj(_GZIP)
    try:
        text = stream.decompress(content, _MOST_BYTES)
    except zlib.error as error:
        problem = f"is not PTX that gzip has compressed: {error}"
        raise ArtifactError(problem=problem, member=member) from error
    if not stream.eof or stream.unused_data:
        raise ArtifactError(
            problem="is not PTX that gzip has compressed",
            member=member,
            expected=f"one stream of at most {_MOST_BYTES} bytes",
            got="a truncated or larger one" if not stream.eof else "bytes after the stream",
        )
    return text
