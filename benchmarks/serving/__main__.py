# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures an artifact with a dynamic batch behind a server, next to direct calls in this process.

    .venv-serving/bin/python -m benchmarks.serving ray build/serving-bench/resnet18.convoy

The throughput is that of requests with the rows of the largest point, and of requests with one row,
which the server joins. Direct calls have the largest point. Rounds of both alternate, and their
medians are compared: of rows per second, and of the CPU time of the process that runs the model,
which depends less on what else the machine does. The latency is that of one request with one row
after another. The server and this process share the machine.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Sequence
from statistics import median

import convoy_runtime
from benchmarks.serving.measure import Rate, Submit, latency, rate
from convoy_runtime.program import Program
from convoy_runtime.random_arrays import random_array

__all__ = ["main"]

SERVERS = ("ray", "triton")


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
    direct: list[Rate] = []
    whole: list[Rate] = []
    joined: list[Rate] = []
    seconds, window = options.seconds, options.window
    with start(options.artifact, options.threads) as server:
        cpu = server.cpu_seconds
        for _ in range(options.rounds):
            direct.append(rate(_direct(program), batch, seconds, 1, time.process_time))
            whole.append(rate(server.submit, batch, seconds, window, cpu))
            joined.append(rate(server.submit, row, seconds, window * rows, cpu))
        times = {
            "direct": latency(lambda: program.run_numpy(*row), options.calls),
            "Python": latency(lambda: server.submit(row)(), options.calls),
            "HTTP": latency(lambda: server.http(row), options.calls),
        }
    print("| calls | rows per second | of direct | CPU ms per row | of direct |")
    print("|---|---|---|---|---|")
    base_rate = rows * median(each.per_second for each in direct)
    base_cpu = median(each.cpu_ms for each in direct) / rows
    for name, count, found in (
        (f"direct, {rows} rows", rows, direct),
        (f"requests of {rows} rows", rows, whole),
        ("requests of 1 row", 1, joined),
    ):
        per_second = count * median(each.per_second for each in found)
        cpu_ms = median(each.cpu_ms for each in found) / count
        print(
            f"| {name} | {per_second:.1f} | {per_second / base_rate:.3f} "
            f"| {cpu_ms:.3f} | {cpu_ms / base_cpu:.3f} |"
        )
    print()
    print("| one row | median ms | 99th percentile ms |\n|---|---|---|")
    for name, each in times.items():
        print(f"| {name} | {each.median:.3f} | {each.p99:.3f} |")
    return 0


def _direct(program: Program) -> Submit:
    """Calls the program when the result is waited for."""
    return lambda arrays: lambda: program.run_numpy(*arrays)


if __name__ == "__main__":
    raise SystemExit(main())
