"""An artifact as a zip: where the content of each member lies, and every byte around it. Writer and
reader share this, so there is one artifact for given members and nothing in it that no digest
covers.

Members are stored, each at a multiple of 64 bytes. The zip's comment is the digest of the first
member, as `sha256:...`. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
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

#: Where a member's content may begin, in bytes.
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
#: The header id of padding in the extra field; readers skip what they do not know.
_PADDING = 0xC0DE
_ZIP64 = 1
#: From these on a number is in a zip64 field, and what stands in its place is the largest of 32,
#: and of 16, bits.
_LIMIT, _MOST_MEMBERS = 0xFFFF_FFFF, 0xFFFF
_WIDE, _WIDE_COUNT = 0xFFFF_FFFF, 0xFFFF
#: Versions of the format: plain, with zip64. Made by Unix, where the upper bits of the attributes
#: are the file's mode.
_PLAIN, _LARGE, _UNIX = 20, 45, 3
#: 1980-01-01, the earliest date that there is: equal members give equal files.
_DATE, _TIME = 0x21, 0
_MODE = 0o100644 << 16
_COMMENT_BYTES = len("sha256:") + 64
#: The end of an artifact: the zip's last record, with its comment.
END_BYTES = _END.size + _COMMENT_BYTES


@value_type(frozen=True, slots=True)
class ZipMember:
    """A member's name, the bytes of its content, and their CRC-32."""

    name: str
    bytes: int
    crc32: int


@value_type(frozen=True, slots=True)
class Layout:
    """A zip. `headers` are, of each member, where its header begins and the header, up to its
    content; `contents` where its content lies, the first byte and the one behind the last.
    `directory`, up to the end, begins behind the last content."""

    headers: tuple[tuple[int, bytes], ...]
    contents: tuple[tuple[int, int], ...]
    directory: bytes

    @property
    def directory_begin(self) -> int:
        """Where the directory begins."""
        return self.contents[-1][1]

    @property
    def bytes(self) -> int:
        """Bytes of the whole file."""
        return self.directory_begin + len(self.directory)


def lay_out(members: Iterable[ZipMember], digest: str) -> Layout:
    """The zip of these members, in their order; `digest` is that of the first one, in
    hexadecimal."""
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
    """The comment of an artifact whose manifest has this SHA-256."""
    return f"sha256:{digest}".encode()


def stored_bytes(end: bytes) -> bytes | None:
    """The comment in the last END_BYTES of a file; None when that is no end of an artifact."""
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
    """What stands behind the records of the directory, which begins at `begin`."""
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
