# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of the manifest that describe nested arguments and results: a list of nodes, each
followed by its items. `structure` reads them."""

# No `from __future__ import annotations`: `records` reads annotations.

from dataclasses import field

from .json_object import COUNT, TEXT, TEXTS, choice
from .record_fields import OMITTED, about
from .value_types import value_type

__all__ = ["KINDS", "Node"]

#: Kinds of nodes.
KINDS = ("tensor", "constant", "tuple", "list", "dict", "namedtuple", "dataclass")


@value_type(frozen=True, slots=True)
class Node:
    """A node of a structure. A structure is a list of nodes, each followed by its items."""

    kind: str = field(metadata=about("What the node is.", choice(*KINDS)))
    count: int = field(
        default=0, metadata=about("The number of items of a tuple or a list.", COUNT, OMITTED)
    )
    keys: tuple[str, ...] = field(
        default=(),
        metadata=about("The keys of a dict as JSON texts, or the names of fields.", TEXTS, OMITTED),
    )
    type: str = field(
        default="",
        metadata=about("`module.Class` of a named tuple or a dataclass.", TEXT, OMITTED),
    )
    value: str = field(
        default="",
        metadata=about("The value of a constant as a JSON text.", TEXT, OMITTED),
    )

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.keys) or self.count
