"""Runs, rounds, engines and alternatives that tuning skips because they are slow. One copy by an
engine of libcudnn.c takes a microsecond."""

from __future__ import annotations

import ctypes
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_gpu.cases_alternatives import SPLIT, Write, contents
from fake_gpu.fixtures import FAKE, zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.plans import build_process, planner
from convoy_runtime.cuda.plans.build_jobs import Job
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.cuda.tuning import candidate_plans, history, race, slowdowns, tuner
from convoy_runtime.cuda.tuning.candidates import Candidate
from convoy_runtime.cuda.tuning.levels import ALL, TUNE_LEVELS
from convoy_runtime.manifest import Graph, GraphAlternative, GraphAlternatives, Products
from convoy_runtime.plan_report import PlanReport

_CLOCK_RATE = 13


@pytest.fixture
def cudnn(fake_cudnn: ctypes.CDLL) -> Iterator[ctypes.CDLL]:
    fake_cudnn.fake_offer(2)
    yield fake_cudnn
    fake_cudnn.fake_offer(2)
    fake_cudnn.fake_exact(0)
    fake_cudnn.fake_whole(0)
    FAKE.fake_attribute(_CLOCK_RATE, 1000000)


@pytest.fixture
def write(tmp_path: Path, compile_c: Callable[..., bytes]) -> Write:
    """Writes an artifact of alternatives.c with two graphs that differ only in one operation, and
    alternatives of both."""

    def one(
        *alternatives: GraphAlternative,
        change: Callable[[GraphAlternatives], GraphAlternatives] = lambda offered: offered,
        **fields: Any,
    ) -> Path:
        manifest, offered = contents(*alternatives, calls=2, **fields)
        offered = change(offered)
        native = compile_c("fake_gpu/alternatives.c", "-DTHEN=1")
        members = {"native.so": native, "alternatives.json": offered.to_json().encode()}
        write_artifact(tmp_path / "model", manifest, members, zeros(manifest))
        return tmp_path / "model"

    return one


def tuned(path: Path, tune: str = "quick", **options: Any) -> tuple[PlanReport, ...]:
    with convoy_runtime.load(
        path, plan_cache=False, tune=tune, options=PlanOptions(**options)
    ) as program:  # type: ignore[arg-type]
        return program.plans  # type: ignore[attr-defined, no-any-return]


def executed(cudnn: ctypes.CDLL, path: Path, **options: Any) -> int:
    before = cudnn.fake_executed()
    tuned(path, **options)
    return int(cudnn.fake_executed() - before)


def test_reference_plan_adds_no_extra_run(conv: Path, cudnn: ctypes.CDLL) -> None:
    """The reference is one of the candidates; only if the options allow no exact one, there is one
    more run."""
    median = executed(cudnn, conv, engines=(41, 42))
    alone = executed(cudnn, conv, engines=(41,))
    cudnn.fake_exact(42)
    assert executed(cudnn, conv, engines=(41, 42)) == median
    assert executed(cudnn, conv, engines=(41,)) == alone + 2


