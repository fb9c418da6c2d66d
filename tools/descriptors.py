# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Parses dialect/cudnn_backend/Descriptors.def and cudnn_graph.h."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = [
    "ROOT",
    "Attribute",
    "Descriptor",
    "Enumerator",
    "Header",
    "LeftOut",
    "Table",
    "Type",
    "find_header",
    "read_header",
    "read_table",
]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Type:
    """BACKEND_TYPE: a cudnnBackendAttributeType_t, its C type and the size of an element in
    bytes."""

    name: str
    cname: str
    number: int
    ctype: str
    size: int


@dataclass(frozen=True, slots=True)
class Enumerator:
    """BACKEND_ENUM: an enumerator of an attribute type."""

    type: str
    name: str
    cname: str
    number: int
    since: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """BACKEND_LEFT_OUT: an enumerator of the header that the list omits, and the reason."""

    cname: str
    reason: str


@dataclass(frozen=True, slots=True)
class Descriptor:
    """BACKEND_DESCRIPTOR: a cudnnBackendDescriptorType_t."""

    kind: str
    number: int
    since: int

    @property
    def cname(self) -> str:
        return f"CUDNN_BACKEND_{self.kind.upper()}_DESCRIPTOR"


@dataclass(frozen=True, slots=True)
class Attribute:
    """BACKEND_ATTRIBUTE: a cudnnBackendAttributeName_t and its rules, which Descriptors.def
    documents."""

    kind: str
    name: str
    number: int
    type: str
    alternative: str
    count: str
    need: str
    initial: str
    element: str
    since: int

    @property
    def cname(self) -> str:
        return f"CUDNN_ATTR_{self.name.upper()}"


@dataclass(frozen=True, slots=True)
class Table:
    """Descriptors.def, in its order."""

    types: tuple[Type, ...]
    enumerators: tuple[Enumerator, ...]
    left_out: tuple[LeftOut, ...]
    descriptors: tuple[Descriptor, ...]
    attributes: tuple[Attribute, ...]

    def of_type(self, name: str) -> list[Enumerator]:
        """The enumerators of a type."""
        return [each for each in self.enumerators if each.type == name]


#: C enum to its enumerators, name to number.
Header = dict[str, dict[str, int]]


def _rows(text: str, macro: str) -> list[list[str]]:
    found = []
    for body in re.findall(rf"^{macro}\(((?:[^()\"]|\"[^\"]*\")*)\)", text, re.MULTILINE):
        found.append(
            [
                part.strip().strip('"')
                for part in re.findall(r"\"[^\"]*\"|[^,\"]+", body)
                if part.strip()
            ]
        )
    if not found:
        raise ValueError(f"expected rows of {macro}, but got none")
    return found


def read_table(path: Path = ROOT / "dialect/cudnn_backend/Descriptors.def") -> Table:
    """Reads Descriptors.def.

    Args:
        path: The file.

    Returns:
        The rows of all macros.

    Raises:
        ValueError: A macro has no row.
    """
    text = path.read_text()
    return Table(
        types=tuple(Type(a, b, int(c), d, int(e)) for a, b, c, d, e in _rows(text, "BACKEND_TYPE")),
        enumerators=tuple(
            Enumerator(a, b, c, int(d), int(e)) for a, b, c, d, e in _rows(text, "BACKEND_ENUM")
        ),
        left_out=tuple(LeftOut(a, b) for a, b in _rows(text, "BACKEND_LEFT_OUT")),
        descriptors=tuple(
            Descriptor(a, int(b), int(c)) for a, b, c in _rows(text, "BACKEND_DESCRIPTOR")
        ),
        attributes=tuple(
            Attribute(a, b, int(c), d, e, f, g, h, i, int(j))
            for a, b, c, d, e, f, g, h, i, j in _rows(text, "BACKEND_ATTRIBUTE")
        ),
    )


def find_header() -> Path | None:
    """The path of cudnn_graph.h in the nvidia-cudnn wheel, or None if it is not installed."""
    spec = find_spec("nvidia.cudnn")
    folders = (
        [Path(each) for each in spec.submodule_search_locations]
        if spec and spec.submodule_search_locations
        else []
    )
    return next(
        (
            each / "include/cudnn_graph.h"
            for each in folders
            if (each / "include/cudnn_graph.h").exists()
        ),
        None,
    )


def read_header(path: Path) -> Header:
    """The enums of a C header whose enumerators have explicit numbers."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    enums = re.findall(r"typedef enum \{([^}]*)\} (\w+)", text)
    return {
        name: {
            each: int(number)
            for each, number in re.findall(
                r"\b(CUDNN_\w+)(?:\s+CUDNN_DEPRECATED_ENUM)?\s*=\s*(\d+)", body
            )
        }
        for body, name in enums
    }
