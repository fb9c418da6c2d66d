# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Plans that differ from another plan in the value of one knob."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from convoy_runtime.cuda.cudnn.configs import Config, knob_values
from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph

from .builder import PlanBuilder
from .plan import Plan

if TYPE_CHECKING:
    from .build_pool import BuildPool

__all__ = ["knob_neighbours"]

#: Knobs with more values than this are counts. Knobs that choose among kernels have fewer.
_MAX_CHOICES = 64


def knob_neighbours(
    builder: PlanBuilder,
    graph: Graph,
    operations: BackendDescriptor,
    plan: Plan,
    seen: set[tuple[object, ...]],
    pool: BuildPool | None = None,
    progress: Callable[[str], None] = lambda _: None,
    *,
    every: bool = False,
) -> Iterator[Plan]:
    """Yields the plans of the same engine that differ from `plan` in one knob. Skips those that
    cannot be built.

    Args:
        builder: Builds the plans.
        graph: The graph of `plan`.
        operations: Its operation graph.
        plan: A cuDNN plan.
        seen: Engine and knobs of the configurations to skip. New ones are added.
        pool: Builds the plans that compile a kernel. Default: this process.
        progress: Called with the state of the pool's builds.
        every: Whether to change also knobs that `plan` leaves at their defaults.
    """
    report, unused = plan.report, list[str]()
    assert report.engine is not None, "a kernel has no knobs"
    later: list[Config] = []
    values = knob_values(builder.cudnn, operations, report.engine, builder.device)
    names = values if every else report.knobs
    changes = [
        (name, value)
        for name in names
        for value in _candidate_values(values.get(name, range(0)))
        if value != report.knobs.get(name)
    ]
    for rank, (name, value) in enumerate(changes):
        knobs = {**report.knobs, name: value}
        try:
            config = builder.config(operations, report.engine, knobs, source="knobs", rank=rank)
        except CudnnError:
            continue
        try:
            if (key := (config.engine, config.knobs)) in seen:
                continue
            seen.add(key)
            if pool is not None and config.compiles:
                later += [config] if builder.refusal(graph, config) is None else []
            elif (found := builder.build(graph, config, unused)) is not None:
                yield replace(found, report=replace(found.report, rejected=()))
        finally:
            config.descriptor.close()
    if pool is not None and later:
        for found in builder.build_in_pool(graph, operations, later, unused, pool, progress):
            yield replace(found, report=replace(found.report, rejected=()))


def _candidate_values(values: range) -> Iterable[int]:
    """Returns the values of a knob to try: powers of two for a count, e.g. of the parts of a split
    sum, else all."""
    return (
        values
        if len(values) <= _MAX_CHOICES
        else sorted({values[0], *(1 << bit for bit in range(64) if 1 << bit in values)})
    )
