# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares Convoy on the CPU with PyTorch, ONNX Runtime and OpenVINO, on the models of the zoo, in
float32.

    python -m benchmarks.cpu --models resnet50 vit_b_16 --json build/cpu.json

Each runner has a process of its own on the same cores, because the threads of one would spin beside
those of another: they run in turn, --turns times. A figure is the median of a turn's runs, of the
fastest turn. Prints the table and the geometric mean of the fastest peer's time over Convoy's.
torchvision and transformers must be installed for the models that come from them, onnx, onnxscript
and onnxruntime or openvino for these peers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree

from benchmarks.cpu.runners import RUNNERS
from benchmarks.zoo.__main__ import mean
from benchmarks.zoo.models import MODELS, ZOO

__all__ = ["main", "ratio", "table"]

_PEERS = tuple(name for name in RUNNERS if name != "convoy")
_LIMIT_SECONDS = 900

#: Name of a runner to its figures: `ms` and `error`, or `failure`.
Row = dict[str, dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the models. Returns the exit code: 1 if Convoy failed on one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(ZOO))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--runners", nargs="+", choices=RUNNERS, default=list(RUNNERS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a turn")
    parser.add_argument("--json", type=Path, default=Path("build/cpu.json"))
    parser.add_argument("--one", nargs=2, metavar=("RUNNER", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        print(json.dumps(_measure(*options.one, options)))
        return 0
    rows: dict[str, Row] = {}
    for name in options.models:
        rows[name] = _row(name, options)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
        print(table({name: rows[name]}).splitlines()[2], flush=True)
    print(table(rows))
    return int(any("failure" in row.get("convoy", {}) for row in rows.values()))


def _row(name: str, options: argparse.Namespace) -> Row:
    """Measures one model with each runner, in turns."""
    row: Row = {}
    for _ in range(options.turns):
        for runner in options.runners:
            if "failure" in row.get(runner, {}):
                continue
            found = _turn(runner, name, options)
            best = row.get(runner)
            if best is None or "failure" in found or found["ms"] < best["ms"]:
                row[runner] = found
    return row


def _turn(runner: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One turn of a runner in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.cpu", "--one", runner, name]
    command += ["--batch", str(options.batch), "--threads", str(options.threads)]
    command += ["--seconds", str(options.seconds)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failure": f"no result in {_LIMIT_SECONDS} s"}
    if ran.returncode:
        return {"failure": (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _measure(runner: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one turn: milliseconds, and the largest difference from PyTorch in relation to
    the largest number."""
    torch.set_num_threads(options.threads)
    module, inputs = MODELS[name].build(options.batch)
    with torch.inference_mode():
        expected = [np.asarray(each) for each in _pytree.tree_leaves(module(*inputs))]
    run = RUNNERS[runner](module, inputs, options.threads)
    error = max(
        np.abs(np.asarray(got) - wanted).max() / np.abs(wanted).max()
        for got, wanted in zip(_pytree.tree_leaves(run()), expected, strict=True)
    )
    end, times = time.perf_counter() + options.seconds, []
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return {"ms": 1e3 * statistics.median(times), "error": float(error)}


def ratio(row: Row) -> float | None:
    """The time of the fastest peer over Convoy's, or None if one of them is missing."""
    peers = [row[name]["ms"] for name in _PEERS if "ms" in row.get(name, {})]
    return min(peers) / row["convoy"]["ms"] if peers and "ms" in row.get("convoy", {}) else None


def table(rows: dict[str, Row]) -> str:
    """The table in Markdown, the geometric mean, and the failures."""
    lines = [
        f"| model | {' | '.join(RUNNERS)} | best peer / Convoy | error |",
        f"|---|{'---|' * (len(RUNNERS) + 2)}",
    ]
    ratios, failures = [], []
    for name, row in rows.items():
        cells = [f"{row[each]['ms']:.2f}" if "ms" in row.get(each, {}) else "-" for each in RUNNERS]
        found = ratio(row)
        if found is not None:
            ratios.append(found)
        cells.append("-" if found is None else f"{found:.2f}" if found >= 1 else f"**{found:.2f}**")
        cells.append(f"{row['convoy']['error']:.0e}" if "ms" in row.get("convoy", {}) else "-")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        failures += [
            f"{name}, {each}: {row[each]['failure'][:200]}"
            for each in row
            if "failure" in row[each]
        ]
    if ratios:
        lines += ["", f"Geometric mean {mean(ratios):.2f}."]
    return "\n".join(lines + failures)


if __name__ == "__main__":
    raise SystemExit(main())
