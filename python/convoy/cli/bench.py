# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""time an artifact, optionally together with PyTorch

Prints medians of whole calls on host arrays, including copies to and from the device. PyTorch runs
on the CPU, alternating with the artifact. On a GPU, also prints the time of the program without
copies: consecutive replays of its CUDA graph. benchmarks/compare.py compares these with PyTorch and
JAX on the GPU. With dynamic sizes, each point is timed.

examples:
  convoy bench resnet18.convoy --peer examples/resnet.py:resnet18
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.cli.plans import print_plans
from convoy.cli.reference import Model, Times, same_threads, times_ms
from convoy.errors import ConvoyError

if TYPE_CHECKING:
    from convoy_runtime import Program
    from convoy_runtime.replays import Figures

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

    with convoy_runtime.load(
        options.artifact,
        device=options.device,
        strict=options.strict,
        **load_arguments(options),
    ) as program:
        if not options.json:
            print_plans(program, options.artifact, everything=options.plans)
        programs = program.static_programs
        if options.peer is not None and len(programs) > 1:
            message = "--peer requires --point for an artifact with several points"
            raise ConvoyError(message)
        documents = {}
        for name, each in programs.items():
            found = _measure(each, options)
            documents[name] = found.document()
            if not options.json:
                if name:
                    print(f"point {name}")
                found.print()
    if options.json:
        print(json.dumps(documents.get("", documents)))
    return 0


@dataclass(frozen=True)
class _Found:
    """The figures of a program."""

    target: str
    times: Mapping[str, Times]
    replay: Figures | None
    threads: int | None

    def document(self) -> dict[str, Any]:
        """The figures as JSON."""
        found: dict[str, Any] = {
            "target": self.target,
            "unit": "ms",
            "median": {name: each.median for name, each in self.times.items()},
        }
        if self.threads is not None:
            found["threads"] = self.threads
        if self.replay is not None:
            found |= {
                "replay": self.replay.median / 1e3,
                "host": (self.replay.host or 0.0) / 1e3,
            }
        return found

    def print(self) -> None:
        """Prints the figures."""
        for name, each in self.times.items():
            ratio = (
                f"  {each.median / self.times['torch'].median:.2f}x PyTorch"
                if "torch" in self.times and name != "torch"
                else ""
            )
            print(f"{name:8} {each.median:9.3f} ms, the fastest {each.least:.3f}{ratio}")
        if self.threads is not None:
            print(
                f"both with {self.threads} threads"
                if self.target == "cpu"
                else f"PyTorch on the CPU, with {self.threads} threads"
            )
        if (replay := self.replay) is not None:
            spread = (
                f"{replay.least / 1e3:.3f} to {replay.most / 1e3:.3f}, host time "
                f"{replay.host or 0.0:.1f} us"
            )
            print(f"{'replay':8} {replay.median / 1e3:9.3f} ms  without copies ({spread})")


def _measure(program: Program, options: argparse.Namespace) -> _Found:
    """Measures a static program, and the peer."""
    from convoy_runtime.random_arrays import random_array
    from convoy_runtime.replays import measure

    threads: int | None = None
    inputs = [random_array(spec, seed) for seed, spec in enumerate(program.inputs)]
    actions: dict[str, Callable[[], Any]] = {"convoy": lambda: program.run_numpy(*inputs)}
    target = program.manifest.target
    with contextlib.ExitStack() as stack:
        if options.peer is not None:
            import torch

            model = Model(*build_model(options.peer), program, inputs)
            args, kwargs = model.arguments()
            threads = stack.enter_context(same_threads())
            stack.enter_context(torch.inference_mode())
            actions["torch"] = lambda: model.module(*args, **kwargs)
        times = times_ms(actions, seconds=options.seconds)
        replay = measure(program, inputs) if target == "cuda" else None
    return _Found(target, times, replay, threads)
