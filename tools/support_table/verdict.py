"""Where the support table and cuDNN disagree, and what cuDNN takes that the table refuses."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .library import Asked, refusals
from .made import dump
from .matrix import Case
from .operations import OperationCase
from .operations import disagreements as of_operations
from .operations import missed as missed_operations
from .table import after_of, covers, taken

__all__ = ["Verdict", "judge"]


@dataclass(frozen=True)
class Verdict:
    """What came of a matrix. `disagreements` say which graph and how; `missed` are graphs that
    cuDNN takes and the table refuses, by the table's reason."""

    graphs: int
    accepted: int
    disagreements: tuple[str, ...]
    missed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"support: {self.graphs} graphs, {self.accepted} accepted, "
            f"{len(self.disagreements)} disagreements"
        )


def _refusals(
    cases: Sequence[Case], table: dict[str, Any], *, allow_tf32: bool = True
) -> dict[str, str]:
    """Reasons by graph: of the compiler for groups, of the rows for what it does not form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.json"
        path.write_text(dump(table))
        found = refusals(cases, path, allow_tf32=allow_tf32)
    for case in cases:
        if not case.is_group and case.cell is not None:
            rows = [
                row
                for row in table["unformed"]
                if covers(row, case.cell, case.channel_bytes, after_of(case))
            ]
            if not rows or (
                case.dtype == "f32" and not allow_tf32 and all(row.get("tf32") for row in rows)
            ):
                found[case.key] = f"{case.cell.role} with {case.cell.anchor}: no row"
    return found


def _compare(
    cases: Sequence[Case],
    answers: dict[str, Any],
    table: dict[str, Any],
    made: dict[str, Any],
    *,
    strict: bool,
) -> Iterator[str]:
    """Disagreements of `table`, in words. `made` is the table that the answers make: what it
    accepts, `table` should."""
    refused, refused_too = (_refusals(cases, each, allow_tf32=not strict) for each in (table, made))
    where = " without TF32" if strict else ""
    for case in cases:
        answer = answers[case.key]
        takes = taken(answer) and (not strict or answer["strict"])
        if case.key not in refused and not takes:
            reasons = "; ".join(answer.get("rejected", ())) or "every engine rounds to TF32"
            yield f"{case.key}: the table takes {case.pattern}{where}, cuDNN does not: {reasons}"
        elif case.key in refused and takes and case.key not in refused_too:
            yield (
                f"{case.key}: cuDNN takes {case.pattern}{where}, the table does not: "
                f"{refused[case.key]}"
            )


def judge(
    asked: Sequence[Asked], answers: dict[str, Any], table: dict[str, Any], made: dict[str, Any]
) -> Verdict:
    """Compares `table` with cuDNN's answers (by graph), and with the table that was made from
    them."""
    cases = [case for case in asked if isinstance(case, Case)]
    operations = [case for case in asked if isinstance(case, OperationCase)]
    disagreements = list(_compare(cases, answers, table, made, strict=False))
    disagreements += _compare(
        [case for case in cases if case.dtype == "f32"], answers, table, made, strict=True
    )
    disagreements += of_operations(operations, answers, table["operations"], made["operations"])
    missed: dict[str, list[str]] = {}
    for key, reason in missed_operations(operations, answers, table["operations"]):
        missed.setdefault(reason, []).append(key)
    for key, reason in _refusals(cases, table).items():
        if taken(answers[key]):
            # Without the role and the anchor: what is said of many graphs is said once.
            missed.setdefault(reason.partition(": ")[2], []).append(key)
    ordered = Counter({reason: len(keys) for reason, keys in missed.items()}).most_common()
    return Verdict(
        graphs=len(asked),
        accepted=sum(taken(answers[case.key]) for case in asked),
        disagreements=tuple(disagreements),
        missed={reason: tuple(missed[reason]) for reason, _ in ordered},
    )
