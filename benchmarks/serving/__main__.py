# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures an artifact with a dynamic batch behind a server, next to direct calls in this process.

    .venv-serving/bin/python -m benchmarks.serving ray build/serving-bench/resnet18.convoy

The throughput is that of requests with the rows of the largest point, and of requests with one row,
which the server joins. Direct calls have the largest point. Rounds of both alternate, and the
medians are compared. The latency is that of one request with one row after another. The server and
this process share the machine.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Sequence
from statistics import median

import convoy_runtime
from benchmarks.serving.measure import Submit, latency, rate
from convoy_runtime.program import Program
from convoy_runtime.random_arrays import random_array

__all__ = ["main"]

SERVERS = ("ray",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints a table. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("artifact")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model's loops")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each round")
    parser.add_argument("--window", type=int, default=4, help="unfinished batches of requests")
    parser.add_argument("--calls", type=int, default=300, help="calls for the latency")
    options = parser.parse_args(arguments)
    # Read when the first loop of a program runs.
    os.environ["CONVOY_NUM_THREADS"] = str(options.threads)
    start = importlib.import_module(f"benchmarks.serving.{options.server}").start
    program = convoy_runtime.load(options.artifact)
    batch = [random_array(spec) for spec in program.example_inputs]
    rows = len(batch[0])
    row = [array[:1] for array in batch]
    direct: list[float] = []
    joined: list[float] = []
    whole: list[float] = []
    with start(options.artifact, options.threads) as server:
        for _ in range(options.rounds):
            seconds, window = options.seconds, options.window
            direct.append(rows * rate(_direct(program), batch, seconds, 1))
            whole.append(rows * rate(server.submit, batch, seconds, window))
            joined.append(rate(server.submit, row, seconds, window * rows))
        times = {
            "direct": latency(lambda: program.run_numpy(*row), options.calls),
            "Python": latency(lambda: server.submit(row)(), options.calls),
            "HTTP": latency(lambda: server.http(row), options.calls),
        }
    base = median(direct)
    print(f"| requests of | rows per second | of direct calls with {rows} rows |\n|---|---|---|")
    for name, found in ((f"{rows} rows", whole), ("1 row", joined)):
        print(f"| {name} | {median(found):.1f} | {median(found) / base:.3f} |")
    print(f"\ndirect: {base:.1f} rows per second, {1e3 * rows / base:.2f} ms per call\n")
    print("| one row | median ms | 99th percentile ms |\n|---|---|---|")
    for name, each in times.items():
        print(f"| {name} | {each.median:.3f} | {each.p99:.3f} |")
    return 0


def _direct(program: Program) -> Submit:
    """Calls the program when the result is waited for."""
    return lambda arrays: lambda: program.run_numpy(*arrays)


if __name__ == "__main__":
    raise SystemExit(main())
