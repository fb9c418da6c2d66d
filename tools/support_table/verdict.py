# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares the support table with cuDNN's answers."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .conditions import after_of, is_accepted
from .generate import dump
from .library import AnyCase, refusals
from .matrix import Case
from .operations import OperationCase
from .operations import disagreements as of_operations
from .operations import missed as missed_operations
from .table import covers

__all__ = ["Verdict", "judge"]


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison.

    Args:
        graphs: The number of graphs.
        accepted: The number of graphs that cuDNN accepts.
        disagreements: A message for each disagreement.
        missed: Graphs that cuDNN accepts and the table refuses, by the table's reason.
    """

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
    """Returns the reasons why the table refuses graphs: the compiler's for groups, and those of
    `unformed` rows for others."""
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
    generated: dict[str, Any],
    *,
    strict: bool,
) -> Iterator[str]:
    """Yields a message for each disagreement of `table`, which should accept what `generated`, the
    table generated from the answers, accepts."""
    refused, refused_by_generated = (
        _refusals(cases, each, allow_tf32=not strict) for each in (table, generated)
    )
    where = " without TF32" if strict else ""
    for case in cases:
        answer = answers[case.key]
        accepted = is_accepted(answer) and (not strict or answer["strict"])
        if case.key not in refused and not accepted:
            reasons = "; ".join(answer.get("rejected", ())) or "all engines round to TF32"
            yield (
                f"{case.key}: the table accepts {case.pattern}{where}, cuDNN refuses it: {reasons}"
            )
        elif case.key in refused and accepted and case.key not in refused_by_generated:
            yield (
                f"{case.key}: cuDNN accepts {case.pattern}{where}, the table refuses it: "
                f"{refused[case.key]}"
            )


def judge(
    matrix: Sequence[AnyCase],
    answers: dict[str, Any],
    table: dict[str, Any],
    generated: dict[str, Any],
) -> Verdict:
    """Compares a table with cuDNN's answers.

    Args:
        matrix: The graphs.
        answers: cuDNN's answers by graph.
        table: The table to check.
        generated: The table generated from the answers.

    Returns:
        The result.
    """
    cases = [case for case in matrix if isinstance(case, Case)]
    operations = [case for case in matrix if isinstance(case, OperationCase)]
    disagreements = list(_compare(cases, answers, table, generated, strict=False))
    disagreements += _compare(
        [case for case in cases if case.dtype == "f32"], answers, table, generated, strict=True
    )
    disagreements += of_operations(
        operations, answers, table["operations"], generated["operations"]
    )
    missed: dict[str, list[str]] = {}
    for key, reason in missed_operations(operations, answers, table["operations"]):
        missed.setdefault(reason, []).append(key)
    for key, reason in _refusals(cases, table).items():
        if is_accepted(answers[key]):
            # Without role and anchor, so that graphs with the same reason are counted together.
            missed.setdefault(reason.partition(": ")[2], []).append(key)
    ordered = Counter({reason: len(keys) for reason, keys in missed.items()}).most_common()
    return Verdict(
        graphs=len(matrix),
        accepted=sum(is_accepted(answers[case.key]) for case in matrix),
        disagreements=tuple(disagreements),
        missed={reason: tuple(missed[reason]) for reason, _ in ordered},
    )
