"""The process of one contender: prepares it when told to, then answers each number of runs on stdin
with their time, a line of JSON each.

It is started by `benchmarks.contest`. What libraries print goes to stderr.
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
from benchmarks.contenders.job import NAMES, Job
from benchmarks.gpu_turn import GpuTurn

_MODULES = {"convoy": "convoy_program", "jax": "xla", "jax-graphs": "xla"}


def main() -> int:
    """Runs until stdin ends."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("artifact", type=Path)
    parser.add_argument(
        "--output", type=Path, required=True, help="where one result is put, as .npy"
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument("--tune", default="off")
    options = parser.parse_args()
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**message: object) -> None:
        print(json.dumps(message), file=channel, flush=True)

    try:
        module = importlib.import_module(
            f"benchmarks.contenders.{_MODULES.get(options.name, 'pytorch')}"
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
        say(loaded=True)
        if not sys.stdin.readline():
            return 0
        contender = module.prepare(job)
        np.save(options.output, contender.output.astype(np.float64))
        say(seconds=contender.seconds, details=contender.details)
        for line in sys.stdin:
            say(ms=contender.time(int(line)))
    except Exception as error:  # whatever a peer raises is what its cell of the table says
        traceback.print_exc()
        say(failure=f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
