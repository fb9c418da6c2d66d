"""Random PyTorch models, compiled for both targets: the CPU's result with poisoned memory is
compared with PyTorch in float64, and for cuda the real cuDNN finalizes the graphs. A failure is
reduced and kept as a script."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from case_outcome import Outcome
from random_check import Verdict, same_failure
from random_model import Model, script
from random_networks import random_network
from random_reduce import reduce_model
from workers import Job, Workers

__all__ = ["run"]

#: How many failures of one kind are reduced, at a minute each; the others are kept unreduced.
_REDUCED = 1


def run(count: int, *, seed: int, jobs: int, keep: Path, hook: str = "") -> Outcome:
    """Checks the models of `count` seeds starting at `seed` in `jobs` processes, and writes a
    script for each failure to the folder `keep`."""
    # Freed memory is overwritten and new memory is nonzero, in the compiler and in weight
    # preparation.
    os.environ.setdefault("MALLOC_PERTURB_", "165")
    seconds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    failed: list[tuple[Job, Verdict]] = []
    start = time.perf_counter()
    with Workers(jobs) as workers:
        for job, verdict in workers.run(
            Job(number, hook=hook) for number in range(seed, seed + count)
        ):
            seconds.update(verdict.seconds)
            verdicts[verdict.kind] += 1
            if verdict.kind == "refused":
                refusals[re.sub(r" \(.*?\)|\[.*?\]", "", verdict.detail)] += 1
            if verdict.failed:
                print(
                    (
                        f"seed {job.seed}: {verdict.kind} {verdict.target} "
                        f"{' | '.join(verdict.detail.splitlines())[:300]}"
                    ),
                    flush=True,
                )
                failed.append((job, verdict))
        took = time.perf_counter() - start
        failures = [
            _keep(job, verdict, workers, keep, reduce) for job, verdict, reduce in _chosen(failed)
        ]
    summary = [
        f"models: {count} in {took:.0f} s, "
        + ", ".join(f"{number} {kind}" for kind, number in verdicts.most_common())
    ]
    summary += [f"  refused {number}: {reason}" for reason, number in refusals.most_common()]
    each = ", ".join(f"{name} {total / max(1, count):.3f}" for name, total in seconds.most_common())
    summary.append(f"  seconds a model: {each}")
    return Outcome(count, tuple(failures), tuple(summary))


def _chosen(failed: Sequence[tuple[Job, Verdict]]) -> list[tuple[Job, Verdict, bool]]:
    """Each failure, and whether it is reduced: the first ones of each kind."""
    chosen: list[tuple[Job, Verdict, bool]] = []
    for job, verdict in failed:
        alike = sum(reduced and same_failure(verdict, other) for _, other, reduced in chosen)
        chosen.append((job, verdict, alike < _REDUCED))
    return chosen


def _keep(job: Job, verdict: Verdict, workers: Workers, keep: Path, reduce: bool) -> Path:
    model = job.model or random_network(job.seed)
    if reduce and verdict.kind != "invalid":
        targets = (verdict.target,) if verdict.target else job.targets

        def judge(candidate: Model) -> Verdict:
            return workers.one(Job(job.seed, candidate, targets, job.hook))

        model, verdict = reduce_model(model, verdict, judge)
    what = f"Model of seed {job.seed}: {verdict.kind} {verdict.target}: {verdict.detail}"
    text = script(
        model,
        what.replace("\\", "/").replace('"""', "'''"),
        verdict.limits or [None] * len(model.outputs),
    )
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"model-{job.seed}.py"
    path.write_text(text)
    if reduce:
        print(text, flush=True)
    return path
