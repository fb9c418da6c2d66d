"""Engines that are skipped because they were slow for other graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.tuning.candidates import Candidate
from convoy_runtime.cuda.tuning.slow_engines import SlowEngines
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport

GRAPH = conv_graph()


class FakePlan(Plan):
    """A plan that has only a report."""

    def __init__(self, report: PlanReport) -> None:
        object.__setattr__(self, "report", report)

    def enqueue(self, *_: object, **__: object) -> None:
        raise NotImplementedError

    code = property(lambda self: self)

    def text(self) -> str:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def candidate(engine: int | None, microseconds: float | None, *notes: str) -> Candidate:
    report = PlanReport("conv", "", engine, {}, notes, (), 0, "engines", 0, ())
    return Candidate(FakePlan(report), microseconds=microseconds)


def left_out(engines: SlowEngines, graph: Graph = GRAPH) -> set[int]:
    return {engine for engine in range(8) if engines.reason(graph, engine) is not None}


def test_engine_that_was_slow_for_other_graphs_is_skipped() -> None:
    engines = SlowEngines()
    # 1 and 2 are candidates for the comparison; up to 100 us of each may be host time.
    tried = [
        candidate(0, 20.0, "TENSOR_CORE"), candidate(1, 310.0), candidate(2, 2099.0), candidate(3,
        299.0, "TENSOR_CORE"),
        candidate(4, 300.0, "TENSOR_CORE"), candidate(5, None, "TENSOR_CORE"), candidate(None,
        500.0),
    ]  # fmt: skip
    engines.note(GRAPH, tried)
    assert left_out(engines) == set()
    engines.note(
        GRAPH, [*tried, candidate(6, 2100.0, "TENSOR_CORE"), candidate(7, 2099.0, "TENSOR_CORE")]
    )
    assert left_out(engines) == {2, 4, 6}
    told = "took at least {} times as long as the best plan for {}"
    assert engines.reason(GRAPH, 2) == told.format(100, "2 similar graphs")
    assert engines.reason(GRAPH, 6) == told.format(100, "a similar graph")
    # Of several plans the best one counts. One graph for which an engine is not slow is enough.
    engines.note(
        GRAPH,
        [
            candidate(0, 20.0, "TENSOR_CORE"),
            candidate(4, 900.0, "TENSOR_CORE"),
            candidate(4, 30.0, "TENSOR_CORE"),
        ],
    )
    assert left_out(engines) == {2, 6}


def sized(x: tuple[int, ...], filters: tuple[int, ...], y: tuple[int, ...]) -> Graph:
    parts = zip(
        GRAPH.tensors, ((1, 64, *x), (64, 64, *filters), (1, 64, 1, 1), (1, 64, *y)), strict=True
    )
    return replace(GRAPH, tensors=tuple(replace(tensor, shape=shape) for tensor, shape in parts))


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (sized((14, 14), (3, 3), (14, 14)), True),
        (sized((14, 14), (1, 1), (14, 14)), False),
        (sized((14, 14), (3, 3), (7, 7)), False),
        (replace(GRAPH, ops=("convolution",)), False),
        (conv_graph("float32"), False),
    ],
    ids=["size", "filters", "strides", "operations", "types"],
)
def test_graphs_of_the_same_kind(other: Graph, alike: bool) -> None:
    engines = SlowEngines()
    engines.note(GRAPH, [candidate(0, 20.0, "TENSOR_CORE"), candidate(1, 9000.0, "TENSOR_CORE")])
    assert left_out(engines) == {1}
    assert left_out(engines, other) == ({1} if alike else set())


def test_engines_are_compared_with_one_that_ran_for_most_graphs() -> None:
    engines = SlowEngines()
    engines.note(
        GRAPH,
        [
            candidate(0, 20.0, "TENSOR_CORE"),
            candidate(1, 2100.0),
            candidate(2, 9100.0),
            candidate(3, 1100.0),
        ],
    )
    for _ in range(2):
        engines.note(
            GRAPH, [candidate(0, 20.0, "TENSOR_CORE"), candidate(1, 2100.0), candidate(2, 9100.0)]
        )
    engines.note(GRAPH, [candidate(0, 20.0, "TENSOR_CORE"), candidate(3, 1100.0)])
    # 3 is faster, but ran for two graphs of four; 1 ran for three.
    assert left_out(engines) == {2, 3}


def test_nothing_ran() -> None:
    engines = SlowEngines()
    for _ in range(2):
        engines.note(GRAPH, [candidate(0, None), candidate(None, None)])
    assert left_out(engines) == set()
