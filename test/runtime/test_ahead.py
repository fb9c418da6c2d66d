"""The plans that build processes begin with before graphs are tuned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime.cuda.plans.build_pool import Job
from convoy_runtime.cuda.tuning.ahead import begin_ahead
from convoy_runtime.cuda.tuning.levels import ALL, TUNE_LEVELS
from convoy_runtime.cuda.tuning.lower_bounds import Speeds
from convoy_runtime.manifest import Graph

#: A GPU on which every graph is worth compiled plans.
SPEEDS = Speeds(memory=1e-9, cache=inf, cache_bytes=0)


def begin(count: int, plans: int) -> tuple[list[str], tuple[bool, int]]:
    """Begins with `count` graphs, each with `plans` plans to compile. Returns the submitted jobs and
    the result."""
    submitted: dict[str, None] = {}

    def jobs_ahead(graph: Graph, _: Any, sources: Iterable[tuple[str, int]]) -> list[Job]:
        ((_, limit),) = [source for source in sources if source[0] == "A"]
        return [Job("", graph.name, "", rank, {}) for rank in range(min(plans, limit))]

    def ahead(jobs: Iterable[Job]) -> None:
        submitted.update(dict.fromkeys(f"{job.name} {job.engine}" for job in jobs))

    # No two graphs are alike.
    graphs = [
        (replace(conv_graph(), name=f"graph{place}", ops=(f"op{place}",)), object())
        for place in range(count)
    ]
    found = begin_ahead(
        graphs,
        TUNE_LEVELS["quick"],
        cast("Any", SimpleNamespace(jobs_ahead=jobs_ahead)),
        cast("Any", SimpleNamespace(steps_ahead=lambda _: [])),
        SPEEDS,
        cast("Any", SimpleNamespace(ahead=ahead)),
    )
    return list(submitted), found


def test_a_program_with_few_plans_compiles_all() -> None:
    submitted, found = begin(8, 4)
    assert found == (True, ALL)
    # The first two plans of each graph precede the others.
    assert submitted == [
        f"graph{place} {rank}" for ranks in ((0, 1), (2, 3)) for place in range(8) for rank in ranks
    ]


def test_a_program_with_many_plans_compiles_the_first_of_each_graph() -> None:
    submitted, found = begin(9, 4)
    assert found == (True, 2)
    assert submitted == [f"graph{place} {rank}" for place in range(9) for rank in (0, 1)]


@pytest.mark.parametrize(("count", "plans"), [(0, 0), (5, 0), (1, 3)])
def test_a_few_plans_need_no_processes(count: int, plans: int) -> None:
    assert begin(count, plans) == ([], (False, ALL))
