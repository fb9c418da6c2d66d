# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures functions that are bound by memory beside copies of as many bytes, on one GPU.

    python -m benchmarks.bandwidth build/bandwidth --json build/bandwidth.json

The artifacts come from `benchmarks.bandwidth.build`. A time is the sum of the program's calls, each
alone on arrays that are not in the L2 cache (`CudaProgram.profile`). The time of a copy of as many
bytes, read and written, is interpolated between copies of 1 to 256 MB, which are measured in the
same way. Prints for each size of the first input how fast the function is in relation to the copy,
and the number of calls; the smallest ratios are at the top.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import convoy_runtime
from benchmarks.bandwidth.cases import COPIES, INDEX, copy_key
from convoy_runtime.cuda.program.executor import CudaProgram

__all__ = ["main", "ratio", "table"]

#: A ratio below this is printed in bold.
_GOAL = 0.8

#: The name of a case, its dtype, the MB of its first input, all bytes, microseconds, the copy's
#: microseconds and the number of calls; or the reason why it failed.
Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark. Returns the exit code: 1 if a case failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, default=Path("build/bandwidth.json"))
    options = parser.parse_args(arguments)
    index = json.loads((options.folder / INDEX).read_text())
    sizes, times = [], []
    for megabytes in COPIES:
        sizes.append(2 * megabytes << 20)
        times.append(_measured(options.folder / f"{copy_key(megabytes)}.convoy")[0])
    rows = []
    for key, case in index.items():
        copy = float(np.interp(case["bytes"], sizes, times))
        try:
            microseconds, calls = _measured(options.folder / f"{key}.convoy")
        except convoy_runtime.ConvoyRuntimeError as error:
            rows.append({**case, "failure": str(error)})
            continue
        rows.append({**case, "microseconds": microseconds, "copy": copy, "calls": calls})
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))
    return int(any("failure" in row for row in rows))


def _measured(path: Path) -> tuple[float, int]:
    """Returns the microseconds of all calls of a program, and their number."""
    with convoy_runtime.load(path, tune="quick") as program:
        assert isinstance(program, CudaProgram)
        timings = program.profile().timings
    return sum(each.microseconds or 0.0 for each in timings), len(timings)


def table(rows: Sequence[Row]) -> str:
    """Returns the table in Markdown, sorted by the smallest ratio of a case, and the failures."""
    sizes = sorted({row["megabytes"] for row in rows})
    cases: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        if "failure" not in row:
            cases.setdefault((row["name"], row["dtype"]), {})[row["megabytes"]] = row
    lines = [
        f"| function | dtype | {' | '.join(f'{size} MB, us | copy / function' for size in sizes)} "
        "| calls |",
        f"|---|---|{'---|---|' * len(sizes)}---|",
    ]
    ordered = sorted(cases.items(), key=lambda case: min(map(ratio, case[1].values())))
    for (name, dtype), found in ordered:
        cells = []
        for size in sizes:
            row = found.get(size)
            cells.append("-" if row is None else f"{row['microseconds']:.1f}")
            of_copy = None if row is None else ratio(row)
            cells.append(
                "-"
                if of_copy is None
                else f"{of_copy:.2f}"
                if of_copy >= _GOAL
                else f"**{of_copy:.2f}**"
            )
        calls = max(row["calls"] for row in found.values())
        lines.append(f"| {name} | {dtype} | {' | '.join(cells)} | {calls} |")
    failures = [
        f"{row['name']}, {row['dtype']}, {row['megabytes']} MB: {row['failure']}"
        for row in rows
        if "failure" in row
    ]
    return "\n".join(lines + failures)


def ratio(row: Row) -> float:
    """Returns the time of a copy of as many bytes, divided by that of the function."""
    return float(row["copy"] / row["microseconds"])


if __name__ == "__main__":
    raise SystemExit(main())
