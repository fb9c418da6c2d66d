# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares artifacts with dynamic sizes with static ones, and optionally with
torch.compile(dynamic=True).

    python -m benchmarks.dynamic build/dynamic --models resnet50 --calls 10000

The folder is that of `benchmarks.dynamic.build`. For each point: the time of a call of the static
artifact and of the dynamic one, in alternating rounds. Between points: the time beside that of the
next point. Then --calls calls of random batches, whose 99th percentile is compared with the median
of the same size. Last, the time to choose the program of a call. Results are compared with PyTorch
in float64 on the CPU, or in float32 on the GPU.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import time
import timeit
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree

import convoy_runtime
from benchmarks.dynamic.models import MODELS, DynamicModel
from convoy_runtime.dynamic.program import DynamicProgram

__all__ = ["main"]


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
    parser.add_argument("--most", type=int, help="the largest batch to measure")
    parser.add_argument("--peer", action="store_true", help="torch.compile(dynamic=True)")
    parser.add_argument("--json", type=Path, default=Path("build/dynamic.json"))
    options = parser.parse_args(arguments)
    found = {}
    for name in options.models:
        found[name] = _Run(name, options).figures()
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


class _Run:
    """The measurement of one model."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name, self.options = name, options
        self.model: DynamicModel = MODELS[name]
        self.module = self.model.build()
        self.state = dict(self.module.state_dict())
        start = time.perf_counter()
        program = self._load(options.folder / f"{name}.convoy")
        assert isinstance(program, DynamicProgram)
        self.program = program
        self.target = program.manifest.target
        self.seconds = time.perf_counter() - start

    def _load(self, path: Path) -> convoy_runtime.Program:
        return convoy_runtime.load(path, weights=self.state, tune=self.options.tune)

    def figures(self) -> dict[str, Any]:
        """Measures and prints everything."""
        rows = {}
        size = (self.options.folder / f"{self.name}.convoy").stat().st_size
        print(f"{self.name}: loaded in {self.seconds:.2f} s, {size / 1e6:.1f} MB without weights")
        for values in itertools.product(*self.model.points.values()):
            point = dict(zip(self.model.points, values, strict=True))
            if self.options.most is not None and point.get("batch", 1) > self.options.most:
                continue
            text = "-".join(map(str, values))
            with self._load(self.options.folder / f"{self.name}-{text}.convoy") as static:
                rows[text] = self._row(point, {"static": static})
        for point in self.model.between:
            if self.options.most is not None and point.get("batch", 1) > self.options.most:
                continue
            rows["-".join(map(str, point.values()))] = self._row(point, {})
        found: dict[str, Any] = {"rows": rows, "load seconds": self.seconds}
        if self.options.calls and "batch" in self.model.points:
            found["percentiles"] = self._percentiles()
        found["choice microseconds"] = self._choice_microseconds()
        self.program.close()
        return found

    def _row(self, point: Mapping[str, int], others: Mapping[str, Any]) -> dict[str, float]:
        """The times in ms at a point, or between points."""
        inputs = self._placed(self.model.inputs(point))
        actions: dict[str, Callable[[], Any]] = {
            name: lambda program=program: program(*inputs) for name, program in others.items()
        }
        actions["dynamic"] = lambda: self.program(*inputs)
        if not others:
            next_inputs = self._placed(self.model.inputs(self._next(point)))
            actions["next point"] = lambda: self.program(*next_inputs)
        if self.options.peer and self.target == "cuda":
            compiled = torch.compile(self.module.cuda(), dynamic=True)
            actions["torch.compile"] = lambda: compiled(*inputs)
        error = self._error(self.program(*inputs), inputs)
        with torch.no_grad():
            times = self._times(actions)
        first = next(iter(times)) if others else "next point"
        text = " ".join(f"{name}={value}" for name, value in point.items())
        shown = ", ".join(f"{name} {each:.3f} ms" for name, each in times.items())
        ratio = times["dynamic"] / times[first]
        print(f"  {text}: {shown}; {ratio:.3f} of {first}, error {error:.1e}", flush=True)
        return {**times, "ratio": ratio, "error": error}

    def _next(self, point: Mapping[str, int]) -> dict[str, int]:
        return min(
            (
                each
                for each in self.program.points
                if all(each[name] >= value for name, value in point.items())
            ),
            key=lambda each: tuple(each.values()),
        )

    def _percentiles(self) -> dict[str, float]:
        """The time of calls of random batches in relation to the median of their size."""
        generator = random.Random(0)
        most = min(self.options.most or 1 << 30, max(self.model.points["batch"]))
        others = {name: values[0] for name, values in self.model.points.items() if name != "batch"}
        inputs = {
            batch: self._placed(self.model.inputs({"batch": batch, **others}))
            for batch in range(1, most + 1)
        }
        times: defaultdict[int, list[float]] = defaultdict(list)
        for _ in range(self.options.calls):
            batch = generator.randint(1, most)
            start = time.perf_counter()
            self.program(*inputs[batch])
            self._synchronize()
            times[batch].append(time.perf_counter() - start)
        ratios = sorted(
            each / statistics.median(of_size) for of_size in times.values() for each in of_size
        )
        found = {
            f"p{percent:g}": ratios[min(len(ratios) - 1, int(len(ratios) * percent / 100))]
            for percent in (50, 99, 99.9)
        }
        shown = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        print(f"  {self.options.calls} calls of batches 1 to {most}: {shown} of the size's median")
        return found

    def _choice_microseconds(self) -> float:
        """The time to choose the program of a call, which every call includes."""
        inputs = self._placed(self.model.inputs(self.program.points[0]))
        self.program(*inputs)
        rounds = timeit.repeat(lambda: self.program._choose(inputs), number=10000, repeat=5)
        found = min(rounds) / 10000 * 1e6
        print(f"  choosing the program of a call: {found:.2f} us")
        return found

    def _times(self, actions: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
        """The median of the rounds, in ms."""
        repeats = {}
        for name, action in actions.items():
            action()
            self._synchronize()
            start = time.perf_counter()
            action()
            self._synchronize()
            repeats[name] = max(1, int(0.05 / max(time.perf_counter() - start, 1e-6)))
        times: dict[str, list[float]] = {name: [] for name in actions}
        for _ in range(self.options.rounds):
            for name, action in actions.items():
                start = time.perf_counter()
                for _ in range(repeats[name]):
                    action()
                self._synchronize()
                times[name].append((time.perf_counter() - start) / repeats[name] * 1e3)
        return {name: statistics.median(each) for name, each in times.items()}

    def _synchronize(self) -> None:
        if self.target == "cuda":
            torch.cuda.synchronize()

    def _placed(self, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return tuple(each.cuda() if self.target == "cuda" else each for each in inputs)

    @torch.no_grad()
    def _error(self, result: Any, inputs: tuple[torch.Tensor, ...]) -> float:
        """The largest difference from PyTorch in relation to the largest number."""
        module = self.module.cuda() if self.target == "cuda" else self.model.build().double()
        if self.target == "cpu":
            module.load_state_dict(self.state)
        wide = [
            each.double() if each.is_floating_point() and self.target == "cpu" else each
            for each in inputs
        ]
        wanted = _pytree.tree_leaves(module(*wide))
        return max(
            ((got.double() - each.double()).abs().max() / each.double().abs().max()).item()
            for got, each in zip(_pytree.tree_leaves(result), wanted, strict=True)
        )


if __name__ == "__main__":
    raise SystemExit(main())
