# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`python -m tools.ops`: measures the ops of PyTorch's OpInfo database and writes docs/ops.md."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from tools.ops.measure import Outcome, measure
from tools.ops.page import summary, write_page
from tools.ops.samples import DTYPES, database

_PAGE = Path(__file__).parents[2] / "docs" / "ops.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a sample that compiles is wrong, or the compiler fails without a reason."""
    parser = argparse.ArgumentParser(prog="python -m tools.ops", description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="OP", help="names with wildcards; default: all")
    parser.add_argument("--dtypes", nargs="+", default=[str(x)[6:] for x in DTYPES])
    parser.add_argument(
        "--targets",
        nargs="+",
        choices=("cpu", "cuda"),
        default=["cpu"],
        help="cuda: compile without running; --page takes both",
    )
    parser.add_argument("--samples", type=int, default=8, metavar="N", help="at most N an op")
    parser.add_argument("--seconds", type=int, default=60, help="time limit of one compilation")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--cases", type=Path, metavar="FOLDER", help="store compiled samples")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes")
    parser.add_argument("--page", action="store_true", help="write docs/ops.md")
    options = parser.parse_args(arguments)
    if options.cases:
        options.cases.mkdir(parents=True, exist_ok=True)
    names = [
        name
        for name in database()
        if not options.ops or any(fnmatch.fnmatch(name, wanted) for wanted in options.ops)
    ]
    dtypes = [getattr(torch, name) for name in options.dtypes]
    tasks = [
        (name, dtype, target)
        for name in names
        for dtype in dtypes
        for target in (("cpu", "cuda") if options.page else options.targets)
        if dtype in database()[name].supported_dtypes("cpu")
    ]
    call = partial(
        measure,
        limit=options.samples,
        seconds=options.seconds,
        folder=options.cases,
    )
    outcomes = []
    for number, outcome in enumerate(_run(tasks, call, options.jobs), 1):
        outcomes.append(outcome)
        for text in outcome.wrong + outcome.failed:
            print(f"{outcome.op} {outcome.dtype} {outcome.target}: {text}", flush=True)
        if number % 20 == 0:
            print(f"{number} of {len(tasks)}", file=sys.stderr, flush=True)
    outcomes.sort(key=lambda outcome: (outcome.op, outcome.dtype, outcome.target))
    if options.json:
        options.json.write_text(json.dumps([asdict(x) for x in outcomes], indent=1) + "\n")
    if options.page:
        write_page(_PAGE, outcomes)
    print(summary(outcomes))
    return int(any(outcome.wrong or outcome.failed for outcome in outcomes))


def _run(tasks: list[Any], call: Callable[..., Any], jobs: int) -> Iterator[Any]:
    """Calls a function with each task in processes. A process that dies ends all others; what ran
    then is repeated alone at the end, so that its death is an outcome."""
    waiting, suspects = list(reversed(tasks)), []
    while waiting:
        with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=40) as pool:
            running: dict[Future[Any], Any] = {}
            broken = False
            while running or (waiting and not broken):
                while waiting and not broken and len(running) < jobs:
                    try:
                        running[pool.submit(call, *waiting[-1])] = waiting[-1]
                        waiting.pop()
                    except BrokenProcessPool:
                        broken = True
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        suspects.append(task)
                        broken = True
                    else:
                        yield _outcome(task, future)
    for task in suspects:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            yield _outcome(task, pool.submit(call, *task))


def _outcome(task: Any, future: Future[Any]) -> Any:
    """The result of a call, or the error as an outcome."""
    error = future.exception()
    if error is None:
        return future.result()
    name, dtype, target = (*task, "cpu")[:3]
    dead = isinstance(error, BrokenProcessPool)
    text = "the process died" if dead else f"{type(error).__name__}: {error}".splitlines()[0]
    return Outcome(str(name), str(dtype).removeprefix("torch."), target, failed=[text])


if __name__ == "__main__":
    sys.exit(main())
