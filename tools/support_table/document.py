# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The generated parts of docs/support.md: the differences of a device, and the table of
operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .library import ROOT
from .operations import axes_of

__all__ = ["DOCUMENT", "operations_section", "replace_section"]

DOCUMENT = ROOT / "docs/support.md"


def replace_section(name: str, text: str) -> None:
    """Replaces a generated part of the document.

    Args:
        name: Of the part, which is between the comments `name: begin` and `name: end`.
        text: The new content.

    Raises:
        ValueError: The document does not have the comments.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    document = DOCUMENT.read_text()
    if begin not in document or end not in document:
        message = f"expected {begin.strip()} and {end} in {DOCUMENT}"
        raise ValueError(message)
    DOCUMENT.write_text(
        re.sub(f"{begin}.*?{end}", lambda _: begin + text + end, document, flags=re.DOTALL)
    )


def operations_section(rows: Sequence[dict[str, Any]]) -> str:
    """Formats the rows of operations for the document.

    Args:
        rows: The rows.

    Returns:
        A table with one line per operation and group of equal modes: the dtypes with an engine, and
        the values of other axes that no row accepts.
    """
    subjects: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        for mode in row.get("modes", ["-"]):
            subjects.setdefault((row["operation"], mode), []).append(row)
    # Modes with equal content share a line.
    lines: dict[tuple[str, str, str], list[str]] = {}
    for (operation, mode), mode_rows in subjects.items():
        dtypes = sorted({dtype for row in mode_rows if row["takes"] for dtype in row["dtypes"]})
        refused = (
            [f"{axis} {', '.join(values)}" for axis, values in _only_refused(mode_rows)]
            if dtypes
            else []
        )
        lines.setdefault((operation, ", ".join(dtypes) or "none", "; ".join(refused)), []).append(
            mode
        )
    text = ["| operation | modes | dtypes with an engine | without one |", "|---|---|---|---|"]
    text += [
        f"| {operation} | {', '.join(modes)} | {dtypes} | {refused} |"
        for (operation, dtypes, refused), modes in lines.items()
    ]
    return "\n".join(text) + "\n"


def _only_refused(rows: Sequence[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Returns, by axis, the values that rows refuse and no row accepts."""
    names = dict.fromkeys(
        axis for row in rows for axis in axes_of(row) if axis not in ("modes", "dtypes")
    )
    found = []
    for axis in names:
        accepted, refused = (
            {str(value) for row in rows if row["takes"] is takes for value in row.get(axis, ())}
            for takes in (True, False)
        )
        if refused - accepted:
            found.append((axis.replace("_", " "), sorted(refused - accepted)))
    return found
