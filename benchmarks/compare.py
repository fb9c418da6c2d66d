# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares Convoy with its peers on one GPU in one run; writes the table of docs/performance.md.

    python -m benchmarks.build build/bench
    python -m benchmarks.compare build/bench --tune quick --warm
    python -m benchmarks.compare build/bench --tune quick --json build/compare.json \\
        --md build/compare.md
    python -m benchmarks.compare --from-json build/a.json build/b.json --md build/compare.md

A row is an artifact from `benchmarks.build`, with the weights and the input of examples/resnet.py,
224x224 images:

  Convoy                  one replay of its CUDA graph; includes the conversion of the float32 NCHW
                          input, which no peer does
  eager                   PyTorch, channels-last, cudnn.benchmark, captured in a CUDA graph
  compile                 the same module under torch.compile, captured
  freezing                the same with torch._inductor.config.freezing, which folds batch norms
  max-autotune            mode="max-autotune-no-cudagraphs" with freezing, captured
  jax                     jax.jit, batch norms folded, NHWC; enqueued calls or a loop in one jit,
                          whichever is faster
  jax-graphs              the same with convolutions in XLA's CUDA graphs, which is off by default

All run in the dtype of the row. The peer's input is on the device in the peer's preferred layout.
The row `strict` is float32 without TF32. Each runner has its own process (benchmarks/processes.py
gives the reasons), and only one at a time uses the GPU. Times are medians of rounds: a round runs
each in turn for --target-ms after a warm-up. The clock is CUDA events; for JAX it is the host's,
from the first call until the device has finished. Every result is compared with PyTorch in fp64;
Convoy's is computed with all temporary memory filled with NaN. A result beyond the limit is marked
wrong and excluded from ratios.

--warm compiles the peers of all rows in parallel and times nothing. The compiled code stays in
--cache for later calls. Processes that measure candidates on the GPU meanwhile (inductor's
max-autotune, XLA, cudnn.benchmark) take turns.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.costs import Costs, identity
from benchmarks.processes import Child, RunnerError, medians, output_path
from benchmarks.report import Result, Row, Run, add_versions, best_peer, dump, load, markdown, merge
from benchmarks.runners.job import NAMES, PEERS

__all__ = ["main"]

