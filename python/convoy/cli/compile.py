# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""compile a model into an artifact

The model is FILE.py:FUNCTION, where the function returns (module, (example input, ...)) or
(module, (example input, ...), {name: example input}); a .pt2 file of torch.export.save; or a .mlir
file of the torch dialect. --compile-from takes a .mlir file of a later phase, such as a
hand-written one, or - for standard input. A .mlir file has no weights: arguments of its function
are inputs, and an artifact of a phase of a model requires --no-weights.

examples:
  convoy compile examples/resnet.py:resnet18 -o resnet18.convoy
  convoy compile examples/resnet.py:resnet50 --target cuda --dtype float16 -o resnet50.convoy
  convoy compile examples/resnet.py:resnet50 --target cuda --plan-for h200 -o resnet50.convoy
  convoy compile model.py:build --compile-to cudnn -o model.cudnn.mlir
  convoy compile model.py:build --compile-to tcp --dynamic x:0=batch:1..64 -o model.tcp.mlir
  convoy compile model.pt2 -o model.convoy
  convoy compile model.py:build --dynamic x:0=batch:1..64 --points batch=1,8,64 -o model.convoy
  convoy compile graph.mlir --compile-from cudnn -o graph.convoy
  convoy compile model.mlir --compile-from tcp --points s0=1,8 -o model.convoy
  cat graph.mlir | convoy compile - --compile-from cudnn -o graph.convoy
  convoy compile model.py:build --dump-phases phases/ -o model.convoy
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from convoy.cli.compile_dynamic import compile_model, is_dynamic, unweighted
from convoy.cli.dynamic import add_dynamic
from convoy.cli.model_file import build_model
from convoy.cli.precision import add_precision
from convoy.cli.progress import Steps
from convoy.errors import ConvoyError
from convoy.options import CompileOptions
from convoy_runtime.output_files import checked_output, checked_stream, write_text

