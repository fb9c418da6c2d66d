# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs MLPerf's LoadGen with an artifact as the system under test.

    python -m benchmarks.mlperf resnet50.convoy --scenario SingleStream Offline Server --find-qps 60

The artifact has one input, whose first dim is the batch. Samples are random numbers in the memory
of the device, as after MLPerf's untimed copies. Weights are random unless the artifact has some or
--weights names a file. All scenarios use one loaded program. Prints LoadGen's verdicts beside the
rate of the device alone: the largest batch divided by the time of its replay. `pip install
mlcommons-loadgen`; on a GPU, torch with CUDA gathers the samples of a batch.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import convoy_runtime
from benchmarks.mlperf.engine import Engine
from benchmarks.mlperf.host import HostEngine
from benchmarks.mlperf.runner import SCENARIOS, Options, Row, run_scenarios
from benchmarks.mlperf.trial import Settings
from benchmarks.mlperf.weights import random_weights
from convoy_runtime import ConvoyRuntimeError, Program

__all__ = ["main", "table"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the scenarios. Returns the exit code: 1 if a test is not valid."""
    options = _parser().parse_args(arguments)
    try:
        with _load(options) as program:
            with closing(_engine(program, options)) as engine:
                rows = run_scenarios(engine, _run_options(options), _show)
            device = getattr(program, "device", "cpu")
    except (ConvoyRuntimeError, ValueError) as error:
        print(f"benchmarks.mlperf: error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)
    print(table(rows))
    if options.json is not None:
        found = {
            "artifact": str(options.artifact),
            "device": device,
            "tune": options.tune,
            "rows": [row.as_dict() for row in rows],
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(not all(row.outcome.valid for row in rows))


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown.

    Args:
        rows: The rows.

    Returns:
        The text.
    """
    titles = [
        "scenario", "LoadGen", "samples/s", "p50 ms", "p90 ms", "p99 ms",
        "batch / replay", "of it", "of Offline",
    ]  # fmt: skip
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in rows:
        each = row.outcome
        times = [f"{seconds * 1e3:.3f}" for seconds in (each.p50, each.p90, each.p99)]
        share = "-" if row.offline is None else f"{each.rate / row.offline:.3f}"
        cells = [
            each.scenario,
            "VALID" if each.valid else f"INVALID ({each.reason})",
            f"{each.rate:.1f}",
            *times,
            f"{row.peak:.1f} ({row.batch} / {row.replay * 1e3:.3f} ms)",
            f"{each.rate / row.peak:.3f}",
            share,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _show(row: Row) -> None:
    """Prints a row as soon as it is known."""
    each = row.outcome
    tests = [f"{rate:.1f}/s {'VALID' if valid else 'INVALID'}" for rate, valid in row.tests]
    verdict = "VALID" if each.valid else "INVALID"
    tried = f"; tried {', '.join(tests)}" if tests else ""
    rate = f"{each.rate:.1f} samples/s of {each.queries} queries"
    print(f"{each.scenario}: {verdict}, {rate}{tried}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.mlperf",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--seconds", type=float, default=10.0, help="shortest duration of a test")
    parser.add_argument("--min-queries", type=int, default=100, help="fewest queries of a test")
    parser.add_argument(
        "--qps", type=float, help="rate of Server (default: 0.84 of the rate of Offline)"
    )
    parser.add_argument(
        "--find-qps",
        type=float,
        metavar="SECONDS",
        help="search the highest valid rate of Server for this long",
    )
    parser.add_argument(
        "--latency-ms", type=float, default=15.0, help="p99 of Server (default: %(default)s)"
    )
    parser.add_argument(
        "--deadline-ms",
        type=float,
        default=0.5,
        help="how long a query of Server waits for others while the device has no work",
    )
    parser.add_argument("--samples", type=int, default=1024, help="number of different samples")
    parser.add_argument("--device", help="cpu, cuda or cuda:N; default: the artifact's target")
    parser.add_argument("--weights", type=Path, help="a .safetensors file")
    parser.add_argument("--tune", choices=("off", "limited", "quick", "full"), default="off")
    parser.add_argument(
        "--gather",
        choices=("kernel", "copies"),
        default="kernel",
        help="on a GPU, how samples are copied to a batch: by a kernel of torch, or one by one",
    )
    parser.add_argument("--logs", type=Path, help="keeps LoadGen's logs of the last test here")
    parser.add_argument("--json", type=Path, help="writes the figures")
    return parser


def _load(options: argparse.Namespace) -> Program:
    program = convoy_runtime.load(
        options.artifact, device=options.device, weights=options.weights, tune=options.tune
    )
    if options.weights is None and not program.has_weights:
        program.load_weights(random_weights(program.weights))
    return program


def _engine(program: Program, options: argparse.Namespace) -> Engine:
    if program.manifest.target == "cpu":
        return HostEngine(program)
    # Imported here, because the host needs no CUDA.
    from benchmarks.mlperf.device import DeviceEngine

    number = (options.device or "").partition(":")[2]
    return DeviceEngine(program, int(number or 0), options.gather)


def _run_options(options: argparse.Namespace) -> Options:
    settings = Settings(
        scenario="",
        expected=0.0,
        seconds=options.seconds,
        queries=options.min_queries,
        latency=options.latency_ms / 1e3,
        samples=options.samples,
        logs=options.logs,
    )
    return Options(
        options.scenario, settings, options.qps, options.find_qps, options.deadline_ms / 1e3
    )


if __name__ == "__main__":
    raise SystemExit(main())
