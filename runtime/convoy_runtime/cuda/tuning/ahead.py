# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Starts to build plans that compile a kernel before the graphs that need them are tuned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from convoy_runtime.cuda.plans.build_pool import BuildPool, Job
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.manifest import Graph

from .alternative_tuner import AlternativeTuner
from .history import MIN_RANKED_GRAPHS, MORE_RANKS, kind_of
from .levels import Level
from .lower_bounds import Speeds
from .stages import Sources, is_probably_enough

__all__ = ["begin_ahead"]

#: The smallest number of jobs for the pool. Fewer plans are built faster than it starts.
_MIN_JOBS: Final = 4


def begin_ahead(
    graphs: Sequence[tuple[Graph, Any]],
    tuned: Level,
    planner: Planner,
    alternatives: AlternativeTuner,
    speeds: Speeds,
    pool: BuildPool,
) -> bool:
    """Starts the jobs that tuning will probably need.

    Args:
        graphs: Graphs and their native build functions.
        tuned: The tuning level.
        planner: The plans of the program.
        alternatives: The alternatives of the graphs.
        speeds: The bandwidths of the GPU.
        pool: Receives the jobs.

    Returns:
        Whether the pool is needed: there are enough jobs, or graphs that have some if a kernel is
        slower than expected.
    """
    jobs: list[Job] = []
    # Graphs whose jobs are in `jobs`, and kinds of graphs without jobs.
    known: set[object] = set()
    alike: Counter[object] = Counter()
    unlikely = False
    for graph, build in graphs:
        alike[kind_of(graph)] += 1
        level = tuned
        if level.gives_up and alike[kind_of(graph)] > MIN_RANKED_GRAPHS:
            # The history will probably cut the sources.
            sources = tuple((source, min(limit, MORE_RANKS)) for source, limit in level.sources)
            level = replace(level, sources=sources)
        wanted = [(graph, build, level), *alternatives.steps_ahead(graph)]
        for each, its_build, its_level in wanted:
            kind = each.ops, *(tensor.dtype for tensor in each.tensors)
            if its_build is None or each.name in known or kind in known:
                continue
            if (compiled := _compiled_sources(its_level, each, speeds)) is None:
                unlikely = True
                continue
            new = planner.jobs_ahead(each, its_build, compiled)
            known.add(each.name if new else kind)
            jobs += new
            # The pool does not start a job twice.
            if len(jobs) >= _MIN_JOBS:
                pool.ahead(jobs)
    return unlikely or len(jobs) >= _MIN_JOBS


def _compiled_sources(level: Level, graph: Graph, speeds: Speeds) -> Sources | None:
    """Returns the sources whose compiled plans will probably be measured; None if there are none.
    With a last resort, these are for graphs without products, which no other engine runs."""
    if level.last_resort is not None:
        return None if graph.products else [(level.last_resort, 1)]
    return None if is_probably_enough(level, graph, speeds) else list(level.sources)
