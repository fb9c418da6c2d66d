# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Learns from cuDNN's answers under which conditions it accepts a cell of the support table.

A cell is accepted if cuDNN accepts every graph that is evidence for it, for all windows, strides
and roles between the anchor and the role. If cuDNN accepts the role only with certain alignments of
channels, or only after certain roles, the cell has a condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .matrix import ALIGNMENTS, DTYPES, Case, Cell

__all__ = ["Cells", "Condition", "after_of", "conditions", "is_accepted"]


@dataclass(frozen=True)
class Condition:
    """The condition of a row.

    Args:
        channel_bytes: The channels of a group are a multiple of this many bytes.
        after: The sequences of roles that may be between the anchor and the role; empty: all.
        tf32: Whether f32 is only accepted if it may be rounded to TF32.
    """

    channel_bytes: int
    after: tuple[str, ...] = ()
    tf32: bool = False


#: The accepted cells, each with alternative conditions.
Cells = dict[Cell, tuple[Condition, ...]]


def _is_before(role: str) -> bool:
    """Whether no roles can be between the anchor and a role."""
    return role == "anchor" or role.startswith(("prologue_", "operand_"))


def _steps(case: Case) -> list[tuple[Cell, str]]:
    """Returns the cells of a case, each with the roles between the anchor and it, joined by '+'."""
    steps, after = [], ""
    for cell in case.cells:
        steps.append((cell, "" if _is_before(cell.role) else after))
        if not _is_before(cell.role):
            after += "+" * bool(after) + cell.role
    return steps


def after_of(case: Case) -> str:
    """Returns the roles between the anchor and the role for which a case is evidence.

    Args:
        case: The case. If it has several such roles, the last one counts.

    Returns:
        The names, joined by '+'.
    """
    return next((after for cell, after in reversed(_steps(case)) if cell == case.cell), "")


def is_accepted(answer: dict[str, Any]) -> bool:
    """Checks whether cuDNN accepts a graph.

    Args:
        answer: cuDNN's answer.

    Returns:
        Whether it has an engine.
    """
    return any(answer["engines"].values())


def _alignment(cases: Sequence[Case], answers: dict[str, Any]) -> int | None:
    """Returns the smallest queried alignment of channels, in bytes, with which cuDNN accepts every
    graph, or None."""
    for size in ALIGNMENTS:
        chosen = [case for case in cases if case.channel_bytes % size == 0]
        exact = size == ALIGNMENTS[-1] or any(case.channel_bytes % (2 * size) for case in chosen)
        if chosen and exact and all(is_accepted(answers[case.key]) for case in chosen):
            return size if size > DTYPES.get(cases[0].dtype, 1) else 1
    return None


def _condition(cases: Sequence[Case], answers: dict[str, Any]) -> Condition | None:
    """Returns the condition under which cuDNN accepts a role, or None."""
    after: tuple[str, ...] = ()
    size = _alignment(cases, answers)
    if size is None:
        by_after = defaultdict(list)
        for case in cases:
            by_after[after_of(case)].append(case)
        sizes = {
            text: found
            for text, after_cases in by_after.items()
            if (found := _alignment(after_cases, answers)) is not None
        }
        if not sizes or len(by_after) == 1:
            return None
        after, size = tuple(sorted(sizes)), max(sizes.values())
    return Condition(size, after)


def _allows(condition: Condition | None, after: str, channel_bytes: int) -> bool:
    return (
        condition is not None
        and after in (condition.after or (after,))
        and channel_bytes % condition.channel_bytes == 0
    )


def _accepted_cells(cases: Iterable[Case], answers: dict[str, Any]) -> dict[Cell, Condition]:
    """Returns the cells that cuDNN accepts, with their conditions. A graph is evidence for a role
    only if its other roles are accepted, because otherwise they may be why cuDNN refuses it. So the
    cells are recomputed until none changes."""
    evidence = defaultdict(list)
    for case in cases:
        if case.cell is not None:
            evidence[case.cell].append(case)
    found: dict[Cell, Condition | None] = {}
    for _ in range(8):
        known = found
        found = {}
        for cell, cell_cases in evidence.items():
            counted = [
                case for case in cell_cases
                if not known or all(other == cell or _allows(known.get(other), after,
                case.channel_bytes) for other, after in _steps(case))
            ]  # fmt: skip
            found[cell] = _condition(counted, answers) if counted else None
        if found == known:
            break
    return {cell: condition for cell, condition in found.items() if condition is not None}


def conditions(cases: Sequence[Case], answers: dict[str, Any]) -> Cells:
    """Finds the cells that cuDNN accepts.

    Args:
        cases: The graphs.
        answers: cuDNN's answers by graph.

    Returns:
        The cells with their conditions; for f32 those without TF32 and with it.
    """
    found = _accepted_cells(cases, answers)
    exact = {
        key: answer if answer.get("strict") else {"engines": {}} for key, answer in answers.items()
    }
    strict = _accepted_cells([case for case in cases if case.dtype == "f32"], exact)
    cells: Cells = {}
    for cell, condition in found.items():
        without = strict.get(cell) if cell.dtype == "f32" else condition
        wide = replace(condition, tf32=True)
        cells[cell] = (
            (wide,)
            if without is None
            else (condition,)
            if without == condition
            else (without, wide)
        )
    for cell, (first, *more) in cells.items():
        # `tf32` has no meaning for other dtypes. They take it from the corresponding f32 cell, so
        # that they can share its row.
        beside = cells.get(cell._replace(dtype="f32"), ())
        if not more and len(beside) == 1 and beside[0] == replace(first, tf32=True):
            cells[cell] = beside
    return cells
