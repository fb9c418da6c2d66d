"""Graphs in the form that convoy-opt prints, so that two texts of one graph are equal."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

__all__ = ["bodies"]

_GRAPH = re.compile(r"^(  cudnn\.graph @\"?([\w.]+)\"?.*?^  })$", re.DOTALL | re.MULTILINE)


def bodies(text: str) -> dict[str, str]:
    """The body of each graph of a module, by name."""
    tool = os.environ.get("CONVOY_OPT", str(Path(__file__).parents[2] / "build/bin/convoy-opt"))
    done = subprocess.run([tool, "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {each[1]: each[0] for each in _GRAPH.findall(done.stdout)}
