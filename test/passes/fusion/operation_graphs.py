"""The graphs of test/passes/cudnn_to_backend/Inputs/graphs whose operations have several or optional
tensors, by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["GRAPHS", "Graph"]


@dataclass(frozen=True)
class Graph:
    """A `cudnn.graph`.

    Args:
        key: Its symbol.
        text: Its text.
    """

    key: str
    text: str
    is_group = False


_FOLDER = Path(__file__).parents[1] / "cudnn_to_backend/Inputs/graphs"
_GRAPH = re.compile(r"^cudnn\.graph @(\w+)\(.*?^}\n", re.MULTILINE | re.DOTALL)

_FILES = ("norm", "statistics", "data", "attention", "structured", "block_scale")

GRAPHS = {
    found[1]: found[0]
    for name in _FILES
    for found in _GRAPH.finditer((_FOLDER / f"{name}.mlir").read_text())
}
