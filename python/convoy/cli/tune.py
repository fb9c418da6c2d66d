"""measure cuDNN's plans and the artifact's kernels on this GPU and put the best into the artifact

Where the artifact is loaded on such a GPU, with this cuDNN and driver, its plans are there: nothing is searched and nothing is compiled.
Plans for other GPUs that it has already stay in it. An interrupt loses nothing: what has been measured is in the cache of plans
($CONVOY_CACHE, else ~/.cache/convoy), and the next tuning goes on from there.

examples:
  convoy tune resnet50.convoy
  convoy tune resnet50.convoy --level full -o resnet50-h200.convoy
  convoy tune resnet50.convoy --no-winograd --deterministic
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from convoy.cli.progress import bar
from convoy.errors import ConvoyError

if TYPE_CHECKING:
    from convoy_runtime.program import Program

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.plan_flags import add_arguments

    parser.add_argument("artifact", metavar="FILE", type=Path, help="an artifact of the cuda target")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write it; default: in place")
    parser.add_argument(
        "--level", choices=("quick", "full"), default="quick",
        help="quick: the first plans of the heuristics and all precompiled engines; full: all there are, and the knobs of the best"
        " (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="cuda or cuda:N; default: the first GPU")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    add_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime
    from convoy_runtime.artifact import open_artifact
    from convoy_runtime.plan_flags import from_arguments

    output = options.output or options.artifact
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        message = f"{output}: expected a file in a folder that exists and can be written to"
        raise ConvoyError(message)
    if open_artifact(options.artifact).manifest.target != "cuda":
        message = f"{options.artifact}: expected an artifact of the cuda target, got one of cpu, which has no plans"
        raise ConvoyError(message)
    begin = time.perf_counter()
    with bar("tuning", quiet=options.quiet) as progress:
        program = convoy_runtime.load(
            options.artifact, device=options.device, options=from_arguments(options), tune=options.level, progress=progress
        )
    with program:
        _write(output, options.artifact, program.plan_members())  # type: ignore[attr-defined]
        if not options.quiet:
            _report(program, time.perf_counter() - begin)
            print(f"{output}: plans for {program.device}")  # type: ignore[attr-defined]
    return 0


def _write(output: Path, source: Path, plans: dict[str, bytes]) -> None:
    """The artifact at `source` with these plans, and what else it had, at `output`."""
    from convoy.artifact import write_artifact
    from convoy_runtime.artifact import WEIGHTS, open_artifact

    artifact = open_artifact(source)
    members = {name: bytes(content) for name, content in artifact.members.items() if name != WEIGHTS}
    write_artifact(output, artifact.manifest, {**members, **plans}, artifact.weights())


def _report(program: Program, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("graph", "runs on", "us", "untuned us", "measured", "from"):
        table.add_column(column, justify="right" if column in ("us", "first choice us", "measured") else "left")
    reports = program.plans  # type: ignore[attr-defined]
    for report in reports:
        best = report.trials[0].microseconds if report.trials else None
        untuned = next((trial.microseconds for trial in report.trials if trial.first), None)
        figures = [f"{value:.2f}" if value is not None else "-" for value in (best, untuned)]
        table.add_row(report.graph, report.name, *figures, str(len(report.trials)), report.origin)
    Console(highlight=False, soft_wrap=True).print(table)
    print(f"{len(reports)} graphs in {seconds:.1f} s")
