# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""measure cuDNN's plans, kernels and cuBLASLt on this GPU and add the best to the artifact

A load of the artifact on an equal GPU, with this cuDNN and driver, uses these plans without search
and compilation. Plans for other GPUs stay in the artifact. Plans are part of the artifact, so its
digest changes; the new one is printed. The plan of each graph is also stored in the plan cache at
once: after an interrupt the same command continues, and other artifacts with equal graphs use the
plans. Plans of this level or a higher one in the artifact or the cache are not measured again,
except with --again.

examples:
  convoy tune resnet50.convoy
  convoy tune resnet50.convoy --level full -o resnet50-h200.convoy
  convoy tune resnet50.convoy --plan-cache plans/
  convoy tune resnet50.convoy --deterministic    # then: convoy run --deterministic, or
                                                 # load(options=PlanOptions(deterministic=True))
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from convoy.cli.progress import bar
from convoy.errors import ConvoyError
from convoy_runtime.output_files import checked_folder, checked_output
from convoy_runtime.plan_report import plan_lines

if TYPE_CHECKING:
    from convoy_runtime import Program
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.dynamic.artifact import DynamicArtifact
    from convoy_runtime.inspection import PlanReport

__all__ = ["main", "populate_parser"]

#: The smallest share of the time of a load for which a part is reported.
_MIN_REPORTED_SHARE = 0.02


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.load_flags import add_arguments, add_plans

    parser.add_argument(
        "artifact", metavar="FILE", type=Path, help="an artifact of the cuda target"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the new artifact; default: in place"
    )
    parser.add_argument(
        "--level",
        choices=("limited", "quick", "full", "exhaustive"),
        default="quick",
        help="limited: at most five plans of each graph; quick, in seconds: the first plans of the "
        "heuristics and all precompiled engines; full, in minutes: all plans, and the knobs of the "
        "fastest; exhaustive, in hours: every knob of every engine (default: %(default)s)",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="also measure graphs with stored plans, e.g. after tuning on a busy GPU",
    )
    parser.add_argument("--device", metavar="NAME", help="cuda or cuda:N; default: the first GPU")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    add_plans(parser)
    add_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime
    from convoy_runtime.inspection import restrictions
    from convoy_runtime.load_flags import load_arguments
    from convoy_runtime.opening import open_file

    output = options.output or options.artifact
    checked_output(output)
    if isinstance(options.plan_cache, Path):
        checked_folder(options.plan_cache, option="--plan-cache")
    source = open_file(options.artifact, digest=options.digest)
    source.verify()
    if source.manifest.target != "cuda":
        message = (
            f"{options.artifact}: expected an artifact of the cuda target, got one of cpu, "
            "which has no plans"
        )
        raise ConvoyError(message)
    if options.point is not None:
        message = "expected no --point: tuning measures all points of an artifact"
        raise ConvoyError(message)
    begin = time.perf_counter()
    # Pins the digest, so that the loaded and rewritten file is the one opened here.
    arguments = load_arguments(options)
    arguments["digest"] = source.digest
    try:
        with bar("tuning", quiet=options.quiet) as progress:
            program = convoy_runtime.load(
                options.artifact,
                device=options.device,
                tune=options.level,
                again=options.again,
                progress=progress,
                **arguments,
            )
    except KeyboardInterrupt:
        print(
            f"convoy: {options.artifact} is unchanged; {_kept(options.plan_cache)}",
            file=sys.stderr,
        )
        raise
    with program:
        _write(output, source, program)
        if not options.quiet:
            if options.plans:
                for report in program.plans:  # type: ignore[attr-defined]
                    print("\n".join(plan_lines(report)))
            seconds = time.perf_counter() - begin
            for name, each in program.static_programs.items():
                if name:
                    print(f"point {name}")
                _report(each, seconds)
                device = each.device  # type: ignore[attr-defined]
            print(f"{output}: plans for {device}")
            print(f"  new digest {open_file(output).digest}")
            if arguments["options"] is not None:
                print(
                    "  used by loads with the same restrictions: "
                    f"{restrictions(repr(arguments['options'])) or 'none'}"
                )
    return 0


def _kept(place: Path | bool) -> str:
    """Describes the plans that remain after an interrupt."""
    from convoy_runtime.inspection import default_plan_cache

    if place is False:
        return "no plans are stored, because of --no-plan-cache"
    folder = default_plan_cache() if place is True else place
    return f"the plans so far are stored in {folder}, and the same command continues from there"


def _write(output: Path, opened: Artifact | DynamicArtifact, program: Program) -> None:
    """Writes the artifact with the plans of the program in addition to its members."""
    from convoy.artifact import write_artifact
    from convoy.dynamic.artifact import PointProgram, write_dynamic_artifact
    from convoy_runtime.artifact import WEIGHTS, Artifact

    def members(artifact: Artifact, of: Program) -> dict[str, bytes]:
        plans: dict[str, bytes] = of.plan_members()  # type: ignore[attr-defined]
        kept = {name: bytes(text) for name, text in artifact.members.items() if name != WEIGHTS}
        return {**kept, **plans}

    if isinstance(opened, Artifact):
        content = members(opened, program)
        write_artifact(output, opened.manifest, content, opened.weights())
        return
    manifest = opened.manifest
    names = [symbol.name for symbol in manifest.symbols]
    points = [
        PointProgram(
            dict(zip(names, point.values, strict=True)), artifact.manifest, members(artifact, each)
        )
        for point, artifact, each in zip(
            manifest.points, opened.points, program.static_programs.values(), strict=True
        )
    ]
    write_dynamic_artifact(
        output, manifest.symbols, manifest.inputs, manifest.outputs, points, opened.weights()
    )


def _report(program: Program, seconds: float) -> None:
    """Prints a row per graph, and the sum of the times of all calls, measured alone, with and
    without tuning."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("graph", "calls", "runs on", "us", "untuned us", "measured", "from"):
        table.add_column(
            column,
            justify="right" if column in ("calls", "us", "untuned us", "measured") else "left",
        )
    reports: tuple[PlanReport, ...] = program.plans  # type: ignore[attr-defined]
    names = [program.manifest.graphs[call.graph].name for call in program.manifest.calls]
    totals = [0.0, 0.0]
    for report in reports:
        calls = names.count(report.graph)
        chosen = next((trial.microseconds for trial in report.trials if trial.is_of(report)), None)
        untuned = next((trial.microseconds for trial in report.trials if trial.first), None)
        if chosen is not None:
            totals = [totals[0] + calls * chosen, totals[1] + calls * (untuned or chosen)]
        figures = [f"{value:.2f}" if value is not None else "-" for value in (chosen, untuned)]
        table.add_row(
            report.graph, str(calls), report.name, *figures, str(len(report.trials)), report.origin
        )
    Console(highlight=False, soft_wrap=True, markup=False).print(table)
    form: str = program.form  # type: ignore[attr-defined]
    print(
        f"sum of all graph calls, each measured alone: {totals[0]:.1f} us, "
        f"untuned {totals[1]:.1f} us; {form}"
    )
    new = sum(report.origin == "tuning" for report in reports)
    known = f", {len(reports) - new} already had a plan of this level" if new < len(reports) else ""
    print(f"{new} of {len(reports)} graphs measured in {seconds:.1f} s{known}")
    parts = sorted(program.timings.items(), key=lambda part: part[1], reverse=True)
    shown = [
        f"{name} {taken:.2f} s" for name, taken in parts if taken >= _MIN_REPORTED_SHARE * seconds
    ]
    print(f"  of this: {', '.join(shown)}")
