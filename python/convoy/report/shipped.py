"""Which plans an artifact holds, for whom, and what runs where they are not for the GPU that it is
loaded on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from convoy.report.model import Choice, Report
from convoy.report.words import count, scope

__all__ = ["shipped_lines"]

#: How plans were found, by level: what `PlanReport.tuned` says.
_LEVELS = {
    "exhaustive": "tuned (exhaustive)",
    "full": "tuned (full)",
    "quick": "tuned (quick)",
    "off": "cuDNN's first choice there",
    "offline": "made without the GPU, which nobody measured",
}


def shipped_lines(report: Report) -> Iterator[str]:
    """The plans of a report that was not measured: a line for each GPU, cuDNN, driver and set of
    restrictions, the graphs that have none for it, and when the others are taken."""
    graphs = list(dict.fromkeys(step.name for step in report.steps if step.kind == "graph"))
    untuned = {step.name: step.untuned for step in report.steps if step.kind == "graph"}
    if not report.choices:
        runners = Counter(untuned.values())
        for runner, number in runners.most_common():
            yield (
                f"{count(number, 'graph')} without a plan: {runner} where the artifact is "
                "loaded, until `convoy tune` has measured"
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
        yield "with another cuDNN or driver, their engines and knobs are built anew"
    if any(choice.tuned == "offline" for choice in report.choices):
        yield (
            "plans made without the GPU are not taken with another cuDNN, nor before a "
            "kernel that its graph prefers"
        )
    yield (
        "on any other GPU, or with other restrictions, they are not taken: `convoy run "
        "--plans` says so there, and what runs instead"
    )