if TYPE_CHECKING:
    from convoy_runtime.inspection import OfflinePlans

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy.phases import phase_names
    from convoy_runtime.load_flags import add_restrictions

    phases = phase_names()
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="FILE.py:FUNCTION, a .pt2 file of torch.export.save, or a .mlir file; with "
        "--compile-from, - is standard input",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the artifact, or with --compile-to the .mlir file; - is standard output",
    )
    parser.add_argument(
        "--target",
        choices=("cpu", "cuda"),
        help="default: that of a .mlir file, else cuda if there is a GPU, else cpu",
    )
    add_precision(
        parser,
        ": a type (softmax), a line (model.py:12) or a module (layer1.0.conv1); convoy bisect "
        "finds them",
    )
    parser.add_argument(
        "--cpu", metavar="NAME", help="LLVM's name of the CPU that runs the host code, or native"
    )
    parser.add_argument(
        "--chip",
        default="sm_80",
        metavar="SM",
        help="oldest GPU architecture of the kernels, at least sm_80 (default: %(default)s)",
    )
    parser.add_argument(
        "--no-weights",
        action="store_true",
        help="omit the data of the weights; program.load_weights loads it",
    )
    parser.add_argument(
        "--no-alternatives",
        action="store_true",
        help="compile no alternatives of cuDNN graphs, i.e. split graphs and sums in another order",
    )
    parser.add_argument(
        "--support-table",
        type=Path,
        metavar="FILE",
        help="support table to use instead of the built-in one",
    )
    parser.add_argument(
        "--plan-for",
        action="append",
        default=[],
        metavar="GPU",
        help="add plans for this GPU, which need not be installed: h200, or a file of cuDNN's "
        "device properties; may be repeated",
    )
    parser.add_argument(
        "--compile-from", choices=phases[1:], help="the phase that wrote MODEL, a .mlir file"
    )
    parser.add_argument(
        "--compile-to", choices=phases, help="stop after this phase and write its text"
    )
    parser.add_argument(
        "--dump-phases",
        type=Path,
        metavar="DIR",
        help="write DIR/model.N.PHASE.mlir after each phase",
    )
    add_dynamic(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    # --no-tf32 and --no-winograd of the compilation also apply to plans.
    add_restrictions(
        parser, "restrictions on the engines of --plan-for", without=("--no-tf32", "--no-winograd")
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy import frontend
    from convoy.compiler import compile_imported
    from convoy.phases import lower, program_target
    from convoy_runtime.load_flags import restrictions_of

    source = target = None
    if options.compile_from is not None:
        source = sys.stdin.read() if options.model == "-" else Path(options.model).read_text()
        target = program_target(source, options.model, options.compile_from)
    chosen = CompileOptions.of(
        target=options.target or target,
        dtype=options.dtype,
        cpu=options.cpu,
        chip=options.chip,
        keep_float32=options.keep_float32,
        weights=not options.no_weights,
        allow_tf32=not options.no_tf32,
        allow_winograd=not options.no_winograd,
        alternatives=not options.no_alternatives,
        support_table=options.support_table,
        dump_phases=options.dump_phases,
        plan_for=tuple(options.plan_for),
        plan_options=restrictions_of(options),
    )
    _check_output(options)
    if is_dynamic(options, source):
        return compile_model(options, chosen, source)
    steps = Steps(quiet=options.quiet or str(options.output) == "-")
    if source is not None and options.compile_to is not None:
        text = lower(
            source,
            options.model,
            from_phase=options.compile_from,
            to_phase=options.compile_to,
            options=chosen,
        )
        write_text(options.output, text)
        return 0

    with steps:
        steps.start("import")
        if source is not None:
            imported = unweighted(options, source)
        elif options.model.endswith(".mlir"):
            imported = frontend.import_mlir(Path(options.model))
        elif options.model.endswith(".pt2"):
            imported = frontend.import_exported(frontend.read_exported(options.model))
        else:
            imported = frontend.import_module(*build_model(options.model))
        if options.compile_to is not None:
            text = imported.torch_text if options.compile_to == "torch" else imported.text
            if options.compile_to not in ("torch", "tcp"):
                text = lower(
                    imported.text,
                    imported.name,
                    from_phase="tcp",
                    to_phase=options.compile_to,
                    options=chosen,
                )
            write_text(options.output, text)
            return 0
        model = compile_imported(
            imported, chosen, phase=options.compile_from or "tcp", progress=steps.start
        )
        steps.start("write")
        model.save(options.output, weights=chosen.weights)
    if not options.quiet:
        size = options.output.stat().st_size / 1e6
        graphs, kernels = len(model.manifest.called_graphs), len(model.manifest.kernels)
        made = f", {graphs} cuDNN graphs, {kernels} kernels" if chosen.target == "cuda" else ""
        print(
            f"{options.output}: {chosen.target}, {size:.1f} MB{made}, compiled in "
            f"{steps.total:.1f} s ({steps.summary()})"
        )
        for plans in model.plans:
            _print_plans(plans)
    return 0


def _print_plans(plans: OfflinePlans) -> None:
    """Prints the number of graphs with a plan for a GPU, and why others have none."""
    from convoy_runtime import PlanError

    if not plans.results:
        print(f"  no cuDNN graphs to plan for {plans.gpu}")
        return
    failed = [result for result in plans.results if isinstance(result, PlanError)]
    print(
        f"  {len(plans.results) - len(failed)} of {len(plans.results)} graphs have a plan "
        f"for {plans.gpu}"
    )
    if any("libcuda" in line for error in failed for line in error.tried):
        print("  engines that compile a kernel require NVIDIA's driver (libcuda.so.1) for planning")
    for error in failed:
        print(
            f"  {error.graph} ({error.location}) will be planned at load time: "
            f"{'; '.join(error.tried)}"
        )


def _check_output(options: argparse.Namespace) -> None:
    """Checks the output path before a long compilation."""
    if options.compile_to is not None:
        checked_stream(options.output)
    elif str(options.output) == "-":
        message = (
            "-o -: expected a file for the artifact; standard output is only for the text of a "
            "phase, with --compile-to"
        )
        raise ConvoyError(message)
    else:
        checked_output(options.output)
    source = Path(options.model.rpartition(":")[0] or options.model)
    if source.exists() and options.output.exists() and source.samefile(options.output):
        message = f"-o {options.output}: expected another file than that of the model"
        raise ConvoyError(message)
