# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""time an artifact, optionally together with PyTorch

Prints medians of whole calls on host arrays, including copies to and from the device. PyTorch runs
on the CPU, alternating with the artifact. On a GPU, also prints the time of the program without
copies: consecutive replays of its CUDA graph. benchmarks/compare.py compares these with PyTorch and
JAX on the GPU.

examples:
  convoy bench resnet18.convoy --peer examples/resnet.py:resnet18
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.cli.plans import print_plans
from convoy.cli.reference import Model, same_threads, times_ms

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.load_flags import add_arguments, add_plans

    parser.add_argument(
        "artifact", metavar="FILE", type=Path, help="an artifact that `convoy compile` wrote"
    )
    parser.add_argument(
        "--peer", metavar="MODEL", help=f"PyTorch model to compare with: {MODEL_HELP}"
    )
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="measuring time of each (default: %(default)s)"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="cpu, cuda or cuda:N; default: the artifact's target"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="use only plans from the artifact or the cache",
    )
    add_plans(parser)
    add_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime
    from convoy_runtime.load_flags import load_arguments
    from convoy_runtime.random_arrays import random_array
    from convoy_runtime.replays import Figures, measure

    replay: Figures | None = None
    threads: int | None = None
    with (
        convoy_runtime.load(
            options.artifact,
            device=options.device,
            strict=options.strict,
            **load_arguments(options),
        ) as program,
        contextlib.ExitStack() as stack,
    ):
        if not options.json:
            print_plans(program, options.artifact, everything=options.plans)
        inputs = [random_array(spec, seed) for seed, spec in enumerate(program.inputs)]
        actions: dict[str, Callable[[], Any]] = {"convoy": lambda: program.run_numpy(*inputs)}
        target = program.manifest.target
        if options.peer is not None:
            import torch

            model = Model(*build_model(options.peer), program, inputs)
            args, kwargs = model.arguments()
            threads = stack.enter_context(same_threads())
            stack.enter_context(torch.inference_mode())
            actions["torch"] = lambda: model.module(*args, **kwargs)
        times = times_ms(actions, seconds=options.seconds)
        if target == "cuda":
            replay = measure(program, inputs)
    if options.json:
        alone = (
            {}
            if replay is None
            else {"replay": replay.median / 1e3, "host": (replay.host or 0.0) / 1e3}
        )
        peer = {} if threads is None else {"threads": threads}
        print(
            json.dumps(
                {
                    "target": target,
                    "unit": "ms",
                    "median": {name: each.median for name, each in times.items()},
                    **peer,
                    **alone,
                }
            )
        )
        return 0
    for name, each in times.items():
        ratio = (
            f"  {each.median / times['torch'].median:.2f}x PyTorch"
            if "torch" in times and name != "torch"
            else ""
        )
        print(f"{name:8} {each.median:9.3f} ms, the fastest {each.least:.3f}{ratio}")
    if threads is not None:
        print(
            f"both with {threads} threads"
            if target == "cpu"
            else f"PyTorch on the CPU, with {threads} threads"
        )
    if replay is not None:
        spread = (
            f"{replay.least / 1e3:.3f} to {replay.most / 1e3:.3f}, host time "
            f"{replay.host or 0.0:.1f} us"
        )
        print(f"{'replay':8} {replay.median / 1e3:9.3f} ms  without copies ({spread})")
    return 0
