"""Changes to artifacts: bytes, the zip's structure, members, and fields of the manifest with all
hashes recomputed.

A changed and rehashed artifact is a different artifact that an author could have signed: it must be
refused, or run inside its memory. Every other mutant must be refused or give the same result. The
machine code of native.so is not changed: hashes and digests guard against that, and running changed
code would show nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from convoy_runtime._zip import ZipMember, lay_out

__all__ = ["Mutant", "Sample", "mutant"]

_MANIFEST, _NATIVE, _WEIGHTS = "manifest.json", "native.so", "weights.safetensors"
_EDGES: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 64, 255, 4096, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63,
    2**64, 2**70, 10**400, 1.5, 1e308,
    float("nan"), float("inf"), "", "x", "x" * 5000, "\0", "../../etc/passwd", "float16", "int64",
    "bool", "float64", None, True, False,
    [], {}, [0], [1], [[]], [2**63], [-1], [1] * 70, [0, 2**40], {"a": 1},
)  # fmt: skip


#: Offsets and sizes of the fields in a member's header, in its directory entry, and in the end of
#: the directory (PKWARE's APPNOTE, 4.3).
_LOCAL_FIELDS = ((4, 2), (6, 2), (8, 2), (10, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2))
_CENTRAL_FIELDS = (
    (4, 2),
    (8, 2),
    (10, 2),
    (16, 4),
    (20, 4),
    (24, 4),
    (28, 2),
    (30, 2),
    (32, 2),
    (34, 2),
    (42, 4),
)
_END_FIELDS = ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2))


@dataclass(frozen=True)
class Sample:
    """An unchanged artifact.

    Attributes:
        name: Its name in messages.
        content: The file.
        target: cpu or cuda.
        weights: Original weights to load, as a .safetensors file; empty if the artifact has the
            prepared ones.
    """

    name: str
    content: bytes
    target: str
    weights: bytes = b""

    def members(self) -> dict[str, bytes]:
        """The members by name, in order."""
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


@dataclass(frozen=True)
class Mutant:
    """A changed artifact, with the change and whether its hashes were recomputed."""

    sample: Sample
    content: bytes
    change: str
    remade: bool


def mutant(rng: Random, index: int, samples: list[Sample]) -> Mutant:
    """The mutant with this index. Mutants of the manifest's bytes cycle through all of them."""
    sample = samples[index % len(samples)]
    kind = rng.choices(_KINDS, _WEIGHTS_OF_KINDS)[0]
    content, change, remade = kind(rng, index // len(samples), sample)
    return Mutant(sample, content, change, remade)


def pack(members: dict[str, bytes], order: list[str] | None = None) -> bytes:
    """An artifact with these members; the manifest has their hashes and sizes."""
    tree = json.loads(members[_MANIFEST])
    files = tree["files"] if isinstance(tree, dict) and isinstance(tree.get("files"), dict) else {}
    for name, entry in files.items():
        if name in members and isinstance(entry, dict):
            content = members[name]
            entry.update(
                sha256=hashlib.sha256(content).hexdigest(),
                bytes=len(content),
                crc32=zlib.crc32(content),
            )
    return _zip({**members, _MANIFEST: json.dumps(tree, indent=1).encode()}, order)


def _zip(members: dict[str, bytes], order: list[str] | None = None) -> bytes:
    """The zip of these members, with the digest of the manifest, whatever the manifest contains."""
    names = order or list(members)
    layout = lay_out(
        [ZipMember(name, len(members[name]), zlib.crc32(members[name])) for name in names],
        hashlib.sha256(members[_MANIFEST]).hexdigest(),
    )
    pieces = [
        piece
        for name, (_, header) in zip(names, layout.headers, strict=True)
        for piece in (header, members[name])
    ]
    return b"".join((*pieces, layout.directory))


_Change = tuple[bytes, str, bool]


def _manifest_byte(rng: Random, index: int, sample: Sample) -> _Change:
    """Flips one bit of the manifest, in the next byte for each mutant."""
    text = sample.members()[_MANIFEST]
    at = sample.content.index(text) + index % len(text)
    bit = rng.randrange(8)
    content = bytearray(sample.content)
    content[at] ^= 1 << bit
    return bytes(content), f"bit {bit} of byte {at}, in the manifest", False


def _manifest_bytes_remade(rng: Random, _: int, sample: Sample) -> _Change:
    """Changes bytes of the manifest, with correct zip checksums."""
    members = sample.members()
    text = bytearray(members[_MANIFEST])
    at = rng.randrange(len(text))
    text[at] = rng.choice(
        (text[at] ^ (1 << rng.randrange(8)), ord("0") + rng.randrange(10), rng.randrange(256))
    )
    return (
        _zip({**members, _MANIFEST: bytes(text)}),
        f"byte {at} of the manifest, zip made anew",
        True,
    )


def _any_byte(rng: Random, _: int, sample: Sample) -> _Change:
    content = bytearray(sample.content)
    places = [rng.randrange(len(content)) for _ in range(rng.choice((1, 1, 2, 16)))]
    for at in places:
        content[at] = rng.randrange(256)
    return bytes(content), f"bytes {places}", False


def _truncation(rng: Random, _: int, sample: Sample) -> _Change:
    size = rng.randrange(len(sample.content))
    match rng.randrange(3):
        case 0:
            return sample.content[:size], f"truncated to {size} bytes", False
        case 1:
            return (
                sample.content + rng.randbytes(rng.choice((1, 22, 100))),
                "bytes behind the end",
                False,
            )
        case _:
            return sample.content[size:], f"without the first {size} bytes", False


def _structure(rng: Random, _: int, sample: Sample) -> _Change:
    """Changes a field of the zip's directory or of a local header, or adds comments."""
    content = bytearray(sample.content)
    central = content.index(b"PK\x01\x02")
    ends = content.rindex(b"PK\x05\x06")
    base, fields = rng.choice(
        [
            (found.start(), _LOCAL_FIELDS)
            for found in re.finditer(b"PK\x03\x04", content)
            if found.start() < central
        ]
        + [
            (found.start(), _CENTRAL_FIELDS)
            for found in re.finditer(b"PK\x01\x02", content)
            if found.start() >= central
        ]
        + [(ends, _END_FIELDS)] * 3
    )
    offset, size = rng.choice(fields)
    old = int.from_bytes(content[base + offset : base + offset + size], "little")
    full = (1 << 8 * size) - 1
    new = (
        rng.choice(
            (
                0,
                1,
                full,
                full - 1,
                old + 1,
                max(old - 1, 0),
                old ^ (1 << rng.randrange(8 * size)),
                len(content),
                central,
            )
        )
        & full
    )
    content[base + offset : base + offset + size] = new.to_bytes(size, "little")
    if rng.random() < 0.1:
        content += rng.choice(
            (b"PK\x05\x06" + bytes(18), b"PK\x06\x07" + bytes(16), content[ends:])
        )
    return bytes(content), f"{size} bytes at {base + offset} of the zip: {old} as {new}", False


def _members(rng: Random, _: int, sample: Sample) -> _Change:
    """Exchanges, renames, duplicates, drops, resizes or adds members, with or without correct
    hashes."""
    members = sample.members()
    names = [name for name in members if name != _MANIFEST]
    name, other = rng.choice(names), rng.choice(names)
    order = list(members)
    match rng.randrange(7):
        case 0:
            members[name], members[other] = members[other], members[name]
        case 1:
            members = {
                ("renamed" if each == name else each): content for each, content in members.items()
            }
            order = list(members)
        case 2:
            del members[name]
            order = list(members)
        case 3:
            size = rng.randrange(len(members[name]) + 1)
            members[name] = (
                members[name][:size]
                if rng.random() < 0.7
                else members[name] + bytes(rng.choice((1, 64, 4096)))
            )
        case 4:
            members[
                rng.choice(
                    (
                        "extra",
                        "../up",
                        "kernels/x.ptx.gz",
                        "plans/x.json",
                        "a/../b",
                        "C:\\x",
                        "native.so/",
                        "x" * 300,
                    )
                )
            ] = b"1"
            order = list(members)
        case 5:
            rng.shuffle(order)
        case _:
            order.insert(rng.randrange(len(order) + 1), name)
    remade = rng.random() < 0.7
    if remade and _MANIFEST in members:
        return pack(members, order), f"members: {name}, {other}, hashes made anew", True
    return _zip(members, order), f"members: {name}, {other}", False


def _fields(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values of a JSON tree."""
    items = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [
        found for key, value in items for found in ((*path, key), *_fields(value, (*path, key)))
    ]


def _field(rng: Random, tree: Any) -> str:
    """Changes one field of a JSON tree in place, and returns its name."""
    path = rng.choice(_fields(tree) or [()])
    if not path:
        return "nothing"
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    key, old = path[-1], parent[path[-1]]
    match rng.randrange(10):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.insert(key, old)
        case 1 if isinstance(parent, dict):
            parent[f"{key}_"] = old
        case 2 if isinstance(old, list) and old:
            rng.shuffle(old)
        case 3 if type(old) is int:
            parent[key] = rng.choice(
                (old + 1, old - 1, old * 2, old // 2, old * 1000, -old, old + 2**32)
            )
        case 4 if isinstance(old, list) and old:
            old.append(old[-1])
        case _:
            parent[key] = rng.choice(_EDGES)
    return (
        f"{'.'.join(map(str, path))}: {str(old)[:60]} as "
        f"{str(parent[key] if key in path and _has(parent, key) else 'nothing')[:60]}"
    )


def _has(parent: Any, key: Any) -> bool:
    return key in parent if isinstance(parent, dict) else key < len(parent)


def _manifest_field(rng: Random, _: int, sample: Sample) -> _Change:
    members = sample.members()
    tree = json.loads(members[_MANIFEST])
    changed = "; ".join(_field(rng, tree) for _ in range(rng.choice((1, 1, 1, 2))))
    members[_MANIFEST] = json.dumps(tree, indent=1).encode()
    return _zip(members), f"manifest: {changed}", True


def _json_member(rng: Random, index: int, sample: Sample) -> _Change:
    """Changes a field of another JSON member, with recomputed hashes."""
    members = sample.members()
    names = [name for name in members if name.endswith(".json") and name != _MANIFEST]
    if not names:
        return _manifest_field(rng, index, sample)
    name = rng.choice(names)
    tree = json.loads(members[name])
    changed = _field(rng, tree)
    members[name] = json.dumps(tree).encode()
    return pack(members), f"{name}: {changed}", True


def _safetensors(rng: Random, index: int, sample: Sample) -> _Change:
    """Changes the header of a safetensors member, with recomputed hashes."""
    members = sample.members()
    names = [name for name in members if name.endswith(".safetensors")]
    if not names:
        return _manifest_field(rng, index, sample)
    name = rng.choice(names)
    content = members[name]
    (length,) = struct.unpack("<Q", content[:8])
    match rng.randrange(4):
        case 0:
            new = rng.choice((0, 1, length - 1, length + 1, len(content), 2**31, 2**63, 2**64 - 1))
            members[name] = struct.pack("<Q", new) + content[8:]
            changed = f"a header of {new} bytes"
        case 1:
            text = bytearray(content[8 : 8 + length])
            at = rng.randrange(length)
            text[at] = rng.randrange(256)
            members[name] = content[:8] + bytes(text) + content[8 + length :]
            changed = f"byte {at} of the header"
        case _:
            tree = json.loads(content[8 : 8 + length])
            changed = _field(rng, tree)
            text = json.dumps(tree).encode()
            members[name] = struct.pack("<Q", len(text)) + text + content[8 + length :]
    return pack(members), f"{name}: {changed}", True


def _elf(rng: Random, index: int, sample: Sample) -> _Change:
    """Sets invalid or smaller values in headers of native.so, with recomputed hashes.

    Nothing else of it is changed. A library with other segments, another dynamic section or other
    code could have been written by its author. Loading it runs it, as SECURITY.md states; hashes
    and digests guard against that.
    """
    members = sample.members()
    content = bytearray(members[_NATIVE])
    table, entry, count = (
        struct.unpack_from("<Q", content, 32)[0],
        *struct.unpack_from("<HH", content, 54),
    )
    beyond = rng.choice((len(content) + 1, 2**31, 2**47, 2**63, 2**64 - 1))
    changes = [
        (0, "<I", rng.randrange(2**32)),
        (4, "<B", 1),
        (5, "<B", 2),
        (16, "<H", rng.choice((0, 1, 4, 65535))),
    ]
    changes += [
        (32, "<Q", beyond),
        (54, "<H", rng.choice((0, 1, 32, 55, 57, 65535))),
        (56, "<H", rng.choice((0, 65535))),
    ]
    changes += [(table + entry * rng.randrange(count) + field, "<Q", beyond) for field in (8, 32)]
    if rng.random() < 0.4:
        size = rng.choice((rng.randrange(len(content)), rng.randrange(200)))
        # The data after the last segment is for debuggers.
        end = max(
            sum(struct.unpack_from("<Q24xQ", content, table + entry * each + 8))
            for each in range(count)
        )
        members[_NATIVE] = bytes(content[: min(size, end - 1)])
        return pack(members), f"native.so truncated to {len(members[_NATIVE])} bytes", True
    place, form, new = rng.choice(changes)
    (old,) = struct.unpack_from(form, content, place)
    struct.pack_into(form, content, place, new)
    members[_NATIVE] = bytes(content)
    return pack(members), f"native.so: byte {place}: {old:#x} as {new:#x}", True


_KINDS: tuple[Callable[[Random, int, Sample], _Change], ...] = (
    _manifest_byte, _manifest_bytes_remade, _any_byte, _truncation, _structure, _members,
    _manifest_field, _json_member, _safetensors,
    _elf,
)  # fmt: skip
_WEIGHTS_OF_KINDS = (26, 8, 6, 5, 12, 8, 22, 5, 5, 3)
