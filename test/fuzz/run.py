"""Runs many random models, mutants of modules and mutants of artifacts: `make fuzz`, or
`python test/fuzz/run.py --models 100`.

Prints `fuzz: M models, I modules, A artifacts, F failures` last. The exit code is 1 if there are
failures; each failure is a file in the folder `--keep`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(_ROOT / "test/e2e")]


def main() -> int:
    import artifacts
    import models
    import modules

    fuzzers = {"models": models.run, "modules": modules.run, "artifacts": artifacts.run}
    counts = {"models": 2000, "modules": 100_000, "artifacts": 50_000}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, count in counts.items():
        parser.add_argument(
            f"--{name}",
            type=int,
            help=f"number of {name} (default: {count}, or 0 if another number is given)",
        )
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="number of processes (default: one per core)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        default=_ROOT / "build/fuzz",
        help="folder for failures (default: build/fuzz)",
    )
    arguments = parser.parse_args()
    given = {name: getattr(arguments, name) for name in counts}
    if any(value is not None for value in given.values()):
        counts = {name: value or 0 for name, value in given.items()}
    done, failures = {}, 0
    for name, run in fuzzers.items():
        start = time.perf_counter()
        outcome = (
            run(counts[name], seed=arguments.seed, jobs=arguments.jobs, keep=arguments.keep)
            if counts[name]
            else None
        )
        done[name] = outcome.count if outcome else 0
        for line in outcome.summary if outcome else ():
            print(line)
        for path in outcome.failures if outcome else ():
            print(f"{name}: failure kept in {path}")
        failures += len(outcome.failures) if outcome else 0
        if outcome:
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    print(
        f"fuzz: {done['models']} models, {done['modules']} modules, {done['artifacts']} "
        f"artifacts, {failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
