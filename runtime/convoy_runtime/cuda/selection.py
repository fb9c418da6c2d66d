"""Which plans a program runs on: those that the store knows, or new ones; close calls are decided inside the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from math import prod
from statistics import median
from typing import Protocol

from convoy_runtime._native import NativeLibrary
from convoy_runtime.manifest import Manifest
from convoy_runtime.program import Progress

from ._cudnn import Cudnn
from ._driver import Device
from .capture import Captured, Stopwatch
from .memory import Allocation
from .plan import Plan
from .planner import Planner
from .scratch import fill_random
from .tuner import TUNE_LEVELS, Tuner

__all__ = ["decide", "select"]

_ROUNDS = 7
_ROUND_MICROSECONDS = 4000.0
#: A change must make the whole program this much faster to be taken: less is noise.
_GAIN = 0.999


def select(
    manifest: Manifest,
    native: NativeLibrary,
    planner: Planner,
    cudnn: Cudnn,
    device: Device,
    stream: int,
    handle: int,
    tune: str,
    progress: Progress | None,
) -> dict[int, list[Plan]]:
    """Plans of each graph that is called, by its index, best first: one, or several that tuning found to be equally good. What is tuned
    is stored at once, so that an interrupt loses nothing. Raises what planning and tuning raise."""
    used = list(dict.fromkeys(site.graph for site in manifest.calls))
    found: dict[int, list[Plan]] = {}
    try:
        for done, index in enumerate(used):
            graph = manifest.graphs[index]
            build = native.builder(graph.symbol)

            def tell(what: str, done: int = done) -> None:
                if progress is not None:
                    progress(what, done, len(used))

            tell(f"plan of {graph.name}")
            if tune == "off":
                found[index] = [planner.plan(graph, build)]
                continue
            known = planner.stored(graph, build, [], level=tune)
            if known is not None:
                found[index] = [known]
                continue
            found[index] = Tuner(planner, cudnn, device, stream, handle, TUNE_LEVELS[tune]).tune(graph, build, tell)
            planner.keep(build, found[index][0])
    except BaseException:
        for plans in found.values():
            for plan in plans:
                plan.descriptor.close()
        raise
    return found


class _Program(Protocol):
    """What `decide` needs of an instance."""

    inputs: list[int]
    prepared: list[int]

    def capture(self, plans: Mapping[int, Plan], workspace: int) -> Captured: ...


def decide(
    program: _Program, manifest: Manifest, device: Device, stream: int, finalists: dict[int, list[Plan]], progress: Progress | None
) -> dict[int, Plan]:
    """One plan a graph: what alone looked equally fast is tried in place, one graph after another, those first that take most time.

    The program runs on random inputs and weights: zeros would let the GPU clock higher than real numbers do.
    """
    for spec, pointer in zip(manifest.inputs, program.inputs, strict=True):
        fill_random(device.driver, stream, pointer, spec.bytes, spec.dtype)
    for spec, pointer in zip(manifest.prepared, program.prepared, strict=True):
        # Values stay in range over many layers when a weight of K x C... is divided by the root of its fan-in.
        fan_in = max(1, prod(spec.shape[1:]))
        fill_random(device.driver, stream, pointer, spec.bytes, spec.dtype, scale=fan_in**-0.5)
    calls = [site.graph for site in manifest.calls]

    def share(index: int) -> float:
        return calls.count(index) * (finalists[index][0].report.trials[0].microseconds or 0.0)

    open_graphs = sorted((index for index, plans in finalists.items() if len(plans) > 1), key=share, reverse=True)
    chosen = {index: plans[0] for index, plans in finalists.items()}
    size = max(plan.report.workspace_bytes for plans in finalists.values() for plan in plans)
    with ExitStack() as stack:
        workspace = Allocation(device, size)
        watch = Stopwatch(device.driver, stream)
        stack.callback(watch.close)
        best = program.capture(chosen, workspace.pointer)
        for done, index in enumerate(open_graphs):
            if progress is not None:
                progress(f"{manifest.graphs[index].name} in the whole program", done, len(open_graphs))
            for plan in finalists[index][1:]:
                other = program.capture({**chosen, index: plan}, workspace.pointer)
                times = watch.rounds([best, other], rounds=_ROUNDS, microseconds=_ROUND_MICROSECONDS)
                if median(times[1]) < median(times[0]) * _GAIN:
                    best, other = other, best
                    chosen[index] = plan
                other.close()
        best.close()
    return chosen