def test_hopeless_candidate_is_not_captured(
    conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine 42 makes six copies, 41 two, and both clear their workspaces."""
    every = executed(cudnn, conv, engines=(41, 42))
    monkeypatch.setattr(race, "HOST_MICROSECONDS", 0.0)
    # Launches take no time on the host.
    monkeypatch.setattr(race, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    # No captured runs: one to find what it clears, eight that are timed.
    assert executed(cudnn, conv, engines=(41, 42)) == every - 1 - 8
    # Without a second run if it is too slow.
    monkeypatch.setattr(race, "_MAX_REPEATED_MICROSECONDS", 6.0)
    assert executed(cudnn, conv, engines=(41, 42)) == every - 1 - 1 - 8
    (report,) = tuned(conv, engines=(41, 42))
    assert [(trial.engine, trial.microseconds) for trial in report.trials] == [
        (41, pytest.approx(2.125)),
        (42, pytest.approx(7)),
    ]


def test_delayed_run_is_repeated(
    conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = race.Race._run

    def measured(delayed: float) -> list[int | None]:
        def run_delayed(self: race.Race, candidate: Candidate) -> None:
            run(self, candidate)
            if candidate.plan.report.engine == 41:
                candidate.microseconds = delayed

        monkeypatch.setattr(race.Race, "_run", run_delayed)
        (report,) = tuned(conv, engines=(41, 42))
        return [trial.engine for trial in report.trials]

    assert measured(9e3) == [41, 42]
    assert measured(2e4) == [42, 41]


def test_slow_candidate_is_dropped_early(
    conv: Path, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[tuple[int, int, bool]] = []
    right = Stopwatch.rounds

    def rounds(self: Stopwatch, captured: Sequence[Captured], **options: Any) -> list[list[float]]:
        timed.append((len(captured), options["rounds"], any(options.get("known", ()))))
        return right(self, captured, **options)

    monkeypatch.setattr(Stopwatch, "rounds", rounds)
    (report,) = tuned(conv, "full")
    # 41, 42, 46 and 47; then those with one copy; then, in the whole program, these two, of which
    # neither is faster.
    assert timed == [(4, 3, True), (2, 7, True), *[(2, 1, True)] * 3]
    assert [trial.engine for trial in report.trials if trial.reason is None] == [46, 47, 41, 42]


def test_step_has_no_reference_of_its_own(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results are compared again in its alternative, if the whole graph has a reference."""
    referred: list[str] = []
    right = tuner.exact_plan

    def exact_plan(builder: Any, graph: Graph, *others: Any) -> Any:
        referred.append(graph.name)
        return right(builder, graph, *others)

    monkeypatch.setattr(tuner, "exact_plan", exact_plan)
    cudnn.fake_whole(8)

    def graphs(path: Path, tune: str = "quick") -> set[str]:
        referred.clear()
        assert tuned(path, tune, engines=(41,))[0].alternative == SPLIT.name
        return set(referred)

    assert graphs(write(SPLIT)) == {"conv", "other"}
    assert graphs(write(SPLIT), "full") == {"conv", "other", "product", "rest"}
    refused = write(SPLIT, symbol="refused_build")
    assert {"product", "rest"} <= graphs(refused)


def test_engines_that_were_slow_for_other_graphs_are_skipped(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slowdowns, "HOST_MICROSECONDS", 0.0)
    monkeypatch.setattr(history, "_MIN_SLOWDOWNS", ((2.0, 1),))
    monkeypatch.setattr(candidate_plans, "_MIN_CANDIDATES", 3)
    path, engines = write(), (41, 42, 44, 45, 46)
    reason = "engine 42: took at least 2.88 times as long as the best plan for a similar graph"

    def left_out(**options: Any) -> list[bool]:
        reports = tuned(path, engines=engines, **options)
        assert all(report.engine in (41, 46) for report in reports)
        assert [42 in {trial.engine for trial in report.trials} for report in reports] == [
            reason not in each.rejected for each in reports
        ]
        return [reason in report.rejected for report in reports]

    assert left_out() == [False, True]
    # A full tuning tries everything. The reference and the proposals of the heuristics are never
    # skipped.
    assert left_out(tune="full") == [False, False]
    cudnn.fake_exact(42)
    assert left_out() == [False, False]
    cudnn.fake_exact(0)
    cudnn.fake_offer(6)
    assert left_out() == [False, False]
    cudnn.fake_offer(2)
    # Engines are not skipped if few plans would remain.
    monkeypatch.setattr(candidate_plans, "_MIN_CANDIDATES", 4)
    assert left_out() == [False, False]


def test_slow_exact_engine_is_run_once(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slowdowns, "HOST_MICROSECONDS", 0.0)
    monkeypatch.setattr(history, "_MIN_EXACT_SLOWDOWN", 2.0)
    monkeypatch.setattr(history, "_MAX_EXACT_MICROSECONDS", 1.0)
    monkeypatch.setattr(candidate_plans, "_MIN_CANDIDATES", 1)
    cudnn.fake_exact(42)
    exact, vote = "engine 42, which accumulates in float32", "the median of 1 plans"
    path = write(products=Products(8, "float16"))

    def references(path: Path, *engines: int, **options: Any) -> list[str]:
        reports = tuned(path, engines=engines, **options)
        told = [any("engine 42: would take" in line for line in each.rejected) for each in reports]
        found = [report.reference for report in reports]
        assert told == [reference == vote for reference in found]
        return found

    # As a candidate, and as the reference only.
    assert references(path, 41, 42) == [exact, vote]
    assert references(path, 41) == [exact, vote]
    # A full tuning tries everything.
    assert references(path, 41, 42, tune="full") == [exact, exact]
    # Without the number of FLOPs nothing is expected.
    assert references(write(products=None), 41, 42) == [exact, exact]
    # Too few plans would remain for a vote.
    monkeypatch.setattr(candidate_plans, "_MIN_CANDIDATES", 2)
    assert references(write(products=Products(8, "float16")), 41, 42) == [exact, exact]


def test_alternative_that_moves_too_many_bytes_is_skipped(write: Write, cudnn: ctypes.CDLL) -> None:
    """If moving a byte takes the GPU 1/64 us, two steps of 32 bytes each cannot be faster; nothing
    is built for them."""
    cudnn.fake_whole(8)
    messages: list[str] = []
    path = write(SPLIT)
    assert [report.alternative for report in tuned(path)] == [SPLIT.name] * 2
    FAKE.fake_attribute(_CLOCK_RATE, 1000)
    reason = (
        "it moves at least 96 bytes, 1.00 us at the GPU's peak bandwidth, the whole graph takes "
    )
    assert not any(reason in line for report in tuned(path) for line in report.rejected)
    FAKE.fake_attribute(_CLOCK_RATE, 50)
    for tune in ("quick", "full"):
        reports = tuned(path, tune)
        message = (
            "alternative product | rest: it moves at least 96 bytes, 20.00 us at the GPU's "
            "peak bandwidth, the whole graph takes {:.2f} us"
        )
        assert [report.rejected[-1] for report in reports] == [
            message.format(report.trials[0].microseconds) for report in reports
        ]
        assert all(trial.alternative is None for report in reports for trial in report.trials)
    convoy_runtime.load(
        path, plan_cache=False, tune="quick", progress=lambda what, *_: messages.append(what)
    ).close()
    assert not any("product" in what or "rest" in what for what in messages)


def test_alternative_with_slow_steps_is_skipped(write: Write, cudnn: ctypes.CDLL) -> None:
    """Each step is a little faster than the whole. When they run in sequence, a third of the data
    of each may be in the cache, which saves hardly anything."""
    reports = tuned(write(SPLIT))
    reason = (
        "alternative product | rest: with step rest, 2.10 us alone, it takes at least "
        "4.20 us, the whole graph 2.1"
    )
    assert [report.rejected[-1].startswith(reason) for report in reports] == [True] * 2
    # But a full tuning tries them.
    full = tuned(write(SPLIT, replace(SPLIT, name="other")), "full")
    assert [sum(trial.alternative is not None for trial in report.trials) for report in full] == [
        2,
        2,
    ]


def test_products_are_planned_first(write: Write, cudnn: ctypes.CDLL) -> None:
    """So that nothing is compiled for an alternative whose product is too slow."""
    cudnn.fake_whole(8)

    def order(step: int) -> list[str]:
        messages: list[str] = []

        def change(alternatives: GraphAlternatives) -> GraphAlternatives:
            graphs = [
                replace(each, products=Products(8, "float16") if place == step else None)
                for place, each in enumerate(alternatives.graphs)
            ]
            return replace(alternatives, graphs=tuple(graphs))

        path = write(SPLIT, change=change)
        convoy_runtime.load(
            path, plan_cache=False, tune="quick", progress=lambda what, *_: messages.append(what)
        ).close()
        return [
            what.split()[-1]
            for what in messages
            if re.fullmatch("timing .* of (product|rest)", what)
        ]

    assert order(0) == ["product", "rest"]
    assert order(1) == ["rest", "product"]


def test_step_compiles_a_kernel_only_as_the_last_resort(write: Write, cudnn: ctypes.CDLL) -> None:
    """A kernel compiled for a step cannot save as much as one for the whole graph."""
    cudnn.fake_offer(8)
    cudnn.fake_whole(8)

    def of_steps(*engines: int) -> set[tuple[str, int | None]]:
        (report, _) = tuned(write(SPLIT), engines=engines)
        assert report.alternative == SPLIT.name
        assert set(engines) == {each.engine for each in report.trials if each.alternative is None}
        return {(step.graph, step.engine) for step in report.steps}

    # Engine 46 copies once and 41 twice.
    assert of_steps(41, 42, 46, 47) == {("product", 41), ("rest", 41)}
    assert of_steps(46, 47) == {("product", 46), ("rest", 46)}


def test_engines_that_compile_are_built_ahead(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the whole, the compiled engines among cuDNN's first eight, if it measures these; for a
    step, the first. Equal graphs have the same demands."""
    cudnn.fake_offer(8)
    more = replace(TUNE_LEVELS["quick"], sources=(("A", 8), ("precompiled", ALL)))
    monkeypatch.setitem(TUNE_LEVELS, "quick", more)
    begun: list[tuple[str, int]] = []
    right = BuildPool.ahead

    def ahead(self: BuildPool, jobs: Iterable[Job]) -> None:
        jobs = list(jobs)
        begun.extend((job.name, job.engine) for job in jobs)
        right(self, jobs)

    monkeypatch.setattr(BuildPool, "ahead", ahead)
    engines = {46, 47}

    def tried() -> list[set[int | None]]:
        reports = tuned(write(SPLIT))
        assert all(
            engines <= {trial.engine for trial in report.trials if trial.reason is None}
            for report in reports
        )
        return [{report.engine} for report in reports]

    wanted = [("conv", 46), ("conv", 47), ("other", 46), ("other", 47)]
    assert tried() == [{46}, {46}]
    assert begun == wanted
    # If there is less to build than it takes to start a process, it is built here.
    begun.clear()
    monkeypatch.setattr("convoy_runtime.cuda.tuning.ahead._MIN_JOBS", 5)
    tried()
    assert begun == []
    # Also if no process can be started.
    monkeypatch.setattr("convoy_runtime.cuda.tuning.ahead._MIN_JOBS", 4)

    def take(_: BuildPool) -> None:
        raise build_process.ProcessEnded("the GPU's memory is full")

    monkeypatch.setattr(BuildPool, "_take", take)
    tried()
    assert begun == wanted


def test_other_graphs_are_tuned_while_plans_are_compiled(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    cudnn.fake_offer(8)
    more = replace(TUNE_LEVELS["quick"], sources=(("A", 8), ("precompiled", ALL)))
    monkeypatch.setitem(TUNE_LEVELS, "quick", more)
    # Two processes for the plans of each graph.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    build, run = BuildPool._one, race.Race.run
    is_other_run = threading.Event()
    waited: list[bool] = []

    def one(self: BuildPool, line: str) -> dict[str, Any]:
        if json.loads(line)["name"] == "conv":
            waited.append(is_other_run.wait(60))
        return build(self, line)

    def run_other(self: race.Race, candidates: Sequence[Candidate]) -> None:
        if self._graph.name == "other":
            is_other_run.set()
        run(self, candidates)

    monkeypatch.setattr(BuildPool, "_one", one)
    monkeypatch.setattr(race.Race, "run", run_other)
    reports = tuned(write(SPLIT))
    assert [(report.graph, report.engine) for report in reports] == [("conv", 46), ("other", 46)]
    assert waited == [True, True]


def test_heuristics_queried_ahead_are_reused(
    write: Write, cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    cudnn.fake_offer(8)
    queried: list[str] = []
    right = planner.heuristic_configs

    def ask(*arguments: Any) -> Any:
        queried.append(arguments[2])
        return right(*arguments)

    monkeypatch.setattr(planner, "heuristic_configs", ask)
    with convoy_runtime.load(write(), plan_cache=False) as program:
        assert isinstance(program, CudaProgram)
        (graph, _), known, native = (
            program.manifest.graphs,
            program._loaded._planner,
            program._loaded._native,
        )
        assert known is not None
        build = native.builder(graph.symbol)

        def found(limit: int) -> list[tuple[int | None, int]]:
            with (
                program._device.current(),
                known.builder.operation_graph(graph, build) as operations,
            ):
                plans = list(known.candidates(graph, operations, [], ["A"], limit=limit))
            for plan in plans:
                plan.close()
            return [(plan.report.engine, plan.report.rank) for plan in plans]

        with program._device.current():
            jobs = known.jobs_ahead(graph, build, (("A", 7), ("precompiled", 1000)))
        assert [job.engine for job in jobs] == [46]
        queried.clear()
        # 40, which is offered first, cannot be built.
        six = found(6)
        assert (six, queried) == ([(41 + place, 1 + place) for place in range(6)], [])
        assert (found(6), queried) == (six, ["A"])
        # More than was queried ahead.
        with program._device.current():
            known.jobs_ahead(graph, build, (("A", 7),))
        queried.clear()
        assert (found(7)[6], queried) == ((47, 7), ["A"])
