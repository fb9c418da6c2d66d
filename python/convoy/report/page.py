"""A report as one HTML page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from convoy.report import words
from convoy.report.model import Report
from convoy.report.shipped import shipped_lines
from convoy.report.timeline import timeline

__all__ = ["report_page"]

_KINDS = {"graph": "cuDNN graphs", "kernel": "generated kernels", "copy": "copies"}


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
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "micro": words.micro,
        "percent": words.percent,
        "scale": words.scale,
        "knobs": words.knobs,
        "file": _file,
    }
    return environment.get_template("page.html.jinja").render(
        report=report,
        headline=words.headline(report),
        scope=words.scope,
        kinds=[
            (kind, name)
            for kind, name in _KINDS.items()
            if any(step.kind == kind for step in report.steps)
        ],
        timeline=timeline(report),
        shipped=[line.strip() for line in shipped_lines(report)]
        if report.times != "measured"
        else [],
        sources=[
            (file.path, index, list(_lines(report, file.path, file.lines)))
            for index, file in enumerate(report.sources)
        ],
        places=_places(report),
    )


def _file(location: str) -> str:
    """`model.py:12` of a location with folders."""
    return location.rpartition("/")[2]


def _places(report: Report) -> dict[str, str]:
    """Where in the page a location's line of source is, for those that are there."""
    return {
        f"{file.path}:{number}": f"source-{index}-{number}"
        for index, file in enumerate(report.sources)
        for number, _ in file.lines
    }


def _lines(report: Report, path: str, lines: tuple[tuple[int, str], ...]) -> Iterator[Line]:
    by_place: dict[str, list[int]] = defaultdict(list)
    for number, step in enumerate(report.steps):
        by_place[step.location].append(number)
    for number, text in lines:
        found = by_place.get(f"{path}:{number}", [])
        times = [time for each in found if (time := report.steps[each].microseconds) is not None]
        yield Line(number, text, tuple(found), sum(times) if times else None)
