"""Substitutes for queries in other processes, which crash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["dies_at_once", "dies_on_bad"]


def dies_on_bad(names: list[str], journal: Path) -> dict[str, Any]:
    """Crashes on graphs whose names begin with `bad`, and accepts others.

    Args:
        names: The graphs.
        journal: The file for the current name.

    Returns:
        The answers by name.
    """
    for name in names:
        journal.write_text(name)
        if name.startswith("bad"):
            os.abort()
    return {name: {"engines": {"A": [1]}} for name in names}


def dies_at_once(names: list[str], journal: Path) -> dict[str, Any]:
    """Crashes before the first graph.

    Args:
        names: The graphs.
        journal: The file for the current name, which is not written.
    """
    os.abort()
