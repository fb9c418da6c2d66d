# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lists the plans in an artifact, the GPUs that they are for, and the fallback on other GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from convoy.report.formatting import count, scope
from convoy.report.model import Choice, Report

__all__ = ["shipped_lines"]

#: Level (`PlanReport.tuned`) to description.
_LEVELS = {
    "exhaustive": "tuned (exhaustive)",
    "full": "tuned (full)",
    "quick": "tuned (quick)",
    "limited": "tuned (limited)",
    "off": "cuDNN's first choice on that GPU",
    "offline": "made without the GPU, not measured",
}


def shipped_lines(report: Report) -> Iterator[str]:
    """The plans of a report that is not measured: a line for each GPU, cuDNN, driver and set of
    restrictions, the graphs without a plan for them, and the conditions for using the others."""
    graphs = list(dict.fromkeys(step.name for step in report.steps if step.kind == "graph"))
    untuned = {step.name: step.untuned for step in report.steps if step.kind == "graph"}
    if not report.choices:
        runners = Counter(untuned.values())
        for runner, number in runners.most_common():
            yield (
                f"{count(number, 'graph')} without a plan: {runner} is used at load time, until "
                "`convoy tune` adds plans"
            )
        return
    by_scope: dict[str, list[Choice]] = {}
    for choice in report.choices:
        by_scope.setdefault(scope(choice), []).append(choice)
    for place, choices in by_scope.items():
        levels = Counter(_LEVELS.get(choice.tuned, choice.tuned) for choice in choices)
        named = {choice.graph for choice in choices}
        found = ", ".join(f"{number} {level}" for level, number in levels.most_common())
        yield f"for {place}: {len(named)} of {count(len(graphs), 'graph')}, {found}"
        for name in graphs:
            if name not in named:
                yield f"  {name} has none: {untuned[name]}"
    if any(choice.tuned != "offline" for choice in report.choices):
        yield "with another cuDNN or driver, plans are rebuilt from their engines and knobs"
    if any(choice.tuned == "offline" for choice in report.choices):
        yield (
            "plans made without the GPU are not used with another cuDNN, nor instead of a "
            "kernel that the graph prefers"
        )
    yield (
        "on another GPU, or with other restrictions, plans are not used: `convoy run --plans` "
        "prints the reason and the plans used instead"
    )
