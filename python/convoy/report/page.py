"""A report as one HTML page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path

from convoy.report import words
from convoy.report.model import Report, Step

__all__ = ["report_page"]

_KINDS = {"graph": "cuDNN graphs", "kernel": "generated kernels", "copy": "copies"}
#: At most this many marks on the time axis.
_TICKS = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """A call in the timeline: place and width in percent of it, the reached part of the roofline in percent of the bar."""

    number: int
    step: Step
    lane: int
    left: float
    width: float
    share: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source, the calls that came from it, and what they take."""

    number: int
    text: str
    steps: tuple[int, ...]
    microseconds: float | None


def report_page(report: Report) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"micro": words.micro, "percent": words.percent, "scale": words.scale, "knobs": words.knobs, "file": _file}
    lanes = [kind for kind in _KINDS if any(step.kind == kind for step in report.steps)]
    bars = list(_bars(report, lanes))
    return environment.get_template("page.html.jinja").render(
        report=report,
        headline=words.headline(report),
        scope=words.scope,
        lanes=[(kind, _KINDS[kind]) for kind in lanes],
        bars=bars,
        ticks=list(_ticks(_span(report))),
        replay_width=100 * (report.replay_microseconds or 0) / _span(report) if bars else 0,
        sources=[(file.path, index, list(_lines(report, file.path, file.lines))) for index, file in enumerate(report.sources)],
        places=_places(report),
    )


def _file(location: str) -> str:
    """`model.py:12` of a location with folders."""
    return location.rpartition("/")[2]


def _time(step: Step) -> float | None:
    """Microseconds of a bar: in place where that was measured, where noise may be below zero."""
    return step.microseconds if step.in_place_microseconds is None else max(0.0, step.in_place_microseconds)


def _span(report: Report) -> float:
    """Microseconds that the timeline shows."""
    return max(sum(_time(step) or 0.0 for step in report.steps), report.replay_microseconds or 0.0)


def _bars(report: Report, lanes: list[str]) -> Iterator[Bar]:
    """The calls that were measured, end to end in the order of the program, a lane for each kind."""
    span, begin = _span(report), 0.0
    for number, step in enumerate(report.steps):
        if (time := _time(step)) is None or not span:
            continue
        reached = (step.limit_microseconds or 0.0) / time if time else 0.0
        yield Bar(number, step, lanes.index(step.kind), 100 * begin / span, 100 * time / span, share=100 * min(1.0, reached))
        begin += time


def _ticks(span: float) -> Iterator[tuple[float, str]]:
    """Marks of the time axis: place in percent, and microseconds, at round numbers."""
    if not span:
        return
    magnitude = 10.0 ** floor(log10(span / _TICKS))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if span / (factor * magnitude) <= _TICKS)
    for index in range(int(span / step) + 1):
        yield 100 * index * step / span, f"{index * step:g}"


def _places(report: Report) -> dict[str, str]:
    """Where in the page a location's line of source is, for those that are there."""
    return {f"{file.path}:{number}": f"source-{index}-{number}" for index, file in enumerate(report.sources) for number, _ in file.lines}


def _lines(report: Report, path: str, lines: tuple[tuple[int, str], ...]) -> Iterator[Line]:
    by_place: dict[str, list[int]] = defaultdict(list)
    for number, step in enumerate(report.steps):
        by_place[step.location].append(number)
    for number, text in lines:
        found = by_place.get(f"{path}:{number}", [])
        times = [time for each in found if (time := report.steps[each].microseconds) is not None]
        yield Line(number, text, tuple(found), sum(times) if times else None)
