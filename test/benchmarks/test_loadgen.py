"""MLPerf's LoadGen with programs on the host as the system under test."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import convoy
import convoy_runtime
from benchmarks.mlperf import __main__ as benchmark
from benchmarks.mlperf import build
from benchmarks.mlperf.detector import Detector
from benchmarks.mlperf.find_rate import highest_valid
from benchmarks.mlperf.host import HostEngine
from benchmarks.mlperf.runner import Row
from benchmarks.mlperf.server import Server
from benchmarks.mlperf.sut import Offline, SingleStream, SystemUnderTest
from benchmarks.mlperf.trial import Outcome, Settings, read_outcome, run_test
from benchmarks.mlperf.weights import random_weights
from convoy_runtime import ArgumentError, ExecutionError


def network() -> nn.Module:
    torch.manual_seed(0)
    body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
    return nn.Sequential(body, nn.Linear(64, 5)).eval()


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points for batches of 1, 4 and 8 channels-last images, without weights."""
    path = tmp_path_factory.mktemp("loadgen") / "tiny.convoy"
    images = torch.rand(2, 3, 6, 6).to(memory_format=torch.channels_last)
    shapes = ({0: Dim("batch", min=1, max=8)},)
    convoy.compile(
        network(), (images,), target="cpu", dynamic_shapes=shapes, points={"batch": [1, 4, 8]}
    ).save(path, weights=False)
    return path


