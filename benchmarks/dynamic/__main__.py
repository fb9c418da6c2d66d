# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares artifacts with dynamic sizes with static ones, and optionally with
torch.compile(dynamic=True), in one process.

    python -m benchmarks.dynamic build/dynamic --models resnet50 --calls 10000 --peers

The folder is that of `benchmarks.dynamic.build`. For each point: the time of a call of the static
artifact, of the dynamic one, and of the peers, in alternating rounds. Between points: the time
beside that of the next point. Then the size of the artifacts, and --calls calls of random batches,
whose percentiles are in relation to the median of the same size, and as many of static artifacts,
whose percentiles are those of the host and the device: by the host's clock, one call at a time, and
on a GPU also by its clock, with the host ahead. Another row has the percentiles of a fixed piece of
work of the host, which are those of the machine. With --turns, the calls of the dynamic artifact
are measured that often by the host's clock, from the second turn on on the core that is quietest in
each. Last, the time to choose the program of a call. Results are compared with PyTorch in float64
on the CPU, or in float32 on the GPU.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dynamic.figures import Figures, Plan
from benchmarks.dynamic.measure import measure
from benchmarks.dynamic.models import MODELS

__all__ = ["main", "table"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the models. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--tune", choices=("off", "quick"), default="off")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=0, help="calls of random batches")
    parser.add_argument("--turns", type=int, default=1, help="measurements of these calls")
    parser.add_argument("--most", type=int, help="the largest batch to measure")
    parser.add_argument("--peers", action="store_true", help="torch.compile(dynamic=True)")
    parser.add_argument("--json", type=Path, default=Path("build/dynamic.json"))
    options = parser.parse_args(arguments)
    plan = Plan(
        options.folder,
        options.tune,
        options.rounds,
        options.calls,
        options.turns,
        options.most,
        options.peers,
    )
    found = []
    options.json.parent.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        found.append(measure(name, MODELS[name], plan))
        rows = [each.as_dict() for each in found]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(found))
    return 0


def table(models: Sequence[Figures]) -> str:
    """The times at the points as a table in Markdown, and the reasons of peers that failed.

    Args:
        models: The figures of each model.

    Returns:
        The text.
    """
    runners = list(
        dict.fromkeys(
            name for each in models for row in each.rows if row.is_point for name in row.ms
        )
    )
    titles = ["model", "sizes", *runners, "dynamic / static", "error"]
    lines = [" | ".join(["", *titles, ""]).strip(), "|---" * len(titles) + "|"]
    for each in models:
        for row in each.rows:
            if row.is_point:
                sizes = ", ".join(f"{name} {value}" for name, value in row.point.items())
                times = [f"{row.ms[name]:.3f}" if name in row.ms else "-" for name in runners]
                cells = [each.name, sizes, *times, f"{row.ratio:.3f}", f"{row.error:.1e}"]
                lines.append(" | ".join(["", *cells, ""]).strip())
    failures = [
        f"{each.name}: {peer}: {reason}"
        for each in models
        for peer, reason in each.failures.items()
    ]
    return "\n".join([*lines, *([""] if failures else []), *failures])


if __name__ == "__main__":
    raise SystemExit(main())
