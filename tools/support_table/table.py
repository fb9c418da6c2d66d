"""From cuDNN's answers to the rows of the support table.

A cell is taken when cuDNN takes every graph that is evidence for it: whatever the window, the
stride and what stands between the anchor and the role. Where it takes the role only with channels
of some alignment, or only after some roles, the row says so.
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
    "covers",
    "note",
    "row_json",
    "rows_of",
    "taken",
    "without_refused",
]


@dataclass(frozen=True)
class Condition:
    """What a row says beyond the cells that it spans: alignment of channels, what must stand
    between the anchor and the role, and whether it holds for f32 only where that may be rounded to
    TF32."""

    channel_bytes: int
    after: tuple[str, ...] = ()
    tf32: bool = False


#: Each cell that is taken with the conditions, any of which will do.
Cells = dict[Cell, tuple[Condition, ...]]


@dataclass(frozen=True)
class Row:
    """One row of the table. Empty `channel_groups`: the anchors have none."""

    anchors: tuple[str, ...]
    roles: tuple[str, ...]
    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    ranks: tuple[int, ...]
    channel_groups: tuple[str, ...]
    condition: Condition


def _is_before(role: str) -> bool:
    """Whether a role has nothing between it and the anchor."""
    return role == "anchor" or role.startswith(("prologue_", "operand_"))


def _steps(case: Case) -> list[tuple[Cell, str]]:
    """The questions of a case to the table, each with the roles between the anchor and it, joined
    by '+'."""
    steps, after = [], ""
    for cell in case.cells:
        steps.append((cell, "" if _is_before(cell.role) else after))
        if not _is_before(cell.role):
            after += "+" * bool(after) + cell.role
    return steps


def after_of(case: Case) -> str:
    """The roles between the anchor and the one that `case` is evidence for, joined by '+'. That one
    is the last of its name."""
    return next((after for cell, after in reversed(_steps(case)) if cell == case.cell), "")


def taken(answer: dict[str, Any]) -> bool:
    """Whether cuDNN has an engine."""
    return any(answer["engines"].values())


def _alignment(cases: Sequence[Case], answers: dict[str, Any]) -> int | None:
    """The least alignment of channels, in bytes, with which cuDNN takes every graph, and with which
    it was asked."""
    for size in ALIGNMENTS:
        chosen = [case for case in cases if case.channel_bytes % size == 0]
        exact = size == ALIGNMENTS[-1] or any(case.channel_bytes % (2 * size) for case in chosen)
        if chosen and exact and all(taken(answers[case.key]) for case in chosen):
            return size if size > DTYPES.get(cases[0].dtype, 1) else 1
    return None


def _condition(cases: Sequence[Case], answers: dict[str, Any]) -> Condition | None:
    """Under which condition cuDNN takes a role; None when under none."""
    after: tuple[str, ...] = ()
    size = _alignment(cases, answers)
    if size is None:
        by_after = defaultdict(list)
        for case in cases:
            by_after[after_of(case)].append(case)
        sizes = {
            text: found
            for text, some in by_after.items()
            if (found := _alignment(some, answers)) is not None
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


def _taken_cells(cases: Iterable[Case], answers: dict[str, Any]) -> dict[Cell, Condition]:
    """Every cell that cuDNN takes, and how. A graph says something of one role only when its other
    roles are taken: what cuDNN refuses because of another role is no evidence. So the cells are
    worked out again until none changes."""
    evidence = defaultdict(list)
    for case in cases:
        if case.cell is not None:
            evidence[case.cell].append(case)
    found: dict[Cell, Condition | None] = {}
    for _ in range(8):
        known = found
        found = {}
        for cell, some in evidence.items():
            counted = [
                case for case in some
                if not known or all(other == cell or _allows(known.get(other), after,
                case.channel_bytes) for other, after in _steps(case))
            ]  # fmt: skip
            found[cell] = _condition(counted, answers) if counted else None
        if found == known:
            break
    return {cell: condition for cell, condition in found.items() if condition is not None}


def conditions(cases: Sequence[Case], answers: dict[str, Any]) -> Cells:
    """Every cell that cuDNN takes, and how; for f32 worked out with TF32 and without."""
    found = _taken_cells(cases, answers)
    exact = {
        key: answer if answer.get("strict") else {"engines": {}} for key, answer in answers.items()
    }
    strict = _taken_cells([case for case in cases if case.dtype == "f32"], exact)
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
        # It speaks of f32 alone: other dtypes get what the f32 cell beside them has, so that they
        # can share its row.
        beside = cells.get(cell._replace(dtype="f32"), ())
        if not more and len(beside) == 1 and beside[0] == replace(first, tf32=True):
            cells[cell] = beside
    return cells


def boxes(cells: set[tuple[Any, ...]]) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """Products of values that share no cell and whose union is `cells`: greedily, the largest
    first."""
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
    """Rows that span exactly `cells`. Anchors of one rank each, the convolutions, share rows: their
    ranks are then the anchors' own."""
    by_subject: dict[tuple[str, str, Condition], set[tuple[Any, ...]]] = defaultdict(set)
    for cell, some in cells.items():
        rank = 0 if _one_rank(cell.anchor) else cell.rank
        for condition in some:
            by_subject[cell.anchor, cell.role, condition].add(
                (cell.dtype, cell.layout, rank, cell.channel_groups)
            )
    roles = defaultdict(list)
    for (anchor, role, condition), spans in by_subject.items():
        for box in boxes(spans):
            roles[anchor, condition, box].append(role)
    anchors = defaultdict(list)
    for (anchor, condition, box), some_roles in roles.items():
        anchors[condition, box, tuple(some_roles)].append(anchor)
    rows = []
    for (condition, (dtypes, layouts, ranks, kinds), names), some_anchors in anchors.items():
        if ranks == (0,):
            ranks = tuple(sorted({_rank(name) for name in some_anchors}))
        kept = tuple(kind for kind in kinds if kind)
        rows.append(
            Row(tuple(some_anchors), names, _ordered(dtypes), layouts, ranks, kept, condition)
        )
    return rows


