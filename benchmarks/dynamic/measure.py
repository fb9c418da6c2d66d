# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures one model: at points, between points, and calls of random batches."""

from __future__ import annotations

import itertools
import random
import statistics
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree

import convoy_runtime
from benchmarks.dynamic.figures import Figures, Plan, Row
from benchmarks.dynamic.models import DynamicModel
from benchmarks.dynamic.peers import Peer, peers_of
from benchmarks.dynamic.tail import (
    call_times,
    gpu_times,
    host_times,
    on_quietest_core,
    percentiles_of,
)
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.dynamic.program import DynamicProgram

__all__ = ["measure"]

_HOST = "the host alone"


def measure(name: str, model: DynamicModel, plan: Plan) -> Figures:
    """Measures one model and prints each figure.

    Args:
        name: Its name.
        model: The model.
        plan: What is measured.

    Returns:
        The figures.
    """
    return _Run(name, model, plan).figures()


class _Run:
    """The measurement of one model."""

    def __init__(self, name: str, model: DynamicModel, plan: Plan) -> None:
        self.model, self.plan = model, plan
        self.module = model.build()
        self.state = dict(self.module.state_dict())
        start = time.perf_counter()
        program = self._load(name)
        assert isinstance(program, DynamicProgram)
        self.program = program
        self.target = program.manifest.target
        self.found = Figures(name, load_seconds=time.perf_counter() - start)
        self.peers: list[Peer] = []
        if plan.peers:
            cudnn = program.manifest.cudnn
            self.peers = peers_of(
                self.module, self.target, "float32" if cudnn is None else cudnn.io_dtype
            )

    def _path(self, name: str) -> Path:
        return self.plan.folder / f"{name}.convoy"

    def _static_name(self, point: Mapping[str, int]) -> str:
        return "-".join([self.found.name, *(str(point[name]) for name in self.model.points)])

    def _load(self, name: str) -> convoy_runtime.Program:
        return convoy_runtime.load(self._path(name), weights=self.state, tune=self.plan.tune)  # type: ignore[arg-type]

    def figures(self) -> Figures:
        """Measures and prints everything."""
        found, model = self.found, self.model
        names = []
        for values in itertools.product(*model.points.values()):
            point = dict(zip(model.points, values, strict=True))
            names.append(self._static_name(point))
            if self._is_measured(point):
                with self._load(names[-1]) as static:
                    found.rows.append(self._row(point, static))
        for between in model.between:
            if self._is_measured(between):
                found.rows.append(self._row(between, None))
        self._sizes(names)
        if self.plan.calls and "batch" in model.points:
            found.percentiles = self._percentiles()
        found.choice_microseconds = self._choice_microseconds()
        self.program.close()
        return found

    def _is_measured(self, point: Mapping[str, int]) -> bool:
        return self.plan.most is None or point.get("batch", 1) <= self.plan.most

    def _sizes(self, names: Sequence[str]) -> None:
        weights = {
            spec.origin: spec.bytes
            for each in self.program.static_programs.values()
            for spec in each.manifest.prepared
        }
        self.found.bytes = found = {
            "dynamic": self._path(self.found.name).stat().st_size,
            "static": max(self._path(name).stat().st_size for name in names),
            WEIGHTS: sum(weights.values()),
        }
        whole = (found["dynamic"] + found[WEIGHTS]) / (found["static"] + found[WEIGHTS])
        print(
            f"  loaded in {self.found.load_seconds:.2f} s; {found['dynamic'] / 1e6:.2f} MB, the "
            f"largest static artifact {found['static'] / 1e6:.2f} MB, weights "
            f"{found[WEIGHTS] / 1e6:.1f} MB: {whole:.3f} of a static artifact with weights",
            flush=True,
        )

    def _row(self, point: Mapping[str, int], static: convoy_runtime.Program | None) -> Row:
        """The times at a point, or between points."""
        inputs = self._placed(self.model.inputs(point))
        actions: dict[str, Callable[[], Any]] = {}
        if static is not None:
            actions["static"] = lambda: static(*inputs)
        else:
            next_inputs = self._placed(self.model.inputs(self._next(point)))
            actions["next point"] = lambda: self.program(*next_inputs)
        first = next(iter(actions))
        actions["dynamic"] = lambda: self.program(*inputs)
        error = self._error(self.program(*inputs), inputs)
        with torch.no_grad():
            for peer in list(self.peers):
                try:
                    actions[peer.name] = peer.prepared(inputs)
                except Exception as failure:
                    self.found.failures[peer.name] = f"{type(failure).__name__}: {failure}"
                    self.peers.remove(peer)
            times = self._times(actions)
        row = Row(dict(point), times, times["dynamic"] / times[first], error)
        print(f"  {self.found.name} {row}", flush=True)
        return row

    def _next(self, point: Mapping[str, int]) -> dict[str, int]:
        return min(
            (
                each
                for each in self.program.points
                if all(each[name] >= value for name, value in point.items())
            ),
            key=lambda each: tuple(each.values()),
        )

    def _percentiles(self) -> dict[str, dict[str, float]]:
        """Percentiles of the times of calls of random batches, of the dynamic artifact, and of
        static ones in the same order.

        The latter have no choice, no padding and no memory that points share. On a GPU a third row
        has the launches of their CUDA graphs alone, so its percentiles are those of the host and
        the device. Another row has work of the host alone. With several turns, these two are
        measured again, on the core that is quietest in each turn.
        """
        generator = random.Random(0)
        most = min(self.plan.most or 1 << 30, max(self.model.points["batch"]))
        others = {name: values[0] for name, values in self.model.points.items() if name != "batch"}
        batches = [generator.randint(1, most) for _ in range(self.plan.calls)]
        points = [value for value in self.model.points["batch"] if value <= most]
        next_points = [min(each for each in points if each >= batch) for batch in batches]
        inputs = {
            size: self._placed(self.model.inputs({"batch": size, **others}))
            for size in {*batches, *points}
        }
        found = {}

        def note(kind: str, times: Mapping[int, Sequence[float]]) -> None:
            found[kind] = percentiles_of(times)
            shown = ", ".join(f"{each} {value:.3f}" for each, value in found[kind].items())
            print(
                f"  {self.plan.calls} calls of batches 1 to {most}, {kind}: {shown} of the median",
                flush=True,
            )

        with ExitStack() as stack:
            static = {
                point: stack.enter_context(
                    self._load(self._static_name({"batch": point, **others}))
                )
                for point in points
            }
            # A program of its own, whose first calls are among the measured ones.
            program = stack.enter_context(self._load(self.found.name))
            runs: list[tuple[str, Callable[[int], Any], Sequence[int]]] = [
                ("dynamic", lambda batch: program(*inputs[batch]), batches),
                ("static", lambda batch: static[batch](*inputs[batch]), next_points),
            ]
            if self.target == "cuda":
                runs.append(("replay", lambda batch: static[batch].replay(), next_points))  # type: ignore[attr-defined]
            for name, call, order in runs:
                note(name, call_times(call, order, self._synchronize))
                if self.target == "cuda":
                    note(f"{name}, GPU time", gpu_times(call, order))
            note(_HOST, host_times(self.plan.calls))
            name, call, order = runs[0]
            for turn in range(2, self.plan.turns + 1):
                with on_quietest_core() as core:
                    print(f"  turn {turn} on core {core}")
                    note(f"{_HOST}, turn {turn}", host_times(self.plan.calls))
                    note(f"{name}, turn {turn}", call_times(call, order, self._synchronize))
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
        for _ in range(self.plan.rounds):
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
        """The largest difference from PyTorch, in float64 on the CPU and in float32 on the GPU, in
        relation to the largest number."""
        if self.target == "cuda":
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
            module, wide = self.module.cuda(), inputs
        else:
            module = self.model.build().double()
            module.load_state_dict(self.state)
            wide = tuple(each.double() if each.is_floating_point() else each for each in inputs)
        wanted = _pytree.tree_leaves(module(*wide))
        return max(
            ((got.double() - each.double()).abs().max() / each.double().abs().max()).item()
            for got, each in zip(_pytree.tree_leaves(result), wanted, strict=True)
        )
