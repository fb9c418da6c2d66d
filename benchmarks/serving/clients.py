# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures throughput and latency with growing numbers of clients, each of which sends a request of
one row, waits for its result and sends the next one.

    .venv-serving/bin/python -m benchmarks.serving.clients ray resnet18_64.convoy --json ray.json

"direct" is calls of a program from threads of this process, one after another, which nothing joins.
"ray" and "triton" join the requests that wait. Their requests come from Python: by a handle of Ray
Serve, or over gRPC. `benchmarks.serving.plot` draws the figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path

import convoy_runtime
from benchmarks.serving.measure import Submit, closed_loop
from convoy_runtime.random_arrays import random_array

__all__ = ["main"]

#: The longest warm-up of a number of clients, in seconds.
_WARM_UP = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints a table and writes the figures. Returns the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.serving.clients",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("server", choices=("direct", "ray", "triton"))
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 2, 4, 8, 16, 32])
    parser.add_argument("--seconds", type=float, default=8.0, help="for each number of clients")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model's loops")
    parser.add_argument("--json", type=Path, required=True, help="the file of the figures")
    options = parser.parse_args(arguments)
    # Read when the first loop of a program runs.
    os.environ["CONVOY_NUM_THREADS"] = str(options.threads)
    with convoy_runtime.load(options.artifact) as program:
        row = [random_array(spec)[:1] for spec in program.example_inputs]
    rows = []
    print("| clients | requests per second | p50 ms | p99 ms |\n|---|---|---|---|")
    with _submit(options.server, str(options.artifact), options.threads) as submit:
        for clients in options.clients:
            closed_loop(submit, row, clients, min(_WARM_UP, options.seconds))
            found = closed_loop(submit, row, clients, options.seconds)
            rows.append(asdict(found))
            print(f"| {clients} | {found.per_second:.1f} | {found.p50:.2f} | {found.p99:.2f} |")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    figures = {"server": options.server, "artifact": options.artifact.name, "rows": rows}
    options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def _submit(server: str, path: str, threads: int) -> AbstractContextManager[Submit]:
    """Starts a server of an artifact; sends it requests."""
    return _direct(path) if server == "direct" else _served(server, path, threads)


@contextmanager
def _direct(path: str) -> Iterator[Submit]:
    # One thread, as in a server's replica: two would run on two cores.
    with convoy_runtime.load(path) as program, ThreadPoolExecutor(1) as thread:
        yield lambda arrays: thread.submit(program.run_numpy, *arrays).result


@contextmanager
def _served(server: str, path: str, threads: int) -> Iterator[Submit]:
    with importlib.import_module(f"benchmarks.serving.{server}").start(path, threads) as running:
        yield running.submit


if __name__ == "__main__":
    raise SystemExit(main())
