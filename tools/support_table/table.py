# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Generates the rows of the support table from cuDNN's answers.

A cell is accepted if cuDNN accepts every graph that is evidence for it, for all windows, strides
and roles between the anchor and the role. If cuDNN accepts the role only with certain alignments of
channels, or only after certain roles, the row has a condition.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from .matrix import ALIGNMENTS, DTYPES, Case, Cell

__all__ = [
    "Condition",
    "Row",
    "after_of",
    "boxes",
    "conditions",
    "count",
    "covers",
    "is_accepted",
    "note",
    "row_json",
    "rows_of",
    "without_refused",
]


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


@dataclass(frozen=True)
class Row:
    """One row of the table. It spans the product of its values.

    Args:
        anchors: Names of anchors.
        roles: Names of roles.
        dtypes: Element types.
        layouts: Layouts of the anchors' tensors.
        ranks: Ranks of the anchors' operands.
        channel_groups: Kinds of channel groups; empty if the anchors have none.
        condition: The condition.
    """

    anchors: tuple[str, ...]
    roles: tuple[str, ...]
    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    ranks: tuple[int, ...]
    channel_groups: tuple[str, ...]
    condition: Condition


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


def boxes(cells: set[tuple[Any, ...]]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """Partitions a set of cells into products of values, greedily, the largest first.

    Args:
        cells: The cells, as tuples of values on the same axes.

    Yields:
        The values of a product by axis.
    """
    left = set(cells)
    while left:
        best: tuple[tuple[Any, ...], ...] = ()
        for seed in sorted(left):
            box = [(value,) for value in seed]
            for axis in range(len(box)):
                for value in sorted({cell[axis] for cell in left} - set(box[axis])):
                    wider = [*box[:axis], (*box[axis], value), *box[axis + 1 :]]
                    if set(product(*wider)) <= left:
                        box = wider
            new = tuple(tuple(sorted(values)) for values in box)
            if math.prod(map(len, new)) > (math.prod(map(len, best)) if best else 0):
                best = new
        yield best
        left -= set(product(*best))


def rows_of(cells: Cells) -> list[Row]:
    """Generates the rows that span exactly the given cells. Convolutions of different ranks can
    share a row.

    Args:
        cells: The accepted cells.

    Returns:
        The rows.
    """
    by_subject: dict[tuple[str, str, Condition], set[tuple[Any, ...]]] = defaultdict(set)
    for cell, cell_conditions in cells.items():
        rank = 0 if _one_rank(cell.anchor) else cell.rank
        for condition in cell_conditions:
            by_subject[cell.anchor, cell.role, condition].add(
                (cell.dtype, cell.layout, rank, cell.channel_groups)
            )
    roles = defaultdict(list)
    for (anchor, role, condition), spans in by_subject.items():
        for box in boxes(spans):
            roles[anchor, condition, box].append(role)
    anchors = defaultdict(list)
    for (anchor, condition, box), box_roles in roles.items():
        anchors[condition, box, tuple(box_roles)].append(anchor)
    rows = []
    for (condition, (dtypes, layouts, ranks, kinds), names), row_anchors in anchors.items():
        if ranks == (0,):
            ranks = tuple(sorted({_rank(name) for name in row_anchors}))
        kept = tuple(kind for kind in kinds if kind)
        rows.append(
            Row(tuple(row_anchors), names, _ordered(dtypes), layouts, ranks, kept, condition)
        )
    return rows


def _rank(anchor: str) -> int:
    """Returns the rank of a convolution's tensors, which for conv1d includes a height of 1."""
    return 4 if anchor == "conv1d" else int(anchor[-2]) + 2


def _one_rank(anchor: str) -> bool:
    return anchor[-2:] in ("1d", "2d", "3d")


def _ordered(dtypes: tuple[str, ...]) -> tuple[str, ...]:
    order = ("f16", "bf16", "f32")
    return tuple(
        sorted(dtypes, key=lambda dtype: (order.index(dtype) if dtype in order else 9, dtype))
    )


def covers(row: dict[str, Any], cell: Cell, channel_bytes: int, after: str) -> bool:
    """Checks whether a row accepts a cell, for graphs that the compiler does not form, and to find
    the graphs that are evidence for a row.

    Args:
        row: The row as JSON.
        cell: The cell.
        channel_bytes: The size of a group's channels in bytes.
        after: The roles between the anchor and the role, joined by '+'.

    Returns:
        Whether the row accepts it.
    """
    return (
        cell.anchor in row["anchors"]
        and cell.role in row["roles"]
        and cell.dtype in row["dtypes"]
        and cell.layout in row["layouts"]
        and cell.rank in row["ranks"]
        and cell.channel_groups in (row.get("channel_groups") or [""])
        and channel_bytes % row.get("channel_bytes", 1) == 0
        and after in row.get("after", [after])
    )


def _refused(refusal: dict[str, Any], cell: Cell) -> bool:
    """Whether a refusal matches a cell, at least for some alignments of channels."""
    columns = (
        ("anchors", cell.anchor),
        ("roles", cell.role),
        ("dtypes", cell.dtype),
        ("layouts", cell.layout),
        ("ranks", cell.rank),
    )
    named = all(value in refusal.get(column, [value]) for column, value in columns)
    return named and cell.channel_groups in refusal.get("channel_groups", [cell.channel_groups])


def without_refused(cells: Cells, refusals: Sequence[dict[str, Any]]) -> Cells:
    """Removes the cells that refusals match.

    Args:
        cells: The accepted cells.
        refusals: The refusals.

    Returns:
        The other cells. A refusal with `channel_bytes` narrows the condition of a cell instead.
    """
    kept: Cells = {}
    for cell, cell_conditions in cells.items():
        matching = [refusal for refusal in refusals if _refused(refusal, cell)]
        if all("channel_bytes" in refusal for refusal in matching):
            least = max([1, *(refusal["channel_bytes"] for refusal in matching)])
            narrowed = [
                replace(condition, channel_bytes=max(condition.channel_bytes, least))
                for condition in cell_conditions
            ]
            # With equal alignments, the condition without TF32 makes the other one redundant.
            kept[cell] = (
                (narrowed[0],)
                if len(narrowed) > 1 and replace(narrowed[0], tf32=True) == narrowed[1]
                else tuple(narrowed)
            )
    return kept


def count(cases: Sequence[Any]) -> str:
    """Formats the number of graphs.

    Args:
        cases: The graphs.

    Returns:
        E.g. `2 graphs`.
    """
    return f"{len(cases)} graph{'s' * (len(cases) != 1)}"


def note(cases: Sequence[Any], answers: Mapping[str, Any]) -> str:
    """Summarizes the evidence for a row.

    Args:
        cases: The graphs that are evidence.
        answers: cuDNN's answers by graph.

    Returns:
        The note of the row.
    """
    kinds = sorted({kind for case in cases for kind in answers[case.key]["kinds"]})
    first = Counter(
        engines[0] for case in cases if (engines := answers[case.key]["engines"].get("A"))
    ).most_common(5)
    offered = (
        f"most frequent first engines {', '.join(str(engine) for engine, _ in first)}"
        if first
        else "engines only from heuristic FALLBACK"
    )
    return f"{count(cases)}; {' and '.join(kinds)} kernels; {offered}"


def row_json(row: Row) -> dict[str, Any]:
    """Converts a row to JSON.

    Args:
        row: The row.

    Returns:
        The fields, without note and version.
    """
    text: dict[str, Any] = {
        name: list(getattr(row, name))
        for name in ("anchors", "roles", "dtypes", "layouts", "ranks")
    }
    if row.channel_groups:
        text["channel_groups"] = list(row.channel_groups)
    if row.condition.channel_bytes > 1:
        text["channel_bytes"] = row.condition.channel_bytes
    if row.condition.after:
        text["after"] = list(row.condition.after)
    if row.condition.tf32:
        text["tf32"] = True
    return text
