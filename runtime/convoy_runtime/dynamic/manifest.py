# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""manifest.json of an artifact with dynamic sizes: symbols, and one static program for each point,
a value of every symbol. The manifest of a point is a member with the fields of
`convoy_runtime.manifest`."""

# No `from __future__ import annotations`: `records` reads annotations.

import json
from collections.abc import Mapping
from dataclasses import field

from convoy_runtime.json_object import (
    COUNT,
    COUNTS,
    DTYPE,
    STRINGS,
    SYMBOL,
    TEXT,
    TEXTS,
    Document,
    choice,
)
from convoy_runtime.manifest import (
    DYNAMIC_FORMAT,
    MANIFEST,
    FileEntry,
)
from convoy_runtime.manifest_reader import check_members, check_versions
from convoy_runtime.record_fields import OMITTED, about
from convoy_runtime.records import record_of
from convoy_runtime.value_types import value_type

from .sizes import parse_size

__all__ = [
    "DynamicManifest",
    "DynamicTensor",
    "Point",
    "Symbol",
    "read_dynamic_manifest",
]


@value_type(frozen=True, slots=True)
class Symbol:
    """A size that is chosen by each call."""

    name: str = field(metadata=about("Its name.", SYMBOL))
    minimum: int = field(metadata=about("The smallest value.", COUNT))
    maximum: int = field(metadata=about("The largest value.", COUNT))
    multiple_of: int = field(metadata=about("Values are multiples of it.", COUNT))
    unpadded: str = field(
        default="",
        metadata=about(
            "Why a value between two points cannot run at the next point. Absent if it can: the "
            "compiler has proven that no op mixes elements along the symbol's dims.",
            TEXT,
            OMITTED,
        ),
    )

    @property
    def padded(self) -> bool:
        """Whether a value between two points runs at the next point."""
        return not self.unpadded

    def __str__(self) -> str:
        multiples = f", multiples of {self.multiple_of}" if self.multiple_of > 1 else ""
        return f"{self.name}: {self.minimum} to {self.maximum}{multiples}"


@value_type(frozen=True, slots=True)
class DynamicTensor:
    """An input or output."""

    name: str = field(metadata=about("The name; unique in its list.", TEXT))
    sizes: tuple[str, ...] = field(
        metadata=about(
            "One size per dim: a number, `name`, `2*name`, `name+1` or `2*name+1` of a symbol, or "
            "`?` for the size of an output that depends on symbols in another way.",
            TEXTS,
        )
    )
    dtype: str = field(metadata=about("torch's name of the element type.", DTYPE))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(self.sizes)}]"


@value_type(frozen=True, slots=True)
class Point:
    """The program for one value of each symbol."""

    values: tuple[int, ...] = field(
        metadata=about("One value per symbol, in the order of `symbols`.", COUNTS)
    )
    manifest: str = field(
        metadata=about(
            "The member with its manifest. The content of a member that this manifest lists is "
            "that of the artifact's member with the same SHA-256.",
            TEXT,
        )
    )


@value_type(frozen=True, slots=True)
class DynamicManifest:
    """The content of manifest.json of an artifact with dynamic sizes."""

    format: str = field(metadata=about("The format.", choice(DYNAMIC_FORMAT)))
    format_version: int = field(metadata=about("As in `Manifest`.", COUNT))
    abi_version: int = field(metadata=about("As in `Manifest`.", COUNT))
    target: str = field(metadata=about("Where the program runs.", choice("cpu", "cuda")))
    producer: Mapping[str, str] = field(
        metadata=about("The versions of Convoy, LLVM and PyTorch.", STRINGS)
    )
    symbols: tuple[Symbol, ...] = field(metadata=about("The symbols."))
    inputs: tuple[DynamicTensor, ...] = field(metadata=about("The inputs."))
    outputs: tuple[DynamicTensor, ...] = field(metadata=about("The outputs."))
    points: tuple[Point, ...] = field(metadata=about("The points."))
    files: Mapping[str, FileEntry] = field(metadata=about("Every other member by name."))

    def to_json(self) -> str:
        """The text of manifest.json. The inverse of `read_dynamic_manifest`."""
        return json.dumps(record_of(DynamicManifest).tree(self), indent=1) + "\n"


def read_dynamic_manifest(text: str | bytes, *, path: object = None) -> DynamicManifest:
    """Reads and checks manifest.json of an artifact with dynamic sizes.

    Args:
        text: The text of the member.
        path: The artifact, for messages.

    Returns:
        The manifest.

    Raises:
        ArtifactError: The text is invalid, or is of another version.
    """
    document = Document(path, MANIFEST)
    tree = document.parse(text)
    check_versions(tree, DYNAMIC_FORMAT, document)
    manifest = record_of(DynamicManifest).read(tree, "", document)
    check_members(manifest.files, [point.manifest for point in manifest.points], document)
    names = [symbol.name for symbol in manifest.symbols]
    if not names or len(set(names)) < len(names):
        raise document.error("symbols", f"expected distinct names, got {names}")
    for index, symbol in enumerate(manifest.symbols):
        if not 1 <= symbol.minimum <= symbol.maximum or symbol.multiple_of < 1:
            expected = "expected 1 <= minimum <= maximum and multiple_of >= 1"
            raise document.error(f"symbols[{index}]", f"{expected}, got {symbol}")
    for list_name in ("inputs", "outputs"):
        for index, tensor in enumerate(getattr(manifest, list_name)):
            for size in tensor.sizes:
                found = parse_size(size)
                unknown = found is None and (size != "?" or list_name == "inputs")
                if unknown or (found is not None and found.symbol not in ("", *names)):
                    problem = f"expected numbers and symbols {names}, got {size!r}"
                    raise document.error(f"{list_name}[{index}].sizes", problem)
    if not manifest.points:
        raise document.error("points", "expected a point, got none")
    seen = set()
    for index, point in enumerate(manifest.points):
        where = f"points[{index}].values"
        if len(point.values) != len(names):
            raise document.error(where, f"expected {len(names)} values, got {len(point.values)}")
        if point.values in seen:
            raise document.error(where, f"duplicate point {list(point.values)}")
        seen.add(point.values)
    return manifest
