"""What is said of the plans that a program runs on, on a GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convoy_runtime import Program
    from convoy_runtime.inspection import PlanReport

__all__ = ["print_plans"]

#: Levels of plans that nobody measured.
_UNMEASURED = ("offline", "off")
#: How what is said of a plan begins that artifact or cache have, and that was not taken.
_STORED = (
    "plan in the artifact",
    "offline plan in the artifact",
    "engine and knobs in the artifact",
    "stored ",
)


def print_plans(program: Program, path: Path, *, everything: bool = False) -> None:
    """Prints where the plans of a program are from, and whether they were measured; or `everything`
    that is known of them. Nothing for a program without cuDNN graphs."""
    reports: tuple[PlanReport, ...] = getattr(program, "plans", ())
    if not reports:
        return
    if everything:
        for report in reports:
            print(report)
            for line in report.rejected:
                print(f"  not {line}")
    origins = Counter(report.origin for report in reports)
    print(
        f"plans of {len(reports)} graphs: "
        f"{', '.join(f'{count} {origin}' for origin, count in origins.most_common())}"
    )
    refused = Counter(
        line for report in reports for line in report.rejected if line.startswith(_STORED)
    )
    for line, count in refused.most_common():
        print(f"  of {count} not taken, {line}")
    guessed = sum(report.tuned in _UNMEASURED for report in reports)
    if guessed:
        print(
            f"  {guessed} of them not measured on this GPU: `convoy tune {path}` "
            "measures, and puts the fastest into the artifact"
        )
