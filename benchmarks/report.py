# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Results of `benchmarks.compare`: JSON files, merging and Markdown tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.runners.job import PEERS
from convoy_runtime._files import write_whole

__all__ = ["Result", "Row", "Run", "add_versions", "best_peer", "dump", "load", "markdown", "merge"]

FORMAT = 1
_HEAD = ("model", "dtype", "batch")
_DTYPES = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32, TF32",
    "strict": "float32, no TF32",
}


@dataclass(slots=True)
class Result:
    """One runner in one row: its time and difference from fp64, or the reason of its failure."""

    #: Median milliseconds per run.
    ms: float | None = None
    #: Largest difference from fp64, relative to the largest output.
    error: float | None = None
    #: Seconds of the first compilation or tuning.
    seconds: float | None = None
    #: Number of processes that compiled at the same time as this one.
    at_once: int = 1
    failure: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def right(self, limit: float) -> bool:
        """Whether it has a time and a result within the limit."""
        return self.ms is not None and self.error is not None and self.error <= limit


@dataclass(slots=True)
class Row:
    """The results of one artifact, by runner."""

    case: Case
    results: dict[str, Result]


@dataclass(slots=True)
class Run:
    """One run of `benchmarks.compare`. `versions` maps component to version."""

    date: str
    command: str
    device: str
    versions: dict[str, str]
    rows: list[Row] = field(default_factory=list)


def dump(run: Run, path: Path) -> None:
    """Writes a run as JSON, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **asdict(run)}, indent=1) + "\n"
    write_whole(path, [text.encode()])


def load(path: Path) -> Run:
    """Reads a file that `dump` wrote. Raises ValueError for any other file."""
    try:
        content = json.loads(path.read_text())
        if content.pop("format") != FORMAT:
            raise ValueError(f"not of format {FORMAT}")
        rows = [
            Row(
                Case(**row["case"]), {name: Result(**each) for name, each in row["results"].items()}
            )
            for row in content.pop("rows")
        ]
        return Run(**content, rows=rows)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}: expected a JSON file from benchmarks.compare --json, got "
            f"{type(error).__name__}: {error}"
        ) from error


def merge(runs: Sequence[Run]) -> Run:
    """Merges runs into one. A row of several runs is taken entirely from the last one, because a
    ratio must come from one run. Raises ValueError unless all runs are from one device."""
    if len(devices := sorted({run.device for run in runs})) != 1:
        raise ValueError(f"expected runs of one device, got {', '.join(devices) or 'no runs'}")
    rows = {row.case: row for run in runs for row in run.rows}
    versions: dict[str, str] = {}
    for run in runs:
        add_versions(versions, run.versions)
    dates, commands = (
        dict.fromkeys(run.date for run in runs),
        dict.fromkeys(run.command for run in runs),
    )
    return Run(
        " and ".join(dates),
        "; ".join(commands),
        devices[0],
        versions,
        sorted(rows.values(), key=lambda row: row.case.place),
    )


def add_versions(known: dict[str, str], more: Mapping[str, str]) -> None:
    """Adds the versions of components to `known`. A component with several versions lists all."""
    for name, version in more.items():
        before = known[name].split(" and ") if name in known else []
        known[name] = " and ".join(dict.fromkeys([*before, version]))


def best_peer(row: Row) -> tuple[str, float] | None:
    """The fastest peer with a result within the limit, and its time divided by Convoy's. None if
    Convoy or all peers have no such result."""
    ours = row.results.get("convoy", Result())
    times = {
        name: result.ms
        for name, result in row.results.items()
        if name in PEERS and result.right(row.case.limit)
    }
    if ours.ms is None or not ours.right(row.case.limit) or not times:
        return None
    name = min(times, key=lambda name: times[name] or 0.0)
    return name, (times[name] or 0.0) / ours.ms


def markdown(run: Run) -> str:
    """The tables of times and of compilation and tuning costs."""
    peers = [name for name in PEERS if any(name in row.results for row in run.rows)]
    rows = sorted(run.rows, key=lambda row: row.case.place)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
    times = _table(
        [
            *_HEAD,
            "difference from fp64 (limit)",
            "Convoy",
            *(PEERS[name] for name in peers),
            "best peer / Convoy",
        ],
        (
            [
                *_head(row),
                _error(row),
                *(_time(row, name) for name in ("convoy", *peers)),
                _ratio(row),
            ]
            for row in rows
        ),
    )
    costs = _table(
        [
            *_HEAD,
            "Convoy, tuning",
            "Convoy, tuned: load and first result",
            *(PEERS[name] for name in peers),
            "peers' largest difference",
        ],
        (
            [
                *_head(row),
                _seconds(row, "convoy"),
                _ready(row),
                *(_seconds(row, name) for name in peers),
                _worst(row, peers),
            ]
            for row in rows
        ),
    )
    return (
        f"On {run.device}, {run.date}, {versions}: `{run.command}`. Milliseconds, "
        f"medians.\n\n{times}\n"
        "Seconds of the first compilation or tuning; graphs shared with other rows or older "
        f"artifacts are tuned once:\n\n{costs}"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        f"| {' | '.join(cells)} |\n".replace("| --- ", "|---").replace("--- |", "---|")
        for cells in lines
    )


def _head(row: Row) -> list[str]:
    return [
        row.case.model.replace("resnet", "ResNet-"),
        _DTYPES[row.case.kind],
        str(row.case.batch),
    ]


def _time(row: Row, name: str) -> str:
    result = row.results.get(name)
    if result is None:
        return "not run"
    if result.ms is None:
        return _plain(result.failure or "no figure")
    wrong = "" if result.right(row.case.limit) else f" (wrong: {result.error:.1e})"
    return f"{result.ms:.3f}{wrong}"


def _error(row: Row) -> str:
    error = row.results.get("convoy", Result()).error
    return "-" if error is None else f"{error:.1e} ({row.case.limit:.0e})"


def _ratio(row: Row) -> str:
    best = best_peer(row)
    return "-" if best is None else f"{best[1]:.2f}" if best[1] >= 1 else f"**{best[1]:.2f}**"


def _seconds(row: Row, name: str) -> str:
    result = row.results.get(name, Result())
    at_once = f" ({result.at_once} at once)" if result.at_once > 1 else ""
    return "-" if result.seconds is None else f"{result.seconds:.1f}{at_once}"


def _ready(row: Row) -> str:
    seconds = row.results.get("convoy", Result()).details.get("load and first result seconds")
    return "-" if seconds is None else f"{seconds:.2f}"


def _worst(row: Row, peers: Sequence[str]) -> str:
    errors = {
        name: result.error
        for name in peers
        if (result := row.results.get(name)) and result.error is not None
    }
    return "-" if not errors else f"{max(errors.values()):.1e}"


def _plain(text: str) -> str:
    """The text as one line that fits a table cell."""
    line = " ".join(text.replace("|", "/").split())
    return line if len(line) <= 80 else f"{line[:77]}..."
