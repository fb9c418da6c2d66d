# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Generates the rows of the support table from the cells that cuDNN accepts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from .conditions import Cells, Condition
from .matrix import Cell

__all__ = ["Row", "boxes", "count", "covers", "note", "row_json", "rows_of", "without_refused"]


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
