"""The graphs of test/passes/host/Inputs/graphs, by name."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["GRAPHS"]

_FOLDER = Path(__file__).parents[1] / "host/Inputs/graphs"
_GRAPH = re.compile(r"^cudnn\.graph @(\w+)\(.*?^}\n", re.MULTILINE | re.DOTALL)

GRAPHS = {found[1]: found[0] for path in sorted(_FOLDER.glob("*.mlir")) for found in _GRAPH.finditer(path.read_text())}
