# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints how much of cuDNN's backend API is supported, computed from the sources: `make coverage`,
or `python -m tools.coverage`.

For each enum of cudnn_graph.h: the number of its enumerators in Descriptors.def, and the number of
those that a `cudnn` operation lowers to or the runtime uses. All others can be written in
`cudnn_backend` only.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field

from .cudnn_ops import enum_cases, lowered_names, lowered_operations, runtime_names
from .descriptors import Header, Table, find_header, read_header, read_table

__all__ = ["Row", "closing_line", "coverage", "main", "report", "reserved"]

#: Labels of enums, where the name of the attribute type is not clear.
_LABELS = {
    "pointwise_mode": "pointwise modes",
    "reduction_operator_type": "reductions",
    "norm_mode": "norms",
    "resample_mode": "resample modes",
    "padding_mode": "padding modes",
    "convolution_mode": "convolution modes",
    "heur_mode": "heuristics",
}
#: Enums that only the runtime uses: it selects a value, or reads it from cuDNN.
_RUNTIME = {"heur_mode", "knob_type", "numerical_note", "behavior_note"}


@dataclass(frozen=True, slots=True)
class Row:
    """The counts of one enum.

    Attributes:
        name: The label.
        total: The number of enumerators in the header.
        in_table: The number of enumerators in Descriptors.def.
        lowered: How many of those the lowering of `cudnn` operations uses; None if not applicable.
        runtime: How many of those the runtime uses; None if not applicable.
        left_out: The enumerators that Descriptors.def omits, with reasons.
        only_backend: The enumerators that only `cudnn_backend` can express.
    """

    name: str
    total: int
    in_table: int
    lowered: int | None
    runtime: int | None
    left_out: tuple[tuple[str, str], ...] = field(default=())
    only_backend: tuple[str, ...] = field(default=())


def coverage(table: Table, header: Header) -> list[Row]:
    """Counts the enumerators.

    Args:
        table: Descriptors.def.
        header: The enums of cudnn_graph.h.

    Returns:
        The rows of descriptor kinds and attributes, then one row per enum.
    """
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
        in_header, in_table = header[kind.ctype], {each.name for each in table.of_type(kind.name)}
        left_out = tuple((name, reasons[name]) for name in in_header if name in reasons)
        label, cases = (
            _LABELS.get(kind.name, kind.name.replace("_", " ")),
            in_table & set(enum_cases(kind.ctype)),
        )
        rest = tuple(sorted(in_table - cases)) if cases else ()
        by_runtime = len(in_table) if kind.name in _RUNTIME else None
        rows.append(
            Row(
                label,
                len(in_header),
                len(in_table),
                len(cases) if cases else None,
                by_runtime,
                left_out,
                rest,
            )
        )
    return rows


def reserved(table: Table) -> list[str]:
    """The attributes of the table that no version of cuDNN 9 can set or get."""
    return [each.name for each in table.attributes if each.need == "reserved"]


def closing_line(rows: list[Row]) -> str:
    """`coverage: K/K kinds, A/A attributes, P/P pointwise modes`, each as table/header."""
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
    """Formats the report.

    Args:
        table: Descriptors.def.
        rows: The rows from `coverage`.
        operations: The mnemonics of operations with a lowering.

    Returns:
        The report, whose last line is `closing_line(rows)`.
    """
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
                    f"{row.name} in the table that only cudnn_backend can express "
                    f"({len(row.only_backend)}):"
                ),
            ]
            lines += ["  " + each for each in _wrap(row.only_backend)]
    lines += [
        "",
        "in the table, but not supported by any cuDNN 9:",
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
            "used by a cudnn operation or by the runtime: " + ", ".join(above),
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
    """Prints the report. Returns 1 when cudnn_graph.h is not installed."""
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
