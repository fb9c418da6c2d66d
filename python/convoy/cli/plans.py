# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints the plans of a program on a GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from convoy_runtime.plan_report import plan_lines

if TYPE_CHECKING:
    from convoy_runtime import Program
    from convoy_runtime.inspection import PlanReport

__all__ = ["print_plans"]

#: Levels of plans that are not measured.
_UNMEASURED = ("offline", "off")
#: The prefixes of messages about rejected plans of the artifact or the cache.
_STORED = (
    "plan in the artifact",
    "offline plan in the artifact",
    "engine and knobs in the artifact",
    "stored ",
)


def print_plans(program: Program, path: Path, *, everything: bool = False) -> None:
    """Prints the origins of a program's plans, and how many are not measured. Prints nothing for a
    program without cuDNN graphs.

    Args:
        program: The program.
        path: The artifact, for messages.
        everything: Whether to also print `plan_lines` of each graph.
    """
    reports: tuple[PlanReport, ...] = getattr(program, "plans", ())
    if not reports:
        return
    if everything:
        for report in reports:
            print("\n".join(plan_lines(report)))
    origins = Counter(report.origin for report in reports)
    print(
        f"plans of {len(reports)} graphs: "
        f"{', '.join(f'{count} {origin}' for origin, count in origins.most_common())}"
    )
    refused = Counter(
        line for report in reports for line in report.rejected if line.startswith(_STORED)
    )
    for line, count in refused.most_common():
        print(f"  {count} rejected: {line}")
    guessed = sum(report.tuned in _UNMEASURED for report in reports)
    if guessed:
        print(
            f"  {guessed} of them not measured on this GPU: `convoy tune {path}` "
            "measures plans and adds the fastest to the artifact"
        )
