# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Shows, runs or times an artifact without the compiler:
`python -m convoy_runtime model.convoy --bench`.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 invalid artifact, 4 missing or unsuitable device,
5 wrong arguments or weights, 6 the model's native code failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ._native import MEMBER, load_native
from ._sizes import check_sizes
from .array_files import read_array
from .artifact import Artifact
from .errors import ArgumentError, ConvoyRuntimeError, PlanError
from .inspection import offline_planner
from .load_flags import add_arguments, add_plans, add_tensor_files, load_arguments
from .loader import load
from .opening import open_artifact, open_file, select_point
from .output_files import checked_stream, write_array
from .plan_report import plan_lines
from .program import Program
from .random_arrays import random_array
from .replays import measure

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code. An error is one message on stderr."""
    options = _parser().parse_args(arguments)
    try:
        if options.run or options.bench:
            for path in options.output:
                checked_stream(path)
            with _load(options) as program:
                _report_plans(program, options.plans)
                if options.run:
                    _run(program, _inputs(program, options.input), options.output)
                if options.bench:
                    for name, each in program.static_programs.items():
                        if name:
                            print(f"point {name}")
                        _bench(each, _inputs(each, options.input))
        elif options.plan_for:
            return _plan_for(options)
        else:
            _show(options)
    except ConvoyRuntimeError as error:
        if options.debug:
            raise
        print(f"convoy_runtime: error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if options.debug:
            raise
        print(f"convoy_runtime: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if options.debug:
            raise
        print("convoy_runtime: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    summary, _, codes = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        "python -m convoy_runtime", description=summary, epilog=codes, allow_abbrev=False
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="an artifact")
    action = parser.add_argument_group("actions")
    action.add_argument(
        "--info", action="store_true", help="show the content of the artifact (the default)"
    )
    action.add_argument(
        "--run", action="store_true", help="run it once, on --input or on random data"
    )
    action.add_argument("--bench", action="store_true", help="time it")
    action.add_argument(
        "--plan-for",
        metavar="GPU",
        help="print the plans that cuDNN selects for a GPU that is not installed: h200, or a JSON "
        "file of GPU properties",
    )
    add_tensor_files(parser)
    parser.add_argument(
        "--device", metavar="NAME", help="cpu, cuda or cuda:N; default: the artifact's target"
    )
    add_plans(parser)
    parser.add_argument(
        "--tune",
        choices=("off", "limited", "quick", "full", "exhaustive"),
        default="off",
        help="measure plans first, and store the best (default: %(default)s)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="use only plans from the artifact or the cache"
    )
    add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _plan_for(options: argparse.Namespace) -> int:
    artifact = open_artifact(options.file, digest=options.digest, point=options.point)
    minimum = artifact.manifest.cudnn.minimum if artifact.manifest.cudnn is not None else 0
    planner = offline_planner(options.plan_for, minimum)
    native = load_native(artifact.members[MEMBER], path=options.file)
    check_sizes(native, artifact.manifest, path=options.file)
    results = planner.plan(
        artifact.manifest, native, artifact.alternatives(), load_arguments(options)["options"]
    ).results
    failed = [result for result in results if isinstance(result, PlanError)]
    for result in results:
        if options.plans and not isinstance(result, PlanError):
            print("\n".join(plan_lines(result)))
        else:
            print(result)
    print(f"{len(results) - len(failed)} of {len(results)} graphs have a plan")
    return failed[0].exit_code if failed else 0


def _load(options: argparse.Namespace) -> Program:
    begin = time.perf_counter()
    progress = _progress if sys.stderr.isatty() else None
    program = load(
        options.file,
        device=options.device,
        weights=options.weights,
        **load_arguments(options),
        tune=options.tune,
        strict=options.strict,
        progress=progress,
    )
    print(f"loaded in {time.perf_counter() - begin:.3f} s")
    return program


def _progress(step: str, done: int, count: int) -> None:
    print(
        f"\r\033[K{step} ({done + 1} of {count})",
        end="\n" if done + 1 == count else "",
        file=sys.stderr,
        flush=True,
    )


def _show(options: argparse.Namespace) -> None:
    opened = open_file(options.file, digest=options.digest)
    if isinstance(opened, Artifact) or options.point is not None:
        artifact = select_point(opened, options.point or {})
        artifact.verify()
        _info(artifact)
        return
    from .dynamic.overview import overview

    opened.verify()
    for line in overview(opened):
        print(line)


def _info(artifact: Artifact) -> None:
    manifest = artifact.manifest
    producer = ", ".join(f"{name} {version}" for name, version in manifest.producer.items())
    print(
        f"target {manifest.target}, format {manifest.format_version}, ABI "
        f"{manifest.abi_version}, produced by {producer}"
    )
    print(f"host {manifest.host.triple}, {manifest.host.cpu}: {' '.join(manifest.host.features)}")
    for title, specs in (("input", manifest.inputs), ("output", manifest.outputs)):
        for spec in specs:
            print(f"{title} {spec}")
    print(
        f"{len(manifest.weights)} weights, {len(manifest.prepared)} prepared, arena of "
        f"{manifest.arena_bytes} bytes"
    )
    if manifest.cudnn is not None:
        print(
            f"{len(manifest.called_graphs)} cuDNN graphs in {len(manifest.calls)} calls, "
            f"{len(manifest.kernels)} generated kernels"
        )
    print(f"digest {artifact.digest}")
    for name, entry in manifest.files.items():
        print(f"member {name}, {entry.bytes} bytes")


def _report_plans(program: Program, everything: bool) -> None:
    if not everything:
        return
    for report in getattr(program, "plans", ()):
        print("\n".join(plan_lines(report)))


def _inputs(program: Program, paths: list[Path]) -> list[np.ndarray]:
    if not paths:
        return [random_array(spec, seed) for seed, spec in enumerate(program.example_inputs)]
    return [read_array(path) for path in paths]


def _run(program: Program, inputs: list[np.ndarray], paths: list[Path]) -> None:
    if len(paths) > len(program.outputs):
        raise ArgumentError(
            argument="--output",
            problem="too many",
            expected=f"{len(program.outputs)} at most",
            got=str(len(paths)),
        )
    results = program.run_numpy(*inputs)
    for index, (spec, result) in enumerate(zip(program.outputs, results, strict=True)):
        print(f"output {spec}")
        if index < len(paths):
            write_array(paths[index], result)


def _bench(program: Program, inputs: list[np.ndarray]) -> None:
    found = measure(program, inputs)
    spread = (
        f"median of {found.rounds} rounds of {found.count} ({found.least:.1f} to {found.most:.1f})"
    )
    print(f"{found.median:.1f} us a {found.what}, {spread}")
    if found.host is not None:
        print(f"{found.host:.1f} us of host time to enqueue each")


if __name__ == "__main__":
    sys.exit(main())
