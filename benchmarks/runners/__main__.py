# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The process of one runner, started by `benchmarks.processes`.

It loads, and prepares on the first line of stdin. Each further line is a number of runs, which it
times. It answers with a line of JSON each. The output of libraries goes to stderr.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

import numpy as np

from benchmarks.cases import Case
from benchmarks.gpu_turn import GpuTurn
from benchmarks.runners.job import NAMES, Job

_MODULES = {"convoy": "convoy_program", "jax": "xla", "jax-graphs": "xla"}


def main() -> int:
    """Runs until stdin ends."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--output", type=Path, required=True, help="file of one result, .npy")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument("--tune", default="off")
    options = parser.parse_args()
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(**message: object) -> None:
        print(json.dumps(message), file=channel, flush=True)

    try:
        module = importlib.import_module(
            f"benchmarks.runners.{_MODULES.get(options.name, 'pytorch')}"
        )
        case = Case.of(options.artifact)
        model, x = case.build()
        job = Job(
            options.name,
            options.artifact,
            case,
            model,
            x,
            options.cache,
            options.tune,
            GpuTurn(options.lock),
        )
        send(loaded=True)
        if not sys.stdin.readline():
            return 0
        runner = module.prepare(job)
        np.save(options.output, runner.output.astype(np.float64))
        send(seconds=runner.seconds, details=runner.details)
        for line in sys.stdin:
            send(ms=runner.time(int(line)))
    except Exception as error:  # the table shows any exception of a peer
        traceback.print_exc()
        send(failure=f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
