# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The section `operations` of the support table: norms, attention, reductions and other operations
that groups do not have, each in a graph of its own with optional other operations. The compiler
reads the rows of pointwise operations.

A *point* is an operation and a value on each of its axes, e.g. the phase of a norm or the dtype. It
is accepted if cuDNN accepts every graph that is evidence for it, for all sizes. Every queried point
is in a row, including refused ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.descriptors import read_table

from .conditions import is_accepted
from .table import boxes, count, note

__all__ = ["OperationCase", "axes_of", "disagreements", "missed", "operation_rows", "row_of"]

#: The descriptors of operations that have other names than these.
_KINDS = {
    "bn_finalize": "bn_finalize_statistics", "sdpa_forward": "sdpa_fwd",
    "resample": "resample_fwd", "resample_backward": "resample_bwd",
    "transpose": "pointwise", "attention_parts": "matmul",
}  # fmt: skip
#: Keys of a row that are not axes.
_OTHERS = ("operation", "takes", "tf32", "since", "note", "reason")
#: The maximum length of a reason.
_MAX_REASON = 110


@dataclass(frozen=True)
class OperationCase:
    """One graph of the matrix.

    Args:
        key: Its symbol.
        operation: The operation.
        axes: Its values on the operation's axes.
        text: The `cudnn.graph`, empty for a reduction that dialect `cudnn` does not have.
        reduction: The operator of such a reduction (cudnnReduceTensorOp_t).
    """

    key: str
    operation: str
    axes: Mapping[str, str | int]
    text: str = ""
    reduction: int | None = None

    is_group = False

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def pattern(self) -> str:
        """The point as text."""
        return f"{self.operation} ({', '.join(map(str, self.axes.values()))})"


def _outcome(cases: Sequence[OperationCase], answers: Mapping[str, Any]) -> str:
    """Returns `no` unless all graphs are accepted, `tf32` if one is only accepted with TF32, and
    `yes` otherwise."""
    if not all(is_accepted(answers[case.key]) for case in cases):
        return "no"
    return "yes" if all(answers[case.key]["strict"] for case in cases) else "tf32"


def _reason(cases: Sequence[OperationCase], answers: Mapping[str, Any]) -> str:
    """Returns cuDNN's most frequent message about the refused graphs."""
    refused = [answers[case.key] for case in cases if not is_accepted(answers[case.key])]
    counts = Counter(
        clause for answer in refused for clause in _clauses(answer.get("rejected", ()))
    )
    text = (
        min(counts, key=lambda clause: (-counts[clause], clause)) if counts else "no reason given"
    )
    text = text if len(refused) == len(cases) else f"{len(refused)} of {len(cases)} graphs: {text}"
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 3] + "..."


def _clauses(rejected: Sequence[str]) -> list[str]:
    """Returns the messages about one graph: of the first heuristic that has any, without statuses
    if there are other texts."""
    for line in rejected:
        text = re.sub(r"^heuristic \w+: (no engine: )?|Error: |Reason: ", "", line)
        plain = re.sub(r"CUDNN_STATUS_\w+[:;] ", "", text).strip()
        if text != "no reason given":
            return plain.split("; ") if plain else [text.strip(": ")]
    return []


def operation_rows(
    cases: Sequence[OperationCase], answers: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Generates the rows of operations.

    Args:
        cases: The graphs.
        answers: cuDNN's answers by graph.

    Returns:
        Rows that span exactly the points of `cases`.
    """
    since = {each.kind: each.since for each in read_table().descriptors}
    evidence: dict[tuple[str, tuple[tuple[str, str | int], ...]], list[OperationCase]] = (
        defaultdict(list)
    )
    for case in cases:
        evidence[case.operation, tuple(case.axes.items())].append(case)
    # Points with the same axes and outcome can share a row.
    subjects: dict[
        tuple[str, tuple[str, ...], str], dict[tuple[str | int, ...], list[OperationCase]]
    ] = defaultdict(dict)
    for (operation, axes), point_cases in evidence.items():
        subject = operation, tuple(name for name, _ in axes), _outcome(point_cases, answers)
        subjects[subject][tuple(value for _, value in axes)] = point_cases
    rows = []
    for (operation, names, outcome), points in subjects.items():
        for box in boxes(set(points)):
            behind = [
                case
                for point, point_cases in points.items()
                if all(map(_within, point, box))
                for case in point_cases
            ]
            row: dict[str, Any] = {"operation": operation, "takes": outcome != "no"}
            row |= {name: list(values) for name, values in zip(names, box, strict=True)}
            if outcome == "tf32":
                row["tf32"] = True
            row["since"] = since["operation_" + _KINDS.get(operation, operation)]
            if outcome == "no":
                row |= {"note": count(behind), "reason": _reason(behind, answers)}
            else:
                row["note"] = note(behind, answers)
            rows.append(row)
    order = list(dict.fromkeys(case.operation for case in cases))
    return sorted(rows, key=lambda row: (order.index(row["operation"]), not row["takes"]))


def _within(value: str | int, values: Sequence[str | int]) -> bool:
    return value in values


def axes_of(row: dict[str, Any]) -> dict[str, list[str | int]]:
    """Returns the axes of a row.

    Args:
        row: The row.

    Returns:
        Its values by axis.
    """
    return {name: values for name, values in row.items() if name not in _OTHERS}


def row_of(case: OperationCase, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Finds the row of a graph's point.

    Args:
        case: The graph.
        rows: The rows.

    Returns:
        The row, or None.
    """
    for row in rows:
        if row["operation"] != case.operation or axes_of(row).keys() != case.axes.keys():
            continue
        if all(value in row[name] for name, value in case.axes.items()):
            return row
    return None


def disagreements(
    cases: Sequence[OperationCase],
    answers: Mapping[str, Any],
    table: Sequence[dict[str, Any]],
    generated: Sequence[dict[str, Any]],
) -> Iterator[str]:
    """Compares rows with cuDNN's answers.

    Args:
        cases: The graphs.
        answers: cuDNN's answers by graph.
        table: The rows to check.
        generated: The rows that are generated from the answers.

    Yields:
        A message for each disagreement.
    """
    for case in cases:
        answer, row, own = answers[case.key], row_of(case, table), row_of(case, generated)
        if row is None:
            yield f"{case.key}: the table has no row for {case.pattern}"
        elif row["takes"] and not is_accepted(answer):
            yield (
                f"{case.key}: the table accepts {case.pattern}, cuDNN refuses it: "
                f"{'; '.join(answer.get('rejected', ()))}"
            )
        elif row["takes"] and not row.get("tf32") and not answer["strict"]:
            yield (
                f"{case.key}: the table accepts {case.pattern} without TF32, cuDNN refuses it: "
                "all engines round to TF32"
            )
        elif not row["takes"] and is_accepted(answer) and own is not None and own["takes"]:
            yield f"{case.key}: cuDNN accepts {case.pattern}, the table refuses it: {row['reason']}"
        elif row.get("tf32") and own is not None and own["takes"] and not own.get("tf32"):
            yield f"{case.key}: cuDNN accepts {case.pattern} without TF32, the table refuses it"


def missed(
    cases: Sequence[OperationCase], answers: Mapping[str, Any], table: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Finds graphs that cuDNN accepts, but not the other graphs of their point.

    Args:
        cases: The graphs.
        answers: cuDNN's answers by graph.
        table: The rows.

    Yields:
        The symbol of a graph, and the reason of the row that refuses it.
    """
    for case in cases:
        row = row_of(case, table)
        if row is not None and not row["takes"] and is_accepted(answers[case.key]):
            yield case.key, f"not all graphs of the point: {row['reason']}"
