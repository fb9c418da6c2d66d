"""How plans are measured: with guard bytes, over more memory than the cache holds, in turn."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from fake_gpu.fixtures import FAKE

import convoy_runtime
from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.cuda.tuning.cold_runs import capture_cold_runs
from convoy_runtime.cuda.tuning.scratch import Scratch, read_tensor
from convoy_runtime.manifest import Graph

#: Size of the fake GPU's cache in bytes.
_CACHE = 100
_GUARD = 4096


@pytest.fixture
def loaded(conv: Path, fake_cudnn: ctypes.CDLL) -> Iterator[CudaProgram]:
    with convoy_runtime.load(conv, plan_cache=False) as program:
        assert isinstance(program, CudaProgram)
        with program._device.current():
            yield program


@pytest.fixture
def scratch(loaded: CudaProgram) -> Iterator[Scratch]:
    """Buffers for the graph of conv.c, with a workspace of 512 bytes."""
    (graph,) = loaded.manifest.graphs
    buffers = Scratch(loaded._device, loaded._loaded.stream, graph, 512)
    loaded._driver.call("cuStreamSynchronize", loaded._loaded.stream)
    yield buffers
    buffers.close()


def test_weights_of_recurrent_layers_are_small(loaded: CudaProgram) -> None:
    """Those of other graphs have a variance of 1, as all other operands."""
    (graph,) = loaded.manifest.graphs
    matrix = replace(graph.tensors[0], shape=(64, 256), strides=(256, 1))
    driver, stream = loaded._driver, loaded._loaded.stream
    for ops, expected in ((graph.ops, 1.0), (("gru",), 1 / 16)):
        buffers = Scratch(loaded._device, stream, replace(graph, ops=ops, tensors=(matrix,) * 2), 0)
        deviations = [
            float(read_tensor(driver, stream, pointer, matrix.bytes, matrix.dtype).std())
            for pointer in buffers.sets[0]
        ]
        buffers.close()
        assert deviations == pytest.approx([1.0, expected], rel=0.05)


def test_plan_that_writes_beyond_its_workspace(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    """Engine 41 declares 256 bytes and writes 512, in memory that other plans are given."""
    fake_cudnn.fake_offer(6)
    fake_cudnn.fake_exact(42)
    fake_cudnn.fake_workspace(ctypes.c_int64(256))
    try:
        with convoy_runtime.load(conv, plan_cache=False, tune="quick") as program:
            (report,) = program.plans  # type: ignore[attr-defined]
    finally:
        fake_cudnn.fake_workspace(ctypes.c_int64(512))
        fake_cudnn.fake_exact(0)
    assert report.engine == 42
    assert {trial.engine: trial.reason for trial in report.trials}[
        41
    ] == "writes after the workspace"


def test_every_guard_detects_a_write(loaded: CudaProgram, scratch: Scratch) -> None:
    """Writes the nearest and the farthest byte before and after each tensor, inputs included, and
    the workspace, of which a plan gets a part."""
    sizes = [tensor.bytes for tensor in loaded.manifest.graphs[0].tensors]
    names = [
        *(f"tensor {tensor.uid}" for tensor in loaded.manifest.graphs[0].tensors),
        "the workspace",
    ]
    assert scratch.trespass(512) is None
    for name, pointer, size in zip(
        names, [*scratch.sets[0], scratch.workspace], [*sizes, 512], strict=True
    ):
        for address, place in (
            (-1, f"before {name}"),
            (size, f"after {name}"),
            (-_GUARD, ""),
            (size + _GUARD - 1, ""),
        ):
            ctypes.memset(pointer + address, 0, 1)
            # The farthest byte may also belong to an adjacent tensor's guard.
            assert (found := scratch.trespass(512)) is not None
            assert found.removeprefix("writes ") == place or not place
            # A violation by one plan is not attributed to the next one.
            loaded._driver.call("cuStreamSynchronize", loaded._loaded.stream)
            assert scratch.trespass(512) is None
    # Writes to the workspace by one plan are not attributed to the next one, whose workspace is
    # smaller.
    ctypes.memset(scratch.workspace, 0, 512)
    scratch.guard_workspace(100)
    loaded._driver.call("cuStreamSynchronize", loaded._loaded.stream)
    assert scratch.trespass(100) is None
    ctypes.memset(scratch.workspace + 100, 0, 1)
    assert scratch.trespass(100) == "writes after the workspace"


def test_runs_use_more_memory_than_the_cache_holds(loaded: CudaProgram, scratch: Scratch) -> None:
    """Runs use several sets of tensors in turn, so that the data of a run has left the cache since
    its last use."""
    runs: list[tuple[int, ...]] = []
    (real,) = loaded._loaded.plans.values()

    class Recording:
        """The plan, with a record of each run."""

        report = replace(real.report, workspace_bytes=0)

        def enqueue(
            self,
            queue: Queue,
            graph: Graph,
            pointers: Sequence[int],
            workspace: int,
            **options: Any,
        ) -> None:
            runs.append(tuple(pointers))
            real.enqueue(queue, graph, pointers, scratch.workspace, **options)

    plan: Plan = Recording()  # type: ignore[assignment]
    (graph,) = loaded.manifest.graphs
    captured, count = capture_cold_runs(loaded._device, loaded._loaded._queue, graph, plan, scratch)
    captured.close()
    sets = [tuple(pointers) for pointers in scratch.sets]
    assert runs == sets
    assert count == len(sets)
    sizes = [tensor.bytes for tensor in graph.tensors]
    assert sum(sizes) * len(sets) >= 2 * _CACHE
    # No tensor is adjacent to another one or to its guards.
    places = sorted(
        (pointer, pointer + size)
        for pointers in sets
        for pointer, size in zip(pointers, sizes, strict=True)
    )
    assert all(end + _GUARD <= begin for (_, end), (begin, _) in pairwise(places))
    # All sets hold the same inputs, and no two tensors of a set are equal.
    contents = [
        [ctypes.string_at(pointer, size) for pointer, size in zip(each[:3], sizes, strict=False)]
        for each in sets
    ]
    assert all(each == contents[0] for each in contents)
    assert len(set(contents[0])) == 3


def test_rounds_alternate_between_candidates(loaded: CudaProgram) -> None:
    """A change of the clock rate affects all candidates equally."""
    launched: list[str] = []

    class Launched:
        def __init__(self, name: str) -> None:
            self.name = name

        def launch(self, stream: int) -> None:
            launched.append(self.name)

    captured: list[Captured] = [Launched(name) for name in "abc"]  # type: ignore[misc]
    watch = Stopwatch(loaded._driver, loaded._loaded.stream)
    times = watch.rounds(captured, rounds=3, microseconds=0.2, known=[0.1] * 3)
    watch.close()
    assert [len(figures) for figures in times] == [3, 3, 3]
    assert [(name, len(list(group))) for name, group in groupby(launched)] == [
        ("a", 2),
        ("b", 2),
        ("c", 2),
    ] * 3


def test_measuring_leaks_nothing(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    before = FAKE.fake_allocated(), FAKE.fake_graphs()
    for tune in ("quick", "full"):
        convoy_runtime.load(conv, plan_cache=False, tune=tune).close()  # type: ignore[arg-type]
    assert (FAKE.fake_allocated(), FAKE.fake_graphs(), fake_cudnn.fake_alive()) == (*before, 0)