def _rank(anchor: str) -> int:
    """The rank of the tensors of a convolution; a forward one over one dim has two."""
    return 4 if anchor == "conv1d" else int(anchor[-2]) + 2


def _one_rank(anchor: str) -> bool:
    return anchor[-2:] in ("1d", "2d", "3d")


def _ordered(dtypes: tuple[str, ...]) -> tuple[str, ...]:
    order = ("f16", "bf16", "f32")
    return tuple(
        sorted(dtypes, key=lambda dtype: (order.index(dtype) if dtype in order else 9, dtype))
    )


def covers(row: dict[str, Any], cell: Cell, channel_bytes: int, after: str) -> bool:
    """Whether a row of the table, as JSON, takes a cell. The compiler has its own reading of the
    table; this is for graphs that it does not form, and for telling which graphs are behind a
    row."""
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
    """Whether a refusal speaks of a cell, with some channels at least."""
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
    """Cells that rows may span: those that no refusal speaks of, and, where it speaks of some
    channels, with the others."""
    kept: Cells = {}
    for cell, some in cells.items():
        spoken = [refusal for refusal in refusals if _refused(refusal, cell)]
        if all("channel_bytes" in refusal for refusal in spoken):
            least = max([1, *(refusal["channel_bytes"] for refusal in spoken)])
            narrowed = [
                replace(condition, channel_bytes=max(condition.channel_bytes, least))
                for condition in some
            ]
            # With channels alike, what holds without TF32 and after anything makes the other one
            # superfluous.
            kept[cell] = (
                (narrowed[0],)
                if len(narrowed) > 1 and replace(narrowed[0], tf32=True) == narrowed[1]
                else tuple(narrowed)
            )
    return {cell: tuple(some) for cell, some in kept.items()}


def note(cases: Sequence[Any], answers: Mapping[str, Any]) -> str:
    """What stands behind a row, for a reader."""
    kinds = sorted({kind for case in cases for kind in answers[case.key]["kinds"]})
    first = Counter(
        engines[0] for case in cases if (engines := answers[case.key]["engines"].get("A"))
    ).most_common(5)
    offered = (
        f"first mostly {', '.join(str(engine) for engine, _ in first)}"
        if first
        else "of heuristic FALLBACK alone"
    )
    return f"{len(cases)} graphs; {' and '.join(kinds)} kernels; engines {offered}"


def row_json(row: Row) -> dict[str, Any]:
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
