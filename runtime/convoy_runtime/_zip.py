# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The zip layout of an artifact: the offset of each member, and every byte between members. Writer
and reader share it, so that given members make exactly one artifact, and digests cover every byte.

Members are stored uncompressed, each at a multiple of 64 bytes. The zip comment is the digest of
the first member, `sha256:...`. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from .value_types import value_type

__all__ = [
    "ALIGNMENT",
    "END_BYTES",
    "LOCAL_HEADER",
    "Layout",
    "ZipMember",
    "comment_of",
    "lay_out",
    "stored_bytes",
]

#: Alignment of a member's content, in bytes.
ALIGNMENT = 64
LOCAL_HEADER = struct.Struct("<I5H3I2H")
_CENTRAL_HEADER = struct.Struct("<I6H3I5H2I")
_END = struct.Struct("<I4H2IH")
_END_64 = struct.Struct("<IQ2H2I4Q")
_LOCATOR_64 = struct.Struct("<2IQI")
_LOCAL, _CENTRAL, _ENDS, _ENDS_64, _LOCATES_64 = (
    0x04034B50,
    0x02014B50,
    0x06054B50,
    0x06064B50,
    0x07064B50,
)
#: The header ID of padding in the extra field; readers skip unknown IDs.
_PADDING = 0xC0DE
_ZIP64 = 1
#: Numbers from these limits on are in a zip64 field; the 32-bit or 16-bit field is all ones.
_LIMIT, _MOST_MEMBERS = 0xFFFF_FFFF, 0xFFFF
_WIDE, _WIDE_COUNT = 0xFFFF_FFFF, 0xFFFF
#: Versions of the format without and with zip64. `_UNIX` is the host system, for which the upper
#: bits of the attributes are the file's mode.
_PLAIN, _LARGE, _UNIX = 20, 45, 3
#: 1980-01-01, the earliest date: equal members make equal files.
_DATE, _TIME = 0x21, 0
_MODE = 0o100644 << 16
_COMMENT_BYTES = len("sha256:") + 64
#: The end of an artifact: the zip's last record, with its comment.
END_BYTES = _END.size + _COMMENT_BYTES


@value_type(frozen=True, slots=True)
class ZipMember:
    """A member's name, the size of its content in bytes, and its CRC-32."""

    name: str
    bytes: int
    crc32: int


@value_type(frozen=True, slots=True)
class Layout:
    """A zip file.

    Attributes:
        headers: For each member, the offset and the bytes of its header.
        contents: For each member, the begin and end offset of its content.
        directory: The bytes from the end of the last content to the end of the file.
    """

    headers: tuple[tuple[int, bytes], ...]
    contents: tuple[tuple[int, int], ...]
    directory: bytes

    @property
    def directory_begin(self) -> int:
        """The offset of the directory."""
        return self.contents[-1][1]

    @property
    def bytes(self) -> int:
        """The size of the file in bytes."""
        return self.directory_begin + len(self.directory)


def lay_out(members: Iterable[ZipMember], digest: str) -> Layout:
    """Computes the layout of a zip.

    Args:
        members: The members in their order.
        digest: The SHA-256 of the first member in hexadecimal.

    Returns:
        The layout.
    """
    headers, contents, records, offset = [], [], [], 0
    for member in members:
        name = member.name.encode()
        large = member.bytes >= _LIMIT
        size = _narrow(member.bytes)
        version = _LARGE if large else _PLAIN
        extra = struct.pack("<2H2Q", _ZIP64, 16, member.bytes, member.bytes) if large else b""
        padding = -(offset + LOCAL_HEADER.size + len(name) + len(extra) + 4) % ALIGNMENT
        extra += struct.pack("<2H", _PADDING, padding) + bytes(padding)
        header = (
            LOCAL_HEADER.pack(
                _LOCAL, version, 0, 0, _TIME, _DATE, member.crc32, size, size, len(name), len(extra)
            )
            + name
            + extra
        )
        headers.append((offset, header))
        records.append(_record(member, name, offset))
        begin = offset + len(header)
        offset = begin + member.bytes
        contents.append((begin, offset))
    return Layout(
        tuple(headers),
        tuple(contents),
        b"".join(records) + _end(records, offset, comment_of(digest)),
    )


def comment_of(digest: str) -> bytes:
    """The zip comment of an artifact whose manifest has this SHA-256."""
    return f"sha256:{digest}".encode()


def stored_bytes(end: bytes) -> bytes | None:
    """The zip comment in the last END_BYTES of a file, or None if it is not an artifact."""
    if len(end) != END_BYTES:
        return None
    signature, *_, length = _END.unpack_from(end)
    return end[_END.size :] if (signature, length) == (_ENDS, _COMMENT_BYTES) else None


def _record(member: ZipMember, name: bytes, offset: int) -> bytes:
    """A member's record in the directory."""
    wide = [number for number in (member.bytes, member.bytes, offset) if number >= _LIMIT]
    extra = struct.pack(f"<2H{len(wide)}Q", _ZIP64, 8 * len(wide), *wide) if wide else b""
    version, size = (_LARGE if wide else _PLAIN), _narrow(member.bytes)
    return (
        _CENTRAL_HEADER.pack(
            _CENTRAL, _UNIX << 8 | version, version, 0, 0, _TIME, _DATE, member.crc32, size, size,
            len(name), len(extra), 0, 0, 0, _MODE,
            _narrow(offset),
        )
        + name
        + extra
    )  # fmt: skip


def _end(records: list[bytes], begin: int, comment: bytes) -> bytes:
    """The bytes after the records of the directory, which begins at `begin`."""
    count, size = len(records), sum(map(len, records))
    text = b""
    if count >= _MOST_MEMBERS or max(begin, size) >= _LIMIT:
        text = _END_64.pack(
            _ENDS_64,
            _END_64.size - 12,
            _UNIX << 8 | _LARGE,
            _LARGE,
            0,
            0,
            count,
            count,
            size,
            begin,
        )
        text += _LOCATOR_64.pack(_LOCATES_64, 0, begin + size, 1)
    count = count if count < _MOST_MEMBERS else _WIDE_COUNT
    return (
        text
        + _END.pack(_ENDS, 0, 0, count, count, _narrow(size), _narrow(begin), len(comment))
        + comment
    )


def _narrow(number: int) -> int:
    return number if number < _LIMIT else _WIDE