DEFAULT_PEERS = ["eager", "compile", "max-autotune", "jax", "jax-graphs"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures or merges runs.

    Returns:
        The exit code: 1 when Convoy fails in a row or differs too much from fp64, 2 for a wrong
        command line.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="folder of artifacts")
    parser.add_argument(
        "--rows", nargs="+", default=["*"], metavar="PATTERN", help="rows, e.g. resnet50-*-1"
    )
    parser.add_argument(
        "--peers", nargs="*", choices=PEERS, default=DEFAULT_PEERS, help="default: %(default)s"
    )
    parser.add_argument(
        "--tune",
        default="off",
        choices=("off", "quick", "full"),
        help="tune Convoy first (default: %(default)s)",
    )
    parser.add_argument(
        "--warm", action="store_true", help="only compile the peers of all rows, in parallel"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=max(1, (os.cpu_count() or 1) // 4),
        help="processes of --warm (default: %(default)s)",
    )
    parser.add_argument(
        "--limit-seconds",
        type=float,
        default=300,
        help="time limit of a peer's compilation (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--target-ms",
        type=float,
        default=20.0,
        help="time of each runner in a round (default: %(default)s)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("build/compare"),
        help="folder of compiled peers and tuned plans (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file after each row")
    parser.add_argument("--resume", action="store_true", help="skip the rows that are in --json")
    parser.add_argument(
        "--from-json",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="merge these runs into one table; measures nothing",
    )
    parser.add_argument("--md", type=Path, help="also write the tables to this file")
    options = parser.parse_args(arguments)
    if (options.folder is None) == (options.from_json is None):
        parser.error("expected either a folder of artifacts or --from-json")
    if options.jobs < 1 or options.rounds < 1:
        parser.error(
            f"--jobs and --rounds: expected at least 1, got {options.jobs} and {options.rounds}"
        )
    if options.resume and options.json is None:
        parser.error("--resume: expected --json, whose rows are kept")
    try:
        if options.from_json is not None:
            run = merge([load(path) for path in options.from_json])
        else:
            artifacts = find(options.folder, options.rows)
            options.cache = options.cache.resolve()
            options.cache.mkdir(parents=True, exist_ok=True)
            if options.warm:
                return _warm(artifacts, options)
            run = _measure(artifacts, options)
    except ValueError as error:
        parser.error(str(error))
    text = markdown(run)
    print(f"\n{text}", end="")
    if options.md is not None:
        options.md.write_text(text)
    ours = [(row.results.get("convoy", Result()), row.case.limit) for row in run.rows]
    return int(not all(result.right(limit) for result, limit in ours))


def find(folder: Path, patterns: Sequence[str]) -> dict[Case, Path]:
    """The artifacts of a folder whose case matches a pattern.

    Args:
        folder: The folder of `MODEL-DTYPE-BATCH.convoy` files.
        patterns: Patterns of `fnmatch` for `Case.key`.

    Returns:
        Case to absolute path, in the order of the table.

    Raises:
        ValueError: No artifact matches, or a file name is not that of a case.
    """
    cases = {Case.of(path): path.resolve() for path in folder.glob("*.convoy")}
    found = {
        case: cases[case]
        for case in sorted(cases, key=lambda case: case.place)
        if any(fnmatch(case.key, each) for each in patterns)
    }
    if not found:
        raise ValueError(
            f"{folder}: expected artifacts that match {' or '.join(patterns)}, got "
            f"{', '.join(case.key for case in cases) or 'none'}"
        )
    return found


def _warm(artifacts: dict[Case, Path], options: argparse.Namespace) -> int:
    """Compiles the peers of all rows. Returns the exit code."""
    costs, threads = Costs(options.cache / "costs"), max(1, (os.cpu_count() or 1) // options.jobs)
    # The slowest compilations come first.
    names = [
        name
        for name in ("max-autotune", "freezing", "compile", "jax", "jax-graphs")
        if name in options.peers
    ]

    running: set[Child] = set()

    def compile_one(name: str, case: Case) -> None:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            child = Child.of(
                name,
                artifacts[case],
                folder=Path(folder),
                cache=options.cache,
                tune="off",
                threads=threads,
            )
            running.add(child)
            try:
                child.loaded()
                result = _prepared(
                    child, name, case, artifacts[case], costs, options, at_once=options.jobs
                )
            except RunnerError as error:
                result = Result(failure=str(error))
            finally:
                running.discard(child)
                child.close()
        outcome = f"failed: {result.failure}" if result.failure else f"{result.seconds:.1f} s"
        print(
            f"{case.key} {NAMES[name]}: {outcome}, done after {time.perf_counter() - start:.1f} s",
            flush=True,
        )

    with ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(compile_one, name, case) for name in names for case in artifacts]
        try:
            for future in futures:
                future.result()
        except BaseException:
            # E.g. an interrupt. Threads end when the children that they wait for end.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in tuple(running):
                child.close()
            raise
    return 0


def _measure(artifacts: dict[Case, Path], options: argparse.Namespace) -> Run:
    import torch

    if not torch.cuda.is_available():
        raise ValueError(
            "expected an NVIDIA GPU that PyTorch can use, got none; --from-json needs none"
        )
    date, device = (
        datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        torch.cuda.get_device_name(),
    )
    run = Run(
        date,
        f"python -m benchmarks.compare {shlex.join(sys.argv[1:])}",
        device,
        {"driver": _driver()},
    )
    if options.resume and options.json.exists():
        run = merge([load(options.json), run])
    done = {row.case for row in run.rows if row.results.keys() >= {"convoy", *options.peers}}
    references: dict[tuple[str, int], np.ndarray] = {}
    for case, path in artifacts.items():
        if case in done:
            print(f"{case.key}: kept", flush=True)
            continue
        start = time.perf_counter()
        if (case.model, case.batch) not in references:
            references[case.model, case.batch] = case.expected()
        expected = references[case.model, case.batch]
        row = Row(case, _measure_row(case, path, expected, options, run.versions))
        run.rows = [each for each in run.rows if each.case != case] + [row]
        if options.json is not None:
            dump(run, options.json)
        best = best_peer(row)
        figures = ", ".join(
            f"{NAMES[name]} {result.ms:.3f}"
            for name, result in row.results.items()
            if result.ms is not None
        )
        failures = "".join(
            f"\n  {NAMES[name]}: {result.failure}"
            for name, result in row.results.items()
            if result.failure
        )
        ratio = f", {NAMES[best[0]]} / Convoy {best[1]:.2f}" if best else ""
        print(
            f"{case.key}: {figures}{ratio} ({time.perf_counter() - start:.0f} s){failures}",
            flush=True,
        )
    return run


def _measure_row(
    case: Case,
    path: Path,
    expected: np.ndarray,
    options: argparse.Namespace,
    versions: dict[str, str],
) -> dict[str, Result]:
    """Measures one row. All processes load at once, which takes longest. They then prepare one
    after another, and are timed in turn."""
    names, costs, results = (
        ["convoy", *options.peers],
        Costs(options.cache / "costs"),
        dict[str, Result](),
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ready: dict[str, Child] = {}
        children = {
            name: Child.of(name, path, folder=folder, cache=options.cache, tune=options.tune)
            for name in names
        }
        for child in children.values():
            stack.callback(child.close)
        # Preparing starts when all have loaded, because loading would add to its time.
        for name, child in children.items():
            try:
                child.loaded()
            except RunnerError as error:
                results[name] = Result(failure=str(error))
        for name, child in children.items():
            if name in results:
                continue
            try:
                results[name] = _prepared(child, name, case, path, costs, options)
            except RunnerError as error:
                results[name] = Result(failure=str(error))
                continue
            add_versions(versions, results[name].details.pop("versions"))
            got = np.load(output_path(folder, name))
            if got.shape != expected.shape:
                results[name].failure = f"expected a result of {expected.shape}, got {got.shape}"
                continue
            results[name].error = float(np.abs(got - expected).max() / np.abs(expected).max())
            ready[name] = child
        times, failures = medians(ready, rounds=options.rounds, target_ms=options.target_ms)
        for name in ready:
            results[name].ms, results[name].failure = times.get(name), failures.get(name)
    return results


def _prepared(
    child: Child,
    name: str,
    case: Case,
    path: Path,
    costs: Costs,
    options: argparse.Namespace,
    *,
    at_once: int = 1,
) -> Result:
    """Compiles or tunes a runner, while at most `at_once` processes compile. Raises RunnerError."""
    start, of = time.perf_counter(), identity(name, path)
    kept = f"convoy-{options.tune}" if name == "convoy" else name
    try:
        answer = child.prepare(options.limit_seconds)
    except RunnerError:
        costs.add(
            case.key, kept, time.perf_counter() - start, complete=False, of=of, at_once=at_once
        )
        raise
    cost = costs.add(case.key, kept, answer["seconds"], complete=True, of=of, at_once=at_once)
    return Result(seconds=cost.seconds, at_once=cost.at_once, details=answer["details"])


def _stop(number: int, _: Any) -> None:
    """Exits and ends the children, as on an interrupt. Acts once: `timeout` sends its signal
    twice."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def _driver() -> str:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return "unknown"
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    return (
        subprocess.run(command, capture_output=True, text=True, check=False)
        .stdout.split("\n")[0]
        .strip()
        or "unknown"
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())
