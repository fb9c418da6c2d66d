# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures the time from process start to the first result of a tuned model on a GPU, for Convoy
and PyTorch.

    python -m benchmarks.cold_start build/bench/resnet50-float16-1.convoy --tune quick

The artifact comes from `benchmarks.build`. The weights of examples/resnet.py and the tuned plans
are added to a copy of it. Each runner then starts in fresh processes, in turn, under production
conditions: files are in the page cache; bytecode and inductor's kernels are cached.

  Convoy          imports the runtime, loads the artifact with `strict=True` and runs it on a host
                  array; the result is a host array
  eager           imports torch, loads a pickled module in its dtype and runs it without
                  cudnn.benchmark
  compile         the same under torch.compile, with warm inductor caches on disk

Figures are medians in milliseconds. The steps that every GPU process shares (starting Python,
importing numpy, initializing CUDA) are reported separately from Convoy's own part, which includes
the initialization of cuDNN. The measuring process holds a CUDA context so that the driver stays
loaded, as under nvidia-persistenced. Each result is compared with PyTorch in fp64.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np

from benchmarks.cases import Case
from benchmarks.processes import ROOT, environment

__all__ = ["GOAL_MS", "Start", "main", "report"]

NAMES = {"convoy": "Convoy", "eager": "torch eager", "compile": "torch.compile, cached"}
#: Limit on Convoy's own part.
GOAL_MS = 300.0
#: Steps and parts that every GPU process shares.
_COMMON = ("Python", "numpy", "driver", "context")

#: The JSON that first_result prints: `steps`, `nvrtc`, and for Convoy `load` and `plans`.
Start = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark.

    Returns:
        The exit code: 1 when a result differs too much from fp64, 2 for a wrong command line.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("artifact", type=Path, help="MODEL-DTYPE-BATCH.convoy")
    parser.add_argument("--runners", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument(
        "--tune",
        default="off",
        choices=("off", "quick", "full"),
        help="tune first; off: use the cached plans (default: %(default)s)",
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds after a warm-up (default: %(default)s)"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("build/compare"),
        help="cache folder of benchmarks.compare (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds: expected at least 1, got {options.rounds}")
    try:
        case = Case.of(options.artifact)
    except ValueError as error:
        parser.error(str(error))
    if not options.artifact.is_file():
        parser.error(
            f"{options.artifact}: expected an artifact that benchmarks.build wrote, got no file"
        )
    cache = options.cache.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = _prepare(case, options.artifact, folder, cache, options.tune)
        starts: dict[str, list[Start]] = {name: [] for name in options.runners}
        for number in range(options.rounds + 1):
            for name in options.runners:
                start = _start(name, case, folder, cache)
                if number:
                    starts[name].append(start)
        errors = {
            name: float(
                np.abs(np.load(folder / f"{name}.npy") - expected).max() / np.abs(expected).max()
            )
            for name in starts
        }
    if options.json is not None:
        options.json.write_text(
            json.dumps({"case": case.key, "starts": starts, "errors": errors}, indent=1) + "\n"
        )
    print(report(case, starts, errors), end="")
    return int(not all(error <= case.limit for error in errors.values()))


def report(case: Case, starts: Mapping[str, Sequence[Start]], errors: Mapping[str, float]) -> str:
    """Formats the tables.

    Args:
        case: The benchmark case.
        starts: Runner name to the measured starts, at least one each.
        errors: Runner name to the largest difference from fp64, relative to the largest output.

    Returns:
        Markdown: a table with a row per runner, and one with the parts of Convoy's start.
    """
    lines = [
        (
            f"{case.key}, milliseconds from the start of the process to the first result, "
            f"medians of {len(next(iter(starts.values())))}:"
        ),
        "",
    ]
    lines += ["| | total | NVRTC | difference from fp64 |", "|---|---|---|---|"]
    for name, each in starts.items():
        nvrtc = "loaded" if any(start["nvrtc"] for start in each) else "not loaded"
        lines.append(
            f"| {NAMES[name]} | {_ms(sum(start['steps'].values()) for start in each)} | "
            f"{nvrtc} | {errors[name]:.1e} |"
        )
    if "convoy" in starts:
        parts = [_parts(start) for start in starts["convoy"]]
        own = [
            sum(seconds for part, seconds in each.items() if part not in _COMMON) for each in parts
        ]
        lines += ["", "| part of Convoy's start | ms |", "|---|---|"]
        names = {part: " (shared)" if part in _COMMON else "" for each in parts for part in each}
        lines += [
            f"| {part}{whose} | {_ms(each.get(part, 0.0) for each in parts)} |"
            for part, whose in names.items()
        ]
        verdict = "within" if median(own) * 1e3 <= GOAL_MS else "over"
        plans = ", ".join(
            f"{count} from: {origin}" for origin, count in starts["convoy"][0]["plans"].items()
        )
        lines += ["", f"Convoy's own part: {_ms(own)} ms, {verdict} {GOAL_MS:.0f}. Plans: {plans}."]
    return "\n".join(lines) + "\n"


def _parts(start: Start) -> dict[str, float]:
    """Seconds by step, where the step `load` is replaced by its parts."""
    parts: dict[str, float] = {}
    for step, seconds in start["steps"].items():
        parts.update(start["load"] if step == "load" else {step: seconds})
    return parts


def _ms(seconds: Any) -> str:
    return f"{median(seconds) * 1e3:.1f}"


def _prepare(
    case: Case, artifact: Path, folder: Path, cache: Path, tune: Literal["off", "quick", "full"]
) -> np.ndarray:
    """Writes the files that the processes load into `folder`. Returns the fp64 result."""
    import torch

    import convoy_runtime
    from convoy.artifact import write_artifact
    from convoy_runtime._native import MEMBER, load_native
    from convoy_runtime.artifact import WEIGHTS
    from convoy_runtime.cuda.program.executor import CudaProgram
    from convoy_runtime.opening import open_artifact
    from convoy_runtime.weights import prepare_weights

    module, x = case.build()
    weights = dict(module.state_dict())
    opened = open_artifact(artifact)
    with convoy_runtime.load(
        artifact, weights=weights, plan_cache=cache / "plans", tune=tune
    ) as program:
        assert isinstance(program, CudaProgram)
        plans = program.plan_members()
    prepared = prepare_weights(
        load_native(opened.members[MEMBER]), opened.manifest, weights, opened.constants()
    )
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    write_artifact(folder / "model.convoy", opened.manifest, {**members, **plans}, prepared)
    np.save(folder / "image.npy", x.numpy())
    torch.save(
        module.to(getattr(torch, case.dtype)).to(memory_format=torch.channels_last),
        folder / "module.pt",
    )
    return case.expected()


def _start(name: str, case: Case, folder: Path, cache: Path) -> Start:
    """Runs one process. Raises RuntimeError when it fails."""
    env = {**environment(cache), "PYTHONPYCACHEPREFIX": str(cache / "bytecode")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [name, str(folder), repr(time.perf_counter()), "tf32" if case.tf32 else "strict"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_result", *words],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{NAMES[name]} ended with exit code {done.returncode}:\n{done.stderr}")
    start: Start = json.loads(done.stdout.splitlines()[-1])
    return start


if __name__ == "__main__":
    sys.exit(main())
