"""The support table as it is made from answers, and as text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from convoy._convoy import MINIMUM_CUDNN

from .library import Asked
from .matrix import Case
from .operations import OperationCase, operation_rows
from .table import after_of, conditions, covers, note, row_json, rows_of, taken, without_refused

__all__ = ["dump", "make_table"]


def make_table(
    asked: Sequence[Asked], answers: dict[str, Any], old: dict[str, Any]
) -> dict[str, Any]:
    """The table that `answers`, as tools.support_table.ask writes them, and the refusals of the old
    table make."""
    graphs = {case.key: answers["graphs"][case.key] for case in asked}
    operations = operation_rows([case for case in asked if isinstance(case, OperationCase)], graphs)
    evidence = {
        "cudnn": answers["cudnn"],
        "device": answers["device"],
        "graphs": len(graphs),
        "taken": sum(map(taken, graphs.values())),
    }
    cases = [case for case in asked if isinstance(case, Case)]
    return {
        "version": 1,
        "about": old["about"],
        "evidence": evidence,
        "refusals": old["refusals"],
        "rows": _rows([case for case in cases if case.is_group], graphs, old["refusals"]),
        "unformed": _rows([case for case in cases if not case.is_group], graphs, []),
        "operations": operations,
    }


def _rows(
    cases: Sequence[Case], graphs: dict[str, Any], refusals: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows about the cells that `cases` are evidence for."""
    cells = without_refused(conditions(cases, graphs), refusals)
    rows = [row_json(row) for row in rows_of(cells)]
    evidence_of = [
        (case, case.cell, after_of(case))
        for case in cases
        if case.cell is not None and taken(graphs[case.key])
    ]
    for row in rows:
        behind = [
            case
            for case, cell, after in evidence_of
            if covers(row, cell, case.channel_bytes, after)
        ]
        row |= {"since": MINIMUM_CUDNN, "note": note(behind, graphs)}
    return rows


def _tokens(value: Any) -> list[str]:
    """JSON text in parts that a line may end after."""
    return re.findall(r'(?:"\w+": )?(?:"(?:[^"\\]|\\.)*"|[^\s"])+\s?', json.dumps(value))


def dump(table: dict[str, Any]) -> str:
    """The table as text: a row or refusal begins a line, and lines are at most 140 columns long."""

    def wrapped(row: dict[str, Any]) -> str:
        lines = [""]
        for token in _tokens(row):
            if len(lines[-1]) + len(token) > 134:
                lines.append("")
            lines[-1] += token
        return "\n     ".join(line.rstrip() for line in lines)

    parts = [
        f"  {json.dumps(key)}: {json.dumps(value)}"
        for key, value in table.items()
        if not isinstance(value, list)
    ]
    for key, value in table.items():
        if isinstance(value, list):
            parts.append(
                f"  {json.dumps(key)}: [\n    "
                + ",\n    ".join(wrapped(row) for row in value)
                + "\n  ]"
            )
    return "{\n" + ",\n".join(parts) + "\n}\n"
