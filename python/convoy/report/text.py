# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints a report as text: totals, each call, and for each graph its plan and other candidates."""

from __future__ import annotations

from collections.abc import Iterator

from convoy.report.formatting import count, headline, micro, percent, scale, scope
from convoy.report.model import Choice, Report
from convoy.report.shipped import shipped_lines
from convoy.report.timeline import timeline
from convoy_runtime.plan_report import Trial, knob_text

__all__ = ["plan_lines", "report_lines"]

#: The number of candidates, and of rejected ones, that are printed per plan; the page has all.
_SHOWN = 5
#: The number of leading columns of the table with numbers.
_NUMBERS = 8


def report_lines(report: Report) -> Iterator[str]:
    """The lines of a report."""
    yield headline(report)
    yield from (f"  {note}" for note in (report.gpu.notes if report.gpu is not None else ()))
    yield from (f"  {line}" for line in _totals(report))
    yield ""
    yield from _steps(report)
    yield ""
    yield from plan_lines(report)


def plan_lines(report: Report) -> Iterator[str]:
    """The lines of the plans, each with its measured and rejected candidates."""
    if report.times != "measured":
        yield from shipped_lines(report)
        if report.choices:
            yield ""
    untuned = {step.name: step.untuned for step in report.steps if step.kind == "graph"}
    for choice in report.choices:
        yield from _plan(choice, untuned.get(choice.graph))


def _totals(report: Report) -> Iterator[str]:
    if report.replay_microseconds is not None:
        yield f"one replay {micro(report.replay_microseconds)} us ({report.form})"
    total, limit = report.sum_microseconds, report.limit_microseconds
    if total is not None:
        measured = sum(step.microseconds is not None for step in report.steps)
        calls = (
            count(measured, "call")
            if measured == len(report.steps)
            else f"{measured} of {len(report.steps)} calls"
        )
        roofline = (
            f"; the roofline allows {micro(limit)} us, {percent(limit / total)}"
            if limit is not None
            else ""
        )
        yield f"{calls}, sum of each measured alone: {micro(total)} us{roofline}"
    if report.in_place_microseconds is not None:
        schedule = timeline(report)
        critical = (
            f"; critical path of concurrent calls {micro(schedule.microseconds)} us"
            if schedule.lanes > 1
            else ""
        )
        yield (f"sum of each measured in place: {micro(report.in_place_microseconds)} us{critical}")


def _steps(report: Report) -> Iterator[str]:
    """The table of calls. It is not truncated to the width of the terminal."""
    rows: list[tuple[str, ...]] = [
        (
            "#",
            "us",
            "in place us",
            "roofline us",
            "share",
            "bytes",
            "FLOPs",
            "runs on",
            "limit",
            "call",
            "form",
            "location",
        )
    ]
    for number, step in enumerate(report.steps):
        choice = report.choice_of(step)
        times = map(micro, (step.microseconds, step.in_place_microseconds, step.limit_microseconds))
        runs_on = choice.name if choice is not None else step.untuned or "-"
        sizes = percent(step.share), scale(step.bytes, "B"), scale(step.flops, "")
        rows.append(
            (
                str(number),
                *times,
                *sizes,
                runs_on,
                step.bound or "-",
                step.name,
                step.form,
                step.location,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        numbers = (cell.rjust(width) for cell, width in zip(row[:_NUMBERS], widths, strict=False))
        words = (
            cell.ljust(width) for cell, width in zip(row[_NUMBERS:], widths[_NUMBERS:], strict=True)
        )
        yield "  ".join((*numbers, *words)).rstrip()


def _plan(choice: Choice, untuned: str | None) -> Iterator[str]:
    notes = ", ".join(choice.notes)
    level = f", level {choice.tuned}" if choice.tuned != choice.origin else ""
    found = f"{choice.heuristic}[{choice.rank}], {choice.origin}{level}"
    yield f"{choice.graph}: {_label(choice)} [{notes}] workspace {choice.workspace_bytes} bytes"
    yield f"  {found}; for {scope(choice)}"
    if choice.tuned == "offline" and untuned is not None and untuned.startswith("kernel"):
        yield f"  not used without tuning: {untuned} is preferred"
    for step in choice.steps:
        yield (
            f"  step {step.graph}: {step.name} {{{knob_text(step.knobs)}}} workspace "
            f"{step.workspace_bytes} bytes"
        )
    timed = [each for each in choice.candidates if each.microseconds is not None]
    out = [each for each in choice.candidates if each.microseconds is None]
    for each in timed[:_SHOWN]:
        marks = [
            mark
            for mark, is_so in (("chosen", choice.is_chosen(each)), ("untuned choice", each.first))
            if is_so
        ]
        suffix = f" ({', '.join(marks)})" if marks else ""
        yield (
            f"  {micro(each.microseconds):>9} us  {_label(each)} workspace "
            f"{each.workspace_bytes} bytes{suffix}"
        )
    yield from _more(len(timed), "slower plan")
    rejected = [*(f"{_label(each)}: {each.reason}" for each in out), *choice.rejected]
    for line in rejected[:_SHOWN]:
        yield f"  not {line}"
    yield from _more(len(rejected), "rejection")


def _label(plan: Choice | Trial) -> str:
    return f"{plan.name} {{{knob_text(plan.knobs)}}}"


def _more(number: int, what: str) -> Iterator[str]:
    if number > _SHOWN:
        yield f"  and {number - _SHOWN} more {what if number - _SHOWN == 1 else what + 's'}"
