# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Generates the support table from answers, and formats it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from convoy._convoy import MINIMUM_CUDNN

from .conditions import after_of, conditions, is_accepted
from .library import AnyCase
from .matrix import Case
from .operations import OperationCase, operation_rows
from .table import covers, note, row_json, rows_of, without_refused

__all__ = ["dump", "generate_table"]


def generate_table(
    cases: Sequence[AnyCase], answers: dict[str, Any], old: dict[str, Any]
) -> dict[str, Any]:
    """Generates the support table.

    Args:
        cases: The graphs.
        answers: cuDNN's answers, as tools.support_table.query writes them.
        old: The current table, whose refusals, kernels and texts are kept.

    Returns:
        The content of support_table.json.
    """
    graphs = {case.key: answers["graphs"][case.key] for case in cases}
    operations = operation_rows([case for case in cases if isinstance(case, OperationCase)], graphs)
    evidence = {
        "cudnn": answers["cudnn"],
        "device": answers["device"],
        "graphs": len(graphs),
        "taken": sum(map(is_accepted, graphs.values())),
    }
    graph_cases = [case for case in cases if isinstance(case, Case)]
    return {
        "version": 1,
        "about": old["about"],
        "evidence": evidence,
        "refusals": old["refusals"],
        "kernels": old.get("kernels", []),
        "rows": _rows([case for case in graph_cases if case.is_group], graphs, old["refusals"]),
        "unformed": _rows([case for case in graph_cases if not case.is_group], graphs, []),
        "operations": operations,
    }


def _rows(
    cases: Sequence[Case], graphs: dict[str, Any], refusals: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Returns the rows for the cells for which `cases` are evidence."""
    cells = without_refused(conditions(cases, graphs), refusals)
    rows = [row_json(row) for row in rows_of(cells)]
    evidence_of = [
        (case, case.cell, after_of(case))
        for case in cases
        if case.cell is not None and is_accepted(graphs[case.key])
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
    """Splits JSON text into tokens at which lines may be wrapped."""
    return re.findall(r'(?:"\w+": )?(?:"(?:[^"\\]|\\.)*"|[^\s"])+\s?', json.dumps(value))


def dump(table: dict[str, Any]) -> str:
    """Formats a support table.

    Args:
        table: The content of the file.

    Returns:
        JSON text. Each row or refusal starts a new line. Lines of rows have at most 140 columns.
    """

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
