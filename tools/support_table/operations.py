"""What cuDNN takes of operations that no group has: norms, attention, reductions and others, each a
graph of one operation and what may stand beside it. The answers are a section of the support table,
`operations`, which the compiler does not read yet.

A *point* names what rows tell apart: an operation and a value on each of its axes, as the phase of
a norm or the dtype. Points are taken when cuDNN takes every graph that is evidence for them,
whatever its sizes. Every point that was asked about is in a row, refused ones too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.descriptors import read_table

from .table import boxes, note, taken

__all__ = ["OperationCase", "axes_of", "disagreements", "missed", "operation_rows", "row_of"]

#: The descriptor of an operation whose own name is another.
_KINDS = {
    "bn_finalize": "bn_finalize_statistics", "sdpa_forward": "sdpa_fwd",
    "resample": "resample_fwd", "resample_backward": "resample_bwd",
    "transpose": "pointwise", "attention_parts": "matmul",
}  # fmt: skip
#: Keys of a row that are no axis.
_OTHERS = ("operation", "takes", "tf32", "since", "note", "reason")
#: How much of cuDNN's words a row repeats.
_WORDS = 110


@dataclass(frozen=True)
class OperationCase:
    """One graph to ask about. `key` is its name, `axes` its point beside `operation`, and `text` a
    `cudnn.graph`. A reduction whose operator the compiler has no word for has no text, but the
    operator's number (cudnnReduceTensorOp_t)."""

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
        """The point in words."""
        return f"{self.operation} ({', '.join(map(str, self.axes.values()))})"


def _outcome(cases: Sequence[OperationCase], answers: Mapping[str, Any]) -> str:
    """Whether all graphs are taken: `yes`, `tf32` when some only with TF32, else `no`."""
    if not all(taken(answers[case.key]) for case in cases):
        return "no"
    return "yes" if all(answers[case.key]["strict"] for case in cases) else "tf32"


def _reason(cases: Sequence[OperationCase], answers: Mapping[str, Any]) -> str:
    """cuDNN's words on graphs that it refuses: those that it says of most, of heuristic A where it
    has any."""
    refused = [answers[case.key] for case in cases if not taken(answers[case.key])]
    words = Counter(clause for answer in refused for clause in _clauses(answer.get("rejected", ())))
    text = min(words, key=lambda clause: (-words[clause], clause)) if words else "no reason given"
    text = text if len(refused) == len(cases) else f"{len(refused)} of {len(cases)} graphs: {text}"
    return text if len(text) <= _WORDS else text[: _WORDS - 3] + "..."


def _clauses(rejected: Sequence[str]) -> list[str]:
    """The reasons of one graph, without the heuristic and, where there are others, the status that
    they came with."""
    for line in rejected:
        text = re.sub(r"^heuristic \w+: (no engine: )?|Error: |Reason: ", "", line)
        plain = re.sub(r"CUDNN_STATUS_\w+[:;] ", "", text).strip()
        if text != "no reason given":
            return plain.split("; ") if plain else [text.strip(": ")]
    return []


def operation_rows(
    cases: Sequence[OperationCase], answers: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Rows that span exactly the points of `cases`; `answers` are cuDNN's, by graph."""
    since = {each.kind: each.since for each in read_table().descriptors}
    evidence: dict[tuple[str, tuple[tuple[str, str | int], ...]], list[OperationCase]] = (
        defaultdict(list)
    )
    for case in cases:
        evidence[case.operation, tuple(case.axes.items())].append(case)
    # Points with the same axes may share a row.
    subjects: dict[
        tuple[str, tuple[str, ...], str], dict[tuple[str | int, ...], list[OperationCase]]
    ] = defaultdict(dict)
    for (operation, axes), some in evidence.items():
        subject = operation, tuple(name for name, _ in axes), _outcome(some, answers)
        subjects[subject][tuple(value for _, value in axes)] = some
    rows = []
    for (operation, names, outcome), points in subjects.items():
        for box in boxes(set(points)):
            behind = [
                case
                for point, some in points.items()
                if all(map(_within, point, box))
                for case in some
            ]
            row: dict[str, Any] = {"operation": operation, "takes": outcome != "no"}
            row |= {name: list(values) for name, values in zip(names, box, strict=True)}
            if outcome == "tf32":
                row["tf32"] = True
            row["since"] = since["operation_" + _KINDS.get(operation, operation)]
            if outcome == "no":
                row |= {"note": f"{len(behind)} graphs", "reason": _reason(behind, answers)}
            else:
                row["note"] = note(behind, answers)
            rows.append(row)
    order = list(dict.fromkeys(case.operation for case in cases))
    return sorted(rows, key=lambda row: (order.index(row["operation"]), not row["takes"]))


def _within(value: str | int, values: Sequence[str | int]) -> bool:
    return value in values


def axes_of(row: dict[str, Any]) -> dict[str, list[str | int]]:
    """The values of a row on each of its axes."""
    return {name: values for name, values in row.items() if name not in _OTHERS}


def row_of(case: OperationCase, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The row that speaks of a graph's point."""
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
    made: Sequence[dict[str, Any]],
) -> Iterator[str]:
    """Where the rows of `table` and cuDNN disagree, in words. `made` are the rows that the answers
    make."""
    for case in cases:
        answer, row, own = answers[case.key], row_of(case, table), row_of(case, made)
        if row is None:
            yield f"{case.key}: the table has no row for {case.pattern}"
        elif row["takes"] and not taken(answer):
            yield (
                f"{case.key}: the table takes {case.pattern}, cuDNN does not: "
                f"{'; '.join(answer.get('rejected', ()))}"
            )
        elif row["takes"] and not row.get("tf32") and not answer["strict"]:
            yield (
                f"{case.key}: the table takes {case.pattern} without TF32, cuDNN does not: "
                "every engine rounds to TF32"
            )
        elif not row["takes"] and taken(answer) and own is not None and own["takes"]:
            yield f"{case.key}: cuDNN takes {case.pattern}, the table does not: {row['reason']}"
        elif row.get("tf32") and own is not None and own["takes"] and not own.get("tf32"):
            yield f"{case.key}: cuDNN takes {case.pattern} without TF32, the table does not"


def missed(
    cases: Sequence[OperationCase], answers: Mapping[str, Any], table: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Graphs that cuDNN takes although it does not take others of their point, by name, and why the
    table does not."""
    for case in cases:
        row = row_of(case, table)
        if row is not None and not row["takes"] and taken(answers[case.key]):
            yield case.key, f"not all graphs of a point: {row['reason']}"
