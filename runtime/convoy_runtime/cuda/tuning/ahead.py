# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Starts to build plans that compile a kernel before the graphs that need them are tuned. Build
processes that are idle also ask cuDNN's heuristics about other graphs, and build the plans of
graphs that will probably not need them: a graph that does would wait half a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from convoy_runtime.cuda.plans.build_jobs import Job
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.manifest import Graph
from convoy_runtime.value_types import value_type

from .alternative_tuner import AlternativeTuner, GraphAhead
from .levels import ALL, Level
from .lower_bounds import Speeds
from .stages import Sources, is_left_to_kernels, is_probably_enough

__all__ = ["begin_ahead"]

#: The smallest number of jobs for the pool. Fewer plans are built faster than it starts.
_MIN_JOBS: Final = 4
#: With more jobs than this, only the first plans of each graph are built.
_MAX_JOBS: Final = 32
#: The number of these plans. On an H200 11 of 19 programs in float16 have more jobs, a third of a
#: second each: 694, with this limit 388. Their best plans take 2.8 of 11,630 us more.
_FIRST_PLANS: Final = 2


def begin_ahead(
    graphs: Sequence[tuple[Graph, Any]],
    tuned: Level,
    planner: Planner,
    alternatives: AlternativeTuner,
    speeds: Speeds,
    pool: BuildPool,
) -> tuple[bool, int]:
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
        slower than expected. And the largest number of plans of a source that compile a kernel, for
        each graph.
    """
    jobs: list[Job] = []
    later: list[Job] = []
    # Graphs whose jobs are in `jobs`, and kinds of graphs with and without jobs.
    known: set[object] = set()
    compiled_kinds: set[object] = set()
    needed = False
    matmuls = 0
    queries: dict[str, _Query] = {}
    for graph, build in graphs:
        for each in [
            GraphAhead(graph, build, tuned, is_likely=True),
            *alternatives.steps_ahead(graph),
        ]:
            name = each.graph.name
            kind = each.graph.ops, *(tensor.dtype for tensor in each.graph.tensors)
            if each.build is None or name in known or kind in known:
                continue
            compiled = _compiled_sources(each.level, each.graph, speeds)
            needed = needed or compiled is None
            if each.level.last_resort is None and is_left_to_kernels(each.graph):
                matmuls += each.graph.ops[0] == "matmul"
                continue
            if compiled is None or not each.is_likely:
                queries.setdefault(name, _Query.of(each, compiled))
                continue
            new = planner.jobs_ahead(each.graph, each.build, compiled)
            if new:
                compiled_kinds.add(kind)
            known.add(name if new or kind in compiled_kinds else kind)
            jobs += new[:_FIRST_PLANS]
            later += new[_FIRST_PLANS:]
            # The pool does not start a job twice.
            if len(jobs) + len(later) >= _MIN_JOBS:
                pool.ahead(jobs)
    count = len(jobs) + len(later)
    most = _FIRST_PLANS if count > _MAX_JOBS else ALL
    # A program with matrix products is large enough that asking about its other graphs pays off.
    if count + matmuls >= _MIN_JOBS:
        if count < _MIN_JOBS:
            pool.ahead(jobs)
        if most == ALL:
            pool.ahead(later)
        for name, query in sorted(queries.items(), key=lambda each: each[1].rank):
            if name not in known:
                planner.ask_ahead(query.graph, query.sources, pool, query.plans)
    return needed or count >= _MIN_JOBS, most


@value_type(frozen=True, slots=True)
class _Query:
    """A graph that the pool asks about.

    Attributes:
        graph: The graph.
        sources: The sources of its plans.
        plans: The number of plans to build.
        rank: Queries of a lower rank come first.
    """

    graph: Graph
    sources: Sources
    plans: int
    rank: int

    @staticmethod
    def of(ahead: GraphAhead, compiled: Sources | None) -> _Query:
        """Returns the query about a graph with these sources of compiled plans."""
        graph, sources = ahead.graph, list(ahead.level.sources)
        if ahead.level.last_resort is None:
            return _Query(graph, sources, plans=_FIRST_PLANS, rank=1)
        rank = 0 if ahead.is_likely else 2
        if compiled is not None:
            return _Query(graph, compiled, plans=1, rank=rank)
        # The heuristics for compiled engines take 20 to 60 ms even if none is built.
        return _Query(graph, sources, plans=0, rank=rank)


def _compiled_sources(level: Level, graph: Graph, speeds: Speeds) -> Sources | None:
    """Returns the sources whose compiled plans will probably be measured; None if there are none.
    With a last resort, these are for graphs without products, which no other engine runs."""
    if level.last_resort is not None:
        return None if graph.products else [(level.last_resort, 1)]
    return None if is_probably_enough(level, graph, speeds) else list(level.sources)
