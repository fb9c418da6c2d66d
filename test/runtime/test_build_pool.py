"""Plans built by other processes with the real cuDNN, for a GPU that is not present."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from threading import Barrier, Event, Thread
from time import sleep
from typing import Any

import pytest
from runtime_fixtures import conv_graph

from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn.configs import Config
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.library import Cudnn
from convoy_runtime.cuda.plans import build_worker
from convoy_runtime.cuda.plans.build_jobs import Built, Job, Offer, Query
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.tuning.levels import ALL
from convoy_runtime.errors import CudnnError

pytestmark = pytest.mark.usefixtures("cublaslt")


@pytest.fixture
def native(compile_c: Callable[..., bytes]) -> bytes:
    return compile_c("conv.c")


@pytest.fixture
def pool(cudnn: Cudnn, native: bytes) -> Iterator[BuildPool]:
    made = BuildPool(
        native,
        cudnn.path,
        properties=device_file("h200", cudnn.version).read_text(),
        processes=2,
    )
    yield made
    made.close()


def job(engine: int, knobs: dict[str, int] | None = None) -> Job:
    graph = conv_graph()
    return Job(graph.symbol, graph.name, graph.location, engine, knobs or {})


def test_plans_equal_those_of_this_process(cudnn: Cudnn, native: bytes, pool: BuildPool) -> None:
    planner = Planner(
        cudnn,
        LoadOptions(),
        handle=None,
        device=device_properties(cudnn, device_file("h200", cudnn.version)),
    )
    graph, build = conv_graph(), load_native(native).builder("conv_build")
    with planner.builder.operation_graph(graph, build) as operations:
        plans = [plan.report for plan in planner.candidates(graph, operations, [], ["A"])][:3]
    assert len(plans) == 3
    done: list[int] = []
    built = pool.build(
        [job(plan.engine, plan.knobs) for plan in plans]
        + [job(4711), job(plans[0].engine, {"NONE": 1})],
        done.append,
    )
    assert done == [1, 2, 3, 4, 5]
    for plan, one in zip(plans, built, strict=False):
        assert json.loads(one.plan) == json.loads(
            planner.builder.text_of(graph, build, plan.engine, plan.knobs)
        )
        assert one.error == ""
    assert built[3].plan == built[4].plan == ""
    assert built[3].error.startswith("CUDNN_STATUS_")


def test_only_some_plans_of_a_source_are_compiled(
    cudnn: Cudnn, native: bytes, pool: BuildPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No engine compiles a kernel for this graph.
    monkeypatch.setattr(Config, "compiles", property(lambda config: config.rank % 2 == 0))
    device = device_properties(cudnn, device_file("h200", cudnn.version))
    planner = Planner(cudnn, LoadOptions(), handle=None, device=device)
    graph, build = conv_graph(), load_native(native).builder("conv_build")

    def ranks(limit: int, most_compiled: int) -> tuple[list[int], list[str]]:
        rejected: list[str] = []
        with planner.builder.operation_graph(graph, build) as operations:
            found = [
                plan.report.rank
                for plan in planner.candidates(
                    graph,
                    operations,
                    rejected,
                    ["A"],
                    pool=pool,
                    limit=limit,
                    most_compiled=most_compiled,
                )
            ]
        return sorted(found), [reason for reason in rejected if "many plans" in reason]

    assert ranks(4, ALL) == ([0, 1, 2, 3], [])
    # Rank 2 counts for the limit.
    found, left = ranks(4, 1)
    assert found == [0, 1, 3]
    (reason,) = left
    assert reason.endswith("the program has many plans to compile")
    assert ranks(3, 0)[0] == [1]


def test_plan_built_ahead_is_built_once(pool: BuildPool, monkeypatch: pytest.MonkeyPatch) -> None:
    built, right = [], pool._one

    def one(line: str) -> dict[str, Any]:
        built.append(line)
        return right(line)

    monkeypatch.setattr(pool, "_one", one)
    pool.ahead([job(0), job(0), job(4711)])
    found = pool.build([job(4711), job(0)])
    assert [bool(each.plan) for each in found] == [False, True]
    assert sorted(built) == sorted([job(0).line(), job(4711).line()])
    # A second request builds a new plan.
    assert pool.build([job(0)]) == found[1:]
    assert len(built) == 3


def query(source: str, limit: int) -> Query:
    graph = conv_graph()
    assert graph.symbol is not None
    return Query(graph.symbol, graph.name, graph.location, source, limit)


def test_answers_begin_jobs(cudnn: Cudnn, native: bytes, pool: BuildPool) -> None:
    device = device_properties(cudnn, device_file("h200", cudnn.version))
    planner = Planner(cudnn, LoadOptions(), handle=None, device=device)
    graph, build = conv_graph(), load_native(native).builder("conv_build")
    with planner.builder.operation_graph(graph, build) as operations:
        plans = [plan.report for plan in planner.candidates(graph, operations, [], ["A"], limit=3)]
    answered, asked = Event(), []

    def jobs_of(of: Query, offers: Sequence[Offer]) -> list[Job]:
        asked.append(of)
        answered.set()
        return [of.job(each.engine, each.knobs) for each in offers[:1]]

    pool.ask([query("A", 3)], jobs_of)
    assert answered.wait(60)
    offers = pool.offers(query("A", 3))
    assert asked == [query("A", 3)]
    assert [(each.engine, each.knobs) for each in offers] == [
        (plan.engine, plan.knobs) for plan in plans
    ]
    assert [each.behavior for each in offers] == [plan.behavior_notes for plan in plans]
    (built,) = pool.build([query("A", 3).job(offers[0].engine, offers[0].knobs)])
    assert built.plan
    # It has no other answer, and does not wait for queries that have not begun.
    assert pool.offers(query("A", 3)) == []
    pool.ask([query("FALLBACK", 1)], lambda *_: [])
    pool.close()
    assert pool.offers(query("A", 1)) == []


def test_query_that_fails_offers_nothing(pool: BuildPool) -> None:
    answered = Event()

    def jobs_of(_: Query, offers: Sequence[Offer]) -> list[Job]:
        assert offers == []
        answered.set()
        return []

    unknown = Query("no_such_symbol", "graph", "model.py:1", "A", 4)
    pool.ask([unknown], jobs_of)
    assert answered.wait(60)
    assert pool.offers(unknown) == []


def test_plans_that_are_needed_now_are_built_first(
    pool: BuildPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    both, proceed = Barrier(3), Event()

    def one(line: str) -> dict[str, Any]:
        begun.append(line)
        if len(begun) <= 2:
            both.wait(10)
        assert proceed.wait(10)
        return {"plan": "{}"}

    monkeypatch.setattr(pool, "_one", one)
    pool.ahead([job(engine) for engine in range(6)])
    # The two processes are busy.
    both.wait(10)
    needed = Thread(target=pool.build, args=([job(5), job(6)],))
    needed.start()
    while pool._running < 4:
        sleep(0.001)
    proceed.set()
    needed.join(10)
    pool.build([job(engine) for engine in range(5)])
    assert set(begun[:2]) == {job(0).line(), job(1).line()}
    assert set(begun[2:4]) == {job(5).line(), job(6).line()}
    assert len(begun) == 7


def test_plan_that_cannot_be_serialized(pool: BuildPool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Process:
        def ask(self, message: bytes, *, timeout: float) -> dict[str, str]:
            return {"plan": ""}

    monkeypatch.setattr(pool, "_take", Process)
    assert pool.build([job(0)]) == [
        Built(error="its plan cannot be written as JSON", not_here=True)
    ]


def test_killed_process_loses_one_plan(pool: BuildPool) -> None:
    (first,) = pool.build([job(0)])
    assert first.plan
    os.kill(pool._all[0]._process.pid, signal.SIGKILL)
    (lost,) = pool.build([job(0)])
    assert lost == Built(error="the build process ended: SIGKILL")
    assert pool.build([job(0)]) == [first]


def test_plan_that_fails_is_built_on_the_gpu(
    cudnn: Cudnn, native: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is missing here, or hidden."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    properties = device_file("h200", cudnn.version).read_text()
    pool = BuildPool(native, cudnn.path, properties=properties, device=0, processes=1)
    try:
        plan, failed = pool.build([job(0), job(4711)])
    finally:
        pool.close()
    assert plan.plan
    assert "libcuda.so.1 cannot be loaded" in failed.error or "no GPU is visible" in failed.error


def test_engine_that_needs_the_gpu(
    cudnn: Cudnn, native: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its later plans are not built without it first."""
    asked: list[tuple[str, int]] = []

    class Builder:
        def __init__(self, name: str, fails: set[int]) -> None:
            self.name, self.fails = name, fails

        def text_of(self, _graph: object, _build: object, engine: int, _knobs: object) -> str:
            asked.append((self.name, engine))
            if engine in self.fails:
                raise CudnnError(call="finalize", status=1, name="FAILED")
            return self.name

    setup = {
        "libraries": [],
        "device": 0,
        "properties": device_file("h200", cudnn.version).read_text(),
    }
    with ExitStack() as stack:
        builders = build_worker._Builders(setup, load_native(native), stack)
        monkeypatch.setattr(builders, "_planned", Builder("planned", {7, 8}))
        monkeypatch.setattr(builders, "_built", Builder("built", {8}))
        assert [builders.build(asdict(job(engine))) for engine in (0, 7, 7, 4)] == [
            "planned",
            "built",
            "built",
            "built",
        ]
        for _ in range(2):
            with pytest.raises(CudnnError):
                builders.build(asdict(job(8)))
    twice = [("planned", 8), ("built", 8)] * 2
    assert asked == [
        ("planned", 0), ("planned", 7), ("built", 7), ("built", 7), ("built", 4), *twice
    ]  # fmt: skip


def test_process_that_cannot_start(native: bytes, cudnn: Cudnn, tmp_path: Path) -> None:
    pool = BuildPool(native, str(tmp_path / "libcudnn.so.9"), properties="none")
    (built,) = pool.build([job(0)])
    assert built.error.startswith("the build process could not start: cuDNN is missing; tried:")
    assert built.not_here
    pool.close()
    (built,) = pool.build([job(0)])
    assert built.error == "the pool is closed"
    # There is no library either.
    broken = BuildPool(b"", cudnn.path, properties="none")
    (built,) = broken.build([job(0)])
    assert built.error.startswith(
        "the build process could not start: native.so: is not a shared library: 0 bytes are too few"
    )
