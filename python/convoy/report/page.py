# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Renders a report as a self-contained HTML page, without other files or the network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convoy.report import formatting
from convoy.report.model import Report
from convoy.report.page_data import KINDS, op_kind, page_data
from convoy.report.shipped import shipped_lines
from convoy.report.timeline import timeline
from convoy_runtime.plan_report import knob_text

__all__ = ["report_page"]

#: The scripts of the page in order, each in an element of its own.
_SCRIPTS: Final = (
    "vendor/d3.min.js",
    "vendor/dagre.min.js",
    "assets/common.js",
    "assets/roofline.js",
    "assets/timeline.js",
    "assets/memory.js",
    "assets/graph.js",
    "assets/table.js",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A source line, the indices of its calls, and their time."""

    number: int
    text: str
    steps: tuple[int, ...]
    microseconds: float | None


def report_page(report: Report) -> str:
    """Renders the page. Returns HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    folder = Path(__file__).parent
    used = {op_kind(step) for step in report.steps}
    places = _places(report)
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "micro": formatting.micro,
        "percent": formatting.percent,
        "scale": formatting.scale,
        "knobs": knob_text,
        "file": _file,
    }
    return environment.get_template("page.html.jinja").render(
        report=report,
        headline=formatting.headline(report),
        scope=formatting.scope,
        style=Markup((folder / "assets/page.css").read_text()),
        scripts=[Markup((folder / script).read_text()) for script in _SCRIPTS],
        data=Markup(page_data(report, places)),
        kinds=[kind for kind in KINDS if kind in used],
        op_kind=op_kind,
        timeline=timeline(report),
        shipped=[line.strip() for line in shipped_lines(report)]
        if report.times != "measured"
        else [],
        sources=[
            (file.path, index, list(_lines(report, file.path, file.lines)))
            for index, file in enumerate(report.sources)
        ],
        places=places,
    )


def _file(location: str) -> str:
    """A location without folders, e.g. `model.py:12`."""
    return location.rpartition("/")[2]


def _places(report: Report) -> dict[str, str]:
    """Location to the anchor of its source line in the page."""
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
