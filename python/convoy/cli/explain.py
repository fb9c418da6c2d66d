# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""explain the groups of a model, their plans and times, and which ops are outside groups and why

Plans and times of an artifact are those from `convoy tune`. --measured runs the artifact on the
GPU and prints, for each call, its time and its share of the roofline, and for each graph its plan,
the other candidates and the rejected ones. --json writes all of it to a file, which can be passed
as FILE to write a page on a machine without a GPU.

examples:
  convoy explain resnet18.convoy
  convoy explain examples/resnet.py:resnet50 --dtype float16
  convoy explain resnet50.convoy --measured --html resnet50.html
  convoy explain resnet50.convoy --measured --json resnet50.json
  convoy explain resnet50.json --html resnet50.html
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from convoy.errors import ConvoyError
from convoy.explain import explain_artifact
from convoy_runtime.output_files import checked_stream, write_text

if TYPE_CHECKING:
    from convoy.report import Report
    from convoy_runtime.artifact import Artifact

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.load_flags import add_arguments

    parser.add_argument(
        "model",
        metavar="FILE",
        help="an artifact, a file from --json, FILE.py:FUNCTION, or a torch-dialect .mlir file",
    )
    parser.add_argument(
        "--dtype",
        choices=("float32", "float16", "bfloat16"),
        help="compute type, if FILE is a model",
    )
    parser.add_argument(
        "--measured", action="store_true", help="measure an artifact of the cuda target on the GPU"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="with --measured, cuda or cuda:N; default: the first GPU"
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a self-contained HTML page; - is standard output",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the report as JSON; - is standard output"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    add_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    if options.digest is not None and Path(options.model).suffix != ".convoy":
        message = f"{options.model}: expected an artifact with --digest"
        raise ConvoyError(message)
    if Path(options.model).suffix not in (".convoy", ".json"):
        return _explain_model(options)
    for path in (options.html, options.json):
        if path is not None:
            checked_stream(path)
    if _is_text(options):
        print(explain_artifact(options.model, options.point), end="")
        return 0
    report = _report(options)
    if options.html is not None:
        from convoy.report import report_page

        write_text(options.html, report_page(report))
    if options.json is not None:
        write_text(options.json, report.to_json())
    # Standard output has at most one document.
    if not options.quiet and "-" not in (str(options.html), str(options.json)):
        _print(report, options)
    return 0


def _is_text(options: argparse.Namespace) -> bool:
    """Whether FILE is an artifact for cpu, or one with dynamic sizes without --point, and no report
    is requested."""
    if (
        Path(options.model).suffix == ".json"
        or options.measured
        or options.html is not None
        or options.json is not None
    ):
        return False
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.opening import open_file

    opened = open_file(options.model, digest=options.digest)
    is_dynamic = not isinstance(opened, Artifact) and options.point is None
    return is_dynamic or opened.manifest.target == "cpu"


def _report(options: argparse.Namespace) -> Report:
    """The report: FILE itself, from the plans in the artifact, or measured."""
    from convoy.report import collect_report, read_report
    from convoy_runtime.opening import open_artifact

    path = Path(options.model)
    if path.suffix == ".json":
        if options.measured:
            message = f"{path}: expected an artifact with --measured, got a report"
            raise ConvoyError(message)
        return read_report(path)
    artifact = open_artifact(path, any_host=True, digest=options.digest, point=options.point)
    if options.measured and artifact.manifest.target == "cuda":
        return _measure(artifact, options)
    return collect_report(artifact)


def _measure(artifact: Artifact, options: argparse.Namespace) -> Report:
    """Loads the artifact on the GPU and measures it."""
    import convoy_runtime
    from convoy.cli.progress import bar
    from convoy.report import collect_report
    from convoy_runtime.load_flags import load_arguments

    arguments = load_arguments(options)
    arguments["digest"] = artifact.digest
    try:
        program = convoy_runtime.load(options.model, device=options.device, **arguments)
    except convoy_runtime.DeviceError as error:
        message = (
            f"--measured requires an NVIDIA GPU with its driver, cuda-bindings and cuDNN: {error}\n"
            "  hint: without --measured, the plans in the artifact are shown; `convoy "
            "explain FILE.json` shows a report that --json wrote on a GPU"
        )
        raise ConvoyError(message) from error
    with program, bar("measuring", quiet=options.quiet) as progress:
        profile = program.profile(progress)  # type: ignore[attr-defined]
        return collect_report(artifact, profile, program.plans, str(arguments["options"] or ""))  # type: ignore[attr-defined]


def _print(report: Report, options: argparse.Namespace) -> None:
    from convoy.report import plan_lines, report_lines

    if report.times == "measured" or Path(options.model).suffix == ".json":
        print("\n".join(report_lines(report)))
        return
    print(explain_artifact(options.model))
    if report.times == "tuning":
        print("\n".join(report_lines(report)))
        return
    print("plans in the artifact")
    for line in plan_lines(report):
        print(f"  {line}".rstrip())


def _explain_model(options: argparse.Namespace) -> int:
    """Explains a model compiled for cuda: FILE.py:FUNCTION, or a torch-dialect .mlir file. Raises
    ConvoyError."""
    from convoy.cli.model_file import build_model
    from convoy.compiler import compile_imported
    from convoy.frontend import import_mlir, import_module
    from convoy.options import CompileOptions

    if options.measured or options.html is not None or options.json is not None:
        message = (
            f"{options.model}: expected an artifact with --measured, --html and --json: "
            "compile the model first"
        )
        raise ConvoyError(message)
    name = options.model
    imported = (
        import_mlir(Path(name)) if name.endswith(".mlir") else import_module(*build_model(name))
    )
    print(
        compile_imported(
            imported, CompileOptions.of(target="cuda", dtype=options.dtype, weights=False)
        ).explain(),
        end="",
    )
    return 0
