"""The batches of benchmarks.mlperf on the fake driver of libcuda.c, which runs work as late as
possible: a missing wait gives results of another batch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_gpu.cases_dynamic import ORIGIN, W, manifest_of

import convoy_runtime
from benchmarks.mlperf.device import DeviceEngine
from benchmarks.mlperf.engine import SLOTS
from convoy.artifact import HostTensor
from convoy.dynamic.artifact import PointProgram, write_dynamic_artifact
from convoy_runtime import DeviceError
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol


@pytest.fixture
def program(tmp_path: Path, compile_c: Callable[..., bytes]) -> Iterator[convoy_runtime.Program]:
    """Points for 2 and 4 rows, whose results are the rows."""
    points = [
        PointProgram(
            {"rows": rows},
            manifest_of((rows, 3)),
            {"native.so": compile_c("fake_gpu/rows.c", f"-DROWS={rows}")},
        )
        for rows in (2, 4)
    ]
    write_dynamic_artifact(
        tmp_path / "model",
        [Symbol("rows", 1, 4, 1)],
        [DynamicTensor("x", ("rows", "3"), "float32")],
        [DynamicTensor("y", ("rows", "3"), "float32"), DynamicTensor("z", ("3",), "float32")],
        points,
        {ORIGIN: HostTensor("float32", W * 2)},
    )
    with convoy_runtime.load(tmp_path / "model") as loaded:
        yield loaded


def results(engine: DeviceEngine, count: int) -> np.ndarray:
    """The first rows of the last batch that has run."""
    pointer = engine._graphs[engine.size_for(count)].static_outputs[0].pointer
    found = (ctypes.c_float * (3 * count)).from_address(pointer)
    return np.ctypeslib.as_array(found).reshape(count, 3).copy()


def test_batches(program: convoy_runtime.Program) -> None:
    engine = DeviceEngine(program, gather="copies")
    assert (engine.sizes, engine.most) == ([2, 4], 4)
    engine.load([7, 3, 5, 1])
    rows = {index: engine._row(index).view(np.float32) for index in (7, 3, 5, 1)}
    batches = [[3], [5, 1, 7], [1, 3], [7, 7, 5, 3]]
    for number, batch in enumerate(batches):
        engine.start(number % SLOTS, batch)
        if number < SLOTS - 1:
            continue
        # The oldest batch is finished, and no later one has run.
        oldest = number - SLOTS + 1
        engine.finish(oldest % SLOTS)
        expected = np.stack([rows[index] for index in batches[oldest]])
        np.testing.assert_array_equal(results(engine, len(expected)), expected)
    engine.close()


def test_kernel_needs_torch_with_cuda(program: convoy_runtime.Program) -> None:
    with pytest.raises(DeviceError, match="which gathers samples, cannot use a GPU"):
        DeviceEngine(program)


@pytest.mark.parametrize("scenario", ["SingleStream", "Offline", "Server"])
def test_loadgen(scenario: str, program: convoy_runtime.Program) -> None:
    pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen is not installed")
    from benchmarks.mlperf.server import Server
    from benchmarks.mlperf.sut import Offline, SingleStream
    from benchmarks.mlperf.trial import Settings, run_test

    engine = DeviceEngine(program, gather="copies")
    system = (
        Server(engine, dict.fromkeys(engine.sizes, 1e-4), 1e-3)
        if scenario == "Server"
        else {"Offline": Offline, "SingleStream": SingleStream}[scenario](engine)
    )
    settings = Settings(scenario, 1000.0, 0.1, queries=10, samples=8)
    outcome = run_test(settings, engine, system)
    engine.close()
    assert outcome.queries >= 1
    assert outcome.rate > 0
