"""The plans that build processes begin with before graphs are tuned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime.cuda.plans.build_jobs import Job
from convoy_runtime.cuda.tuning.ahead import begin_ahead
from convoy_runtime.cuda.tuning.alternative_tuner import GraphAhead
from convoy_runtime.cuda.tuning.levels import ALL, TUNE_LEVELS
from convoy_runtime.cuda.tuning.lower_bounds import Speeds
from convoy_runtime.manifest import Graph, GraphKernel, Products

KERNEL = GraphKernel("matmul_fast", "fast", grid=1, block=32, shared_bytes=0, chip="sm_80")
#: A GPU on which every graph is worth compiled plans.
SPEEDS = Speeds(memory=1e-9, cache=inf, cache_bytes=0)


class Programs:
    """Begins programs, whose graphs have a kind and a number of plans to compile. Graphs of a kind
    `short` transfer nothing, and those of a kind `matmul` have a kernel."""

    def __init__(self, *graphs: tuple[str, int], steps: Sequence[GraphAhead] = ()) -> None:
        self.submitted: dict[str, None] = {}
        self.asked: list[str] = []
        self.asked_in_pool: dict[str, tuple[object, int]] = {}
        self._plans = {f"graph{place}": plans for place, (_, plans) in enumerate(graphs)}
        self.result = begin_ahead(
            [
                (self._graph(f"graph{place}", kind), object())
                for place, (kind, _) in enumerate(graphs)
            ],
            TUNE_LEVELS["quick"],
            cast("Any", SimpleNamespace(jobs_ahead=self._jobs, ask_ahead=self._ask_ahead)),
            cast("Any", SimpleNamespace(steps_ahead=lambda _: list(steps))),
            SPEEDS,
            cast("Any", SimpleNamespace(ahead=self._ahead)),
        )

    @staticmethod
    def _graph(name: str, kind: str) -> Graph:
        graph = replace(conv_graph(), name=name, ops=(kind,))
        if kind == "matmul":
            return replace(graph, kernels=(KERNEL,))
        return replace(graph, tensors=(), preference="kernel") if kind == "short" else graph

    def _jobs(self, graph: Graph, _: Any, sources: Iterable[tuple[str, int]]) -> list[Job]:
        self.asked.append(graph.name)
        ((_, limit),) = [source for source in sources if source[0] == "A"]
        count = min(self._plans.get(graph.name, 1), limit)
        return [Job("", graph.name, "", rank, {}) for rank in range(count)]

    def _ask_ahead(self, graph: Graph, sources: object, pool: object, most: int) -> None:
        self.asked_in_pool[graph.name] = sources, most

    def _ahead(self, jobs: Iterable[Job]) -> None:
        self.submitted.update(dict.fromkeys(f"{job.name} {job.engine}" for job in jobs))


def test_a_program_with_few_plans_compiles_all() -> None:
    program = Programs(*[(f"kind{place}", 4) for place in range(8)])
    assert program.result == (True, ALL)
    # The first two plans of each graph precede the others.
    assert list(program.submitted) == [
        f"graph{place} {rank}" for ranks in ((0, 1), (2, 3)) for place in range(8) for rank in ranks
    ]


def test_a_program_with_many_plans_compiles_the_first_of_each_graph() -> None:
    program = Programs(*[(f"kind{place}", 4) for place in range(9)])
    assert program.result == (True, 2)
    assert list(program.submitted) == [
        f"graph{place} {rank}" for place in range(9) for rank in (0, 1)
    ]


@pytest.mark.parametrize("plans", [[], [0, 0, 0, 0, 0], [3]])
def test_a_few_plans_need_no_processes(plans: list[int]) -> None:
    program = Programs(*[(f"kind{place}", each) for place, each in enumerate(plans)])
    assert program.result == (False, ALL)
    assert not program.submitted


def test_graphs_of_a_kind_without_plans_are_not_asked() -> None:
    program = Programs(("none", 0), ("some", 2), ("none", 2), ("some", 0), ("some", 2))
    assert program.asked == ["graph0", "graph1", "graph3", "graph4"]
    assert list(program.submitted) == ["graph1 0", "graph1 1", "graph4 0", "graph4 1"]


def test_graphs_that_probably_need_no_plans_come_last() -> None:
    program = Programs(("short", 4), ("some", 4), ("short", 4))
    assert program.result == (True, ALL)
    assert program.asked == ["graph1"]
    query = list(TUNE_LEVELS["quick"].sources), 2
    assert program.asked_in_pool == {"graph0": query, "graph2": query}
    # Processes are not started for these graphs alone.
    program = Programs(("short", 4), ("some", 3))
    assert program.result == (True, ALL)
    assert not program.asked_in_pool
    assert not program.submitted


def test_matrix_products_of_kernels_are_not_asked() -> None:
    """They count as reasons to ask about others: such a program is large enough."""
    products = [("matmul", 4)] * 3
    program = Programs(*products, ("some", 1), ("short", 4))
    assert program.result == (True, ALL)
    assert program.asked == ["graph3"]
    assert list(program.submitted) == ["graph3 0"]
    assert list(program.asked_in_pool) == ["graph4"]
    assert not Programs(*products, ("short", 4)).asked_in_pool


def test_steps_that_are_probably_not_tuned_come_last() -> None:
    narrow = TUNE_LEVELS["quick"].of_narrow_steps
    assert narrow is not None

    def step(name: str, products: Products | None, *, is_likely: bool) -> GraphAhead:
        graph = replace(conv_graph(), name=name, ops=(name,), products=products)
        return GraphAhead(graph, object(), narrow, is_likely)

    products = Products(8, "float16")
    program = Programs(
        ("short", 4),
        ("some", 4),
        steps=[
            step("rest", None, is_likely=True),
            step("other", None, is_likely=False),
            step("convolution", products, is_likely=True),
        ],
    )
    # A step without products compiles one plan, others none: their engines must compile nothing.
    assert program.asked == ["rest", "graph1"]
    assert list(program.asked_in_pool.items()) == [
        ("convolution", (list(narrow.sources), 0)),
        ("graph0", (list(TUNE_LEVELS["quick"].sources), 2)),
        ("other", ([("A", 1)], 1)),
    ]
