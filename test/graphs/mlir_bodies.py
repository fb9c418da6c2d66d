"""Graphs in the form that convoy-opt prints, so that two texts of one graph are equal."""

from __future__ import annotations

import re

from tools.convoy_opt import convoy_opt

__all__ = ["bodies"]

_GRAPH = re.compile(r"^(  cudnn\.graph @\"?([\w.]+)\"?.*?^  })$", re.DOTALL | re.MULTILINE)


def bodies(text: str) -> dict[str, str]:
    """The body of each graph of a module, by name."""
    return {each[1]: each[0] for each in _GRAPH.findall(convoy_opt(text).stdout)}