class Recorder(HostEngine):
    """Keeps the samples of each batch and the first rows of its results; fails at batch `fails`."""

    fails = -1

    def __init__(self, program: convoy_runtime.Program) -> None:
        super().__init__(program)
        self.batches: list[list[int]] = []
        self.results: list[np.ndarray] = []
        for size, each in self.programs.items():
            self.programs[size] = self._recording(each)

    def _recording(self, program: convoy_runtime.Program) -> convoy_runtime.Program:
        run = program.run_numpy

        def record(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            found = run(*arrays)
            self.results.append(found[0])
            return found

        program.run_numpy = record  # type: ignore[method-assign]
        return program

    def start(self, slot: int, indices: Sequence[int]) -> None:
        if len(self.batches) == self.fails:
            raise ExecutionError(entry="convoy_main", status=7)
        self.batches.append(list(indices))
        super().start(slot, indices)


@pytest.fixture
def engine(artifact: Path) -> Iterator[Recorder]:
    with convoy_runtime.load(artifact) as program:
        assert not program.has_weights
        program.load_weights(network().state_dict())
        assert program.has_weights
        yield Recorder(program)


def system_of(scenario: str, engine: HostEngine) -> SystemUnderTest:
    if scenario == "Server":
        return Server(engine, dict.fromkeys(engine.sizes, 1e-4), deadline=1e-3)
    return {"Offline": Offline, "SingleStream": SingleStream}[scenario](engine)


@pytest.mark.parametrize(
    ("scenario", "expected"), [("SingleStream", 1e5), ("Offline", 1e3), ("Server", 2000.0)]
)
def test_scenarios(scenario: str, expected: float, engine: Recorder) -> None:
    # LoadGen needs hundreds of queries to estimate a 99th percentile.
    queries = 700 if scenario == "Server" else 20
    settings = Settings(scenario, expected, 0.2, queries, samples=16, latency=10.0)
    outcome = run_test(settings, engine, system_of(scenario, engine))
    assert outcome.scenario == scenario
    samples = sum(map(len, engine.batches))
    assert samples == (outcome.queries if scenario != "Offline" else 220)
    assert 0 < outcome.p50 <= outcome.p90 <= outcome.p99
    assert outcome.rate > 0
    sizes = {len(each) for each in engine.batches}
    if scenario == "SingleStream":
        assert sizes == {1}
    elif scenario == "Offline":
        assert [len(each) for each in engine.batches] == [8] * 27 + [4]
    else:
        assert outcome.valid, outcome.reason
        assert outcome.target == pytest.approx(2000, rel=0.5)
        assert max(sizes) <= 8
    # Each batch ran on its samples, in its point's program.
    engine.load(range(16))
    module = network()
    for batch, result in zip(engine.batches[:5], engine.results, strict=False):
        assert len(result) == engine.size_for(len(batch))
        images = np.stack([engine._samples[index] for index in batch]).transpose(0, 3, 1, 2)
        with torch.no_grad():
            reference = module(torch.from_numpy(images.copy())).numpy()
        np.testing.assert_allclose(result[: len(batch)], reference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scenario", ["SingleStream", "Offline", "Server"])
def test_an_error_ends_the_test(scenario: str, engine: Recorder) -> None:
    engine.fails = 2
    settings = Settings(scenario, 300.0, 0.2, queries=20, samples=16)
    with pytest.raises(ExecutionError, match="status 7"):
        run_test(settings, engine, system_of(scenario, engine))
    assert len(engine.batches) == 2


def test_server_fills_batches_under_load(engine: Recorder) -> None:
    """Queries that arrive in one call start full batches at once, and the rest after the
    deadline."""
    engine.load(range(20))
    completed: list[int] = []
    system = Server(engine, dict.fromkeys(engine.sizes, 1e-4), deadline=0.05)
    system._complete = completed.extend  # type: ignore[method-assign,assignment]
    system.issue(list(range(100, 120)), list(range(20)))
    system.close()
    system.check()
    assert engine.batches == [list(range(8)), list(range(8, 16)), list(range(16, 20))]
    assert completed == list(range(100, 120))


def test_server_corrects_estimates(engine: Recorder) -> None:
    """A batch that ends earlier than estimated does not delay the next one."""
    engine.load(range(2))
    completed = SimpleQueue[int]()
    system = Server(engine, dict.fromkeys(engine.sizes, 1000.0), deadline=0.0)
    system._complete = lambda ids: completed.put(*ids)  # type: ignore[method-assign]
    for number in range(3):
        system.issue([number], [number % 2])
        assert completed.get(timeout=20) == number
    system.close()


def test_search_of_the_rate() -> None:
    def run(rate: float) -> Outcome:
        return Outcome("Server", rate <= 93, "", rate, rate, 1, 0.0, 0.0, 0.0)

    best, tried = highest_valid(run, 100.0, budget=60.0)
    assert 92 < best.target <= 93
    assert [each.target for each in tried][:3] == [88.0, 94.0, 91.0]
    best, tried = highest_valid(run, 100.0, budget=0.0)
    assert [each.target for each in tried] == [best.target] == [88.0]
    best, tried = highest_valid(lambda rate: run(rate + 100), 10.0, budget=60.0)
    assert not best.valid


def test_log_without_a_result() -> None:
    with pytest.raises(ValueError, match="has no result: bad"):
        read_outcome("Offline", ':::MLLOG {"key": "error_invalid_config", "value": "bad"}\n')


def test_what_cannot_be_batched(tmp_path: Path) -> None:
    class Add(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    path = tmp_path / "add.convoy"
    convoy.compile(Add().eval(), (torch.ones(2), torch.ones(2)), target="cpu").save(path)
    with (
        convoy_runtime.load(path) as program,
        pytest.raises(ArgumentError, match="cannot be batched: expected one input"),
    ):
        HostEngine(program)


def test_command_line(
    artifact: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("convoy_runtime.replays._ROUND_SECONDS", 0.001)
    file, logs = tmp_path / "figures.json", tmp_path / "logs"
    command = f"{artifact} --scenario SingleStream Offline Server --seconds 0.1 --min-queries 64"
    flags = f"--samples 16 --latency-ms 5000 --find-qps 0.3 --json {file} --logs {logs}"
    code = benchmark.main([*command.split(), *flags.split()])
    printed = capsys.readouterr()
    assert code in (0, 1), printed.err
    found = json.loads(file.read_text())
    assert [row["scenario"] for row in found["rows"]] == ["SingleStream", "Offline", "Server"]
    assert code == int(not all(row["valid"] for row in found["rows"]))
    single, offline, server = found["rows"]
    assert (single["batch"], offline["batch"], server["batch"]) == (1, 8, 8)
    assert offline["rate / peak"] == pytest.approx(offline["rate"] * offline["replay"] / 8)
    assert server["rate / Offline"] == pytest.approx(server["rate"] / offline["rate"])
    assert server["tests"]
    assert (logs / "mlperf_log_summary.txt").is_file()
    assert "MLPerf Results Summary" in (logs / "mlperf_log_summary.txt").read_text()
    lines = printed.out.splitlines()
    assert re.match(r"Server: (IN)?VALID, [\d.]+ samples/s of \d+ queries; tried ", lines[2])
    assert lines[3].startswith("| scenario | LoadGen | samples/s |")
    assert len(lines) == 8
    assert benchmark.main([str(tmp_path / "none.convoy")]) == 3
    assert "benchmarks.mlperf: error: " in capsys.readouterr().err


def test_table() -> None:
    outcome = Outcome(
        "Server", False, "not met: perf constraints", 80.0, 82.0, 9, 0.001, 0.002, 0.02
    )
    row = Row(outcome, 64, 0.5, offline=100.0, tests=((82.0, False),))
    assert benchmark.table([row]).splitlines()[2] == (
        "| Server | INVALID (not met: perf constraints) | 80.0 | 1.000 | 2.000 | 20.000 "
        "| 128.0 (64 / 500.000 ms) | 0.625 | 0.800 |"
    )


def test_random_weights(artifact: Path) -> None:
    with convoy_runtime.load(artifact) as program:
        found = random_weights(program.weights)
        program.load_weights(found)
        (y,) = program.run_numpy(np.ones((4, 3, 6, 6), np.float32))
    assert np.isfinite(y).all()
    variance = next(each for name, each in found.items() if name.endswith("running_var"))
    assert (variance.array > 0.5).all()


def test_detector() -> None:
    """The levels of MLPerf's detector: strides 8 to 128."""
    with torch.no_grad():
        classes, boxes = Detector().eval()(torch.zeros(1, 3, 128, 128))
    sides = [(16, 16), (8, 8), (4, 4), (2, 2), (1, 1)]
    assert [tuple(each.shape) for each in classes] == [(1, 2376, *side) for side in sides]
    assert [tuple(each.shape) for each in boxes] == [(1, 36, *side) for side in sides]


def test_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_MODELS", {"tiny": (network, 6)})
    flags = "--target cpu --dtype float32 --batches 2 --points 3 1"
    assert build.main([str(tmp_path), *flags.split()]) == 0
    with convoy_runtime.load(tmp_path / "tiny-2.convoy") as program:
        assert HostEngine(program).sizes == [2]
    with convoy_runtime.load(tmp_path / "tiny.convoy") as program:
        assert HostEngine(program).sizes == [1, 3]
