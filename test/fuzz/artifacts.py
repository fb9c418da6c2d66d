"""Runs mutants of artifacts through the runtime: each is opened and, on the CPU, loaded and run
once between guard pages.

The runtime may refuse a mutant with one of its own errors. Otherwise the result must be the same
or, if the hashes were recomputed, may be any. A mutant must not end the process, exceed the time
limit, or access memory outside its own.
"""

from __future__ import annotations

import mmap
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from artifact_child import PROGRESS, Job, keep
from artifact_mutations import Sample, mutant
from case_outcome import Outcome

__all__ = ["run", "samples"]

_HERE = Path(__file__).resolve().parent
#: Mutants per process: every loaded native.so stays loaded.
_BATCH = 1000
_SECONDS = 10.0


def run(count: int, *, seed: int, jobs: int, keep: Path) -> Outcome:
    """Runs `count` mutants in `jobs` parallel processes; seed and compiler determine them.

    A mutant that fails is kept in the folder `keep`, with a text file that describes the failure.
    """
    began = time.monotonic()
    keep.mkdir(parents=True, exist_ok=True)
    before = set(keep.glob(f"artifact-{seed}-*.convoy"))
    found = samples()
    prepared = time.monotonic() - began
    with ThreadPoolExecutor(jobs) as workers:
        counts: Counter[str] = Counter()
        for each in workers.map(
            lambda begin: check(found, seed, begin, min(begin + _BATCH, count), keep),
            range(0, count, _BATCH),
        ):
            counts += each
    failures = tuple(sorted(set(keep.glob(f"artifact-{seed}-*.convoy")) - before))
    took = time.monotonic() - began
    shares = ", ".join(f"{counts[key]} {key}" for key in ("refused", "same", "other"))
    line = (
        f"artifacts: {count} mutants of {len(found)} in {took:.0f} s, {prepared:.0f} of them "
        f"to compile; {shares}"
    )
    return Outcome(count, failures, (line,))


def samples() -> list[Sample]:
    """Small artifacts of both targets: with and without weights, with constants, aliases, kernels,
    alternatives and a plan."""
    from artifact_models import compile_samples

    return compile_samples()


def check(
    found: list[Sample],
    seed: int,
    begin: int,
    end: int,
    folder: Path,
    *,
    script: Path = _HERE / "artifact_child.py",
) -> Counter[str]:
    """Runs mutants `begin` to `end` in a process, and in a new one after each mutant that ends it.
    Returns the number of refusals and so on."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="convoy-fuzz-") as name:
        progress = Path(name) / "progress"
        while begin < end:
            progress.write_bytes(PROGRESS.pack(begin, time.monotonic()))
            job = Job(found, seed, begin, end, progress, folder)
            (Path(name) / "job").write_bytes(pickle.dumps(job))
            with progress.open("r+b") as file, mmap.mmap(file.fileno(), PROGRESS.size) as shared:
                how, output = _watch([sys.executable, str(script), str(Path(name) / "job")], shared)
                reached = PROGRESS.unpack_from(shared)[0]
            counts.update(
                {
                    key: int(value)
                    for key, _, value in (
                        each.partition("=") for each in output.split() if "=" in each
                    )
                }
            )
            if not how and reached == end:
                break
            # The results of the mutants before it are lost, but none of them was a failure.
            keep(
                job,
                reached,
                mutant(Random(f"{seed}/{reached}"), reached, found),
                how or "ended the process",
            )
            begin = reached + 1
    return counts


def _watch(command: list[str], shared: mmap.mmap) -> tuple[str, str]:
    """Runs a process until it ends or one mutant times out; returns the failure and the output."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:
                _, started = PROGRESS.unpack_from(shared)
                if time.monotonic() - started > _SECONDS:
                    process.kill()
                    process.communicate()
                    return f"took longer than {_SECONDS:g} s", ""
                continue
            if process.returncode < 0:
                return f"was killed by signal {-process.returncode}\n{output[-2000:]}", ""
            return (
                f"exited with {process.returncode}\n{output[-2000:]}" if process.returncode else ""
            ), output
