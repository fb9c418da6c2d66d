"""Prints how much of cuDNN's backend API is there, from the code itself: `make coverage`, or
`python -m tools.coverage`.

For each list of cudnn_graph.h: how many of its enumerators Descriptors.def has, and how many of
those a `cudnn` operation lowers to or the runtime uses. What is in the list and has neither can be
written in `cudnn_backend` and nowhere above it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field

from .cudnn_ops import enum_cases, lowered_names, lowered_operations, runtime_names
from .descriptors import Header, Table, find_header, read_header, read_table

__all__ = ["Row", "closing_line", "coverage", "main", "report", "reserved"]

#: What rows of enums are called, where the attribute type's name does not say it.
_LABELS = {
    "pointwise_mode": "pointwise modes",
    "reduction_operator_type": "reductions",
    "norm_mode": "norms",
    "resample_mode": "resample modes",
    "padding_mode": "padding modes",
    "convolution_mode": "convolution modes",
    "heur_mode": "heuristics",
}
#: Enums that no operation of the dialect chooses from: the runtime does, or cuDNN answers with
#: them.
_RUNTIME = {"heur_mode", "knob_type", "numerical_note", "behavior_note"}


@dataclass(frozen=True, slots=True)
class Row:
    """One list: its enumerators in the header, those in the table, and of these the ones that
    something else in the code reaches."""

    name: str
    total: int
    in_table: int
    lowered: int | None
    runtime: int | None
    left_out: tuple[tuple[str, str], ...] = field(default=())
    only_backend: tuple[str, ...] = field(default=())


def coverage(table: Table, header: Header) -> list[Row]:
    """The rows: kinds, attributes, then a row an enum."""
    lowered_kinds, lowered_attributes = lowered_names()
    runtime_kinds, runtime_attributes = runtime_names()
    kinds, attributes = (
        {each.kind for each in table.descriptors},
        {each.name for each in table.attributes},
    )
    rows = []
    for name, ctype, here, lowered, runtime in (
        ("descriptor kinds", "cudnnBackendDescriptorType_t", kinds, lowered_kinds, runtime_kinds),
        (
            "attributes",
            "cudnnBackendAttributeName_t",
            attributes,
            lowered_attributes,
            runtime_attributes,
        ),
    ):
        rest = tuple(sorted(here - lowered - runtime))
        rows.append(
            Row(
                name,
                len(header[ctype]),
                len(here),
                len(here & lowered),
                len(here & runtime),
                only_backend=rest,
            )
        )
    reasons = {each.cname: each.reason for each in table.left_out}
    for kind in table.types:
        if kind.ctype not in header or kind.name == "attrib_name":
            continue
        there, words = header[kind.ctype], {each.name for each in table.of_type(kind.name)}
        left_out = tuple((name, reasons[name]) for name in there if name in reasons)
        label, cases = (
            _LABELS.get(kind.name, kind.name.replace("_", " ")),
            words & set(enum_cases(kind.ctype)),
        )
        rest = tuple(sorted(words - cases)) if cases else ()
        by_runtime = len(words) if kind.name in _RUNTIME else None
        rows.append(
            Row(
                label,
                len(there),
                len(words),
                len(cases) if cases else None,
                by_runtime,
                left_out,
                rest,
            )
        )
    return rows


def reserved(table: Table) -> list[str]:
    """Attributes that the table has and no cuDNN 9 takes or gives."""
    return [each.name for each in table.attributes if each.need == "reserved"]


def closing_line(rows: list[Row]) -> str:
    """`coverage: K/K kinds, A/A attributes, P/P pointwise modes`: in the table, of the header."""
    by_name = {row.name: row for row in rows}
    parts = [
        ("descriptor kinds", "kinds"),
        ("attributes", "attributes"),
        ("pointwise modes", "pointwise modes"),
    ]
    return "coverage: " + ", ".join(
        f"{by_name[name].in_table}/{by_name[name].total} {label}" for name, label in parts
    )


def report(table: Table, rows: list[Row], operations: list[str]) -> str:
    """The whole page."""
    lines = [f"{'cudnn_graph.h':24} {'header':>7} {'table':>7} {'cudnn ops':>10} {'runtime':>8}"]
    for row in rows:
        cells = ["-" if value is None else str(value) for value in (row.lowered, row.runtime)]
        lines.append(f"{row.name:24} {row.total:7} {row.in_table:7} {cells[0]:>10} {cells[1]:>8}")
    lines += [
        "",
        f"operations of the cudnn dialect that lower to descriptors ({len(operations)}): "
        + ", ".join(operations),
    ]
    lines += ["", "left out of the table:"]
    lines += [f"  {name}: {reason}" for row in rows for name, reason in row.left_out]
    for row in rows:
        if row.only_backend:
            lines += [
                "",
                (
                    f"{row.name} in the table alone, to be written in cudnn_backend "
                    f"({len(row.only_backend)}):"
                ),
            ]
            lines += ["  " + each for each in _wrap(row.only_backend)]
    lines += [
        "",
        "in the table, but no cuDNN 9 takes or gives it:",
        *("  " + each for each in _wrap(reserved(table))),
    ]
    by_name = {row.name: row for row in rows}
    above = [
        f"{row.total - len(row.only_backend)}/{row.total} {name}"
        for name, row in by_name.items()
        if row.runtime and row.lowered
    ]
    return "\n".join(
        [
            *lines,
            "",
            "reached by an operation of cudnn or by the runtime: " + ", ".join(above),
            closing_line(rows),
        ]
    )


def _wrap(words: Collection[str], width: int = 120) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def main() -> int:
    """Prints the page; 1 when there is no header to compare with."""
    header = find_header()
    if header is None:
        print(
            "expected cudnn_graph.h of the nvidia-cudnn wheel, but got none: run `make build`",
            file=sys.stderr,
        )
        return 1
    table = read_table()
    print(report(table, coverage(table, read_header(header)), lowered_operations()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
