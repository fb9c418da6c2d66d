"""Plans of the fake cuDNN of libcudnn.c: chosen, tuned, stored, and refused."""

from __future__ import annotations

import ctypes
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE

import convoy_runtime
from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime import (
    ArgumentError,
    CudaError,
    CudnnError,
    PlanError,
    WeightsError,
)
from convoy_runtime._native import load_native
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.cudnn.device_properties import main as describe
from convoy_runtime.cuda.graphs import forms
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.inspection import offline_planner
from convoy_runtime.opening import open_artifact


def test_graphs(conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    messages: list[tuple[str, int, int]] = []
    cache = tmp_path / "cache"
    program = convoy_runtime.load(
        conv, plan_cache=cache, progress=lambda *step: messages.append(step), poison=True
    )
    assert isinstance(program, CudaProgram)
    assert messages == [("plan of conv", 0, 1)]
    (report,) = program.plans
    assert (
        report.engine,
        report.heuristic,
        report.rank,
        report.workspace_bytes,
        report.origin,
    ) == (41, "A", 1, 512, "heuristics")
    assert report.rejected == ("A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED: as told",)
    assert {"cuDNN library", "cuBLASLt library", "plans"} < program.timings.keys()
    # Once before the capture, once for it; the run itself only replays.
    assert fake_cudnn.fake_executed() == 2
    x = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
    (y,) = program.run_numpy(x)
    np.testing.assert_array_equal(y.reshape(-1)[:8], x.reshape(-1)[:8])
    assert np.isnan(y.reshape(-1)[8:]).all()
    assert fake_cudnn.fake_executed() == 2
    assert fake_cudnn.fake_handles() == 1
    program.close()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)
    with convoy_runtime.load(conv, plan_cache=cache) as again:
        assert again.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
    with convoy_runtime.load(conv, plan_cache=False) as again:
        assert again.plans[0].origin == "heuristics"  # type: ignore[attr-defined]
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def test_first_result_reports_the_parts_of_a_start(
    conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path
) -> None:
    """Runs benchmarks/first_result.py on an artifact with its plans."""
    with convoy_runtime.load(conv, plan_cache=tmp_path / "cache") as program:
        assert isinstance(program, CudaProgram)
        plans = program.plan_members()
    opened = open_artifact(conv)
    members = {
        name: bytes(content) for name, content in opened.members.items() if name == "native.so"
    }
    write_artifact(
        tmp_path / "model.convoy", opened.manifest, {**members, **plans}, opened.weights()
    )
    np.save(tmp_path / "image.npy", np.ones((1, 64, 56, 56), np.float16))
    command = [
        sys.executable,
        "-m",
        "benchmarks.first_result",
        "convoy",
        str(tmp_path),
        repr(time.perf_counter()),
        "tf32",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    first_result = json.loads(done.stdout)
    assert list(first_result["steps"]) == ["Python", "numpy", "convoy_runtime", "load", "run"]
    assert all(0 < seconds < 60 for seconds in first_result["steps"].values())
    assert sum(first_result["load"].values()) <= first_result["steps"]["load"]
    assert (first_result["nvrtc"], first_result["plans"]) == (False, {"plan in the artifact": 1})
    assert np.load(tmp_path / "convoy.npy").shape == (1, 64, 56, 56)


def test_graphs_that_fail(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_fail(5000)
    with pytest.raises(
        CudnnError,
        match=(
            r"model\.py:12: cudnnBackendExecute \(graph conv, call 0\) failed: "
            r"CUDNN_STATUS_EXECUTION_FAILED"
        ),
    ):
        convoy_runtime.load(conv, plan_cache=False)
    fake_cudnn.fake_fail(0)
    with pytest.raises(
        PlanError, match=r"model\.py:9: graph conv: no execution plan, of 2 candidates"
    ):
        convoy_runtime.load(conv, plan_cache=False, options=PlanOptions(max_workspace_bytes=100))
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def test_limited_tuning_measures_few_plans(
    conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path
) -> None:
    """Two plans of heuristics A and one of FALLBACK. The level is below quick."""
    fake_cudnn.fake_offer(6)
    engines = []
    levels: tuple[Any, ...] = ("limited", "limited", "quick", "limited")
    for level in levels:
        with convoy_runtime.load(conv, plan_cache=tmp_path / "cache", tune=level) as program:
            assert isinstance(program, CudaProgram)
            (report,) = program.plans
        engines.append((report.tuned, report.origin, [trial.engine for trial in report.trials]))
    assert engines == [
        ("limited", "tuning", [41, 42, 43]),
        ("limited", "stored plan", [41, 42, 43]),
        ("quick", "tuning", [41, 42, 43, 44, 45]),
        ("quick", "stored plan", [41, 42, 43, 44, 45]),
    ]


def test_tuning(conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    fake_cudnn.fake_offer(6)

    def load(**options: Any) -> CudaProgram:
        program = convoy_runtime.load(conv, plan_cache=cache, **options)
        assert isinstance(program, CudaProgram)
        return program

    messages: list[str] = []
    with load(tune="quick", progress=lambda what, *_: messages.append(what)) as program:
        (report,) = program.plans
        x = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
        np.testing.assert_array_equal(program.run_numpy(x)[0].reshape(-1)[:8], x.reshape(-1)[:8])
    assert (report.engine, report.origin, report.tuned) == (41, "tuning", "quick")
    found = {trial.engine: trial.reason for trial in report.trials}
    assert list(found) == [41, 42, 43, 44, 45]
    # Two or six copies, and an eighth of the memset that clears the workspaces of eight runs.
    assert report.trials[0].microseconds == pytest.approx(2.125)
    assert report.trials[1].microseconds == pytest.approx(6.125)
    assert (found[41], found[42]) == (None, None)
    assert re.fullmatch(
        r"output 0 differs from that of the median of 3 plans, by .* of the largest value",
        found[43] or "",
    )
    assert report.reference == "the median of 3 plans"
    assert found[44] == "writes after tensor 4"
    assert found[45] == "CUDNN_STATUS_EXECUTION_FAILED: as told"
    assert re.fullmatch(r"engine 41 \{\}: 2\.1[23] us", str(report.trials[0]))
    assert messages == [
        "plan of conv",
        *(f"plan {count} of conv" for count in range(1, 6)),
        "timing 5 plans of conv",
    ]

    # Tuned graphs are not tuned again, and a load without tuning uses their plans.
    for level in ("quick", "off"):
        before = fake_cudnn.fake_executed()
        with load(tune=level) as program:
            (again,) = program.plans
        assert again == replace(report, origin="stored plan")
        assert fake_cudnn.fake_executed() == before + 2
    # A higher level finds engines that no heuristic offers; of two equal ones the first is kept.
    with load(tune="full") as program:
        (full,) = program.plans
    assert (full.engine, full.heuristic, full.rank, full.tuned) == (46, "engines", 46, "full")
    with load(tune="quick") as program:
        assert program.plans[0].engine == 46
    with pytest.raises(
        ArgumentError,
        match="tune: unknown level: expected one of off, limited, quick, full, exhaustive, got 'slow'",
    ):
        load(tune="slow")
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


@pytest.mark.parametrize(
    ("engine", "reference"),
    [
        (42, "engine 42, which accumulates in float32"),
        # No other plan agrees with it, so the other candidates decide.
        (43, "the median of 3 plans"),
        # It writes outside its workspace.
        (44, "the median of 3 plans"),
        # It compiles.
        (46, "the median of 3 plans"),
    ],
)
def test_reference_of_the_comparison(
    conv: Path, fake_cudnn: ctypes.CDLL, engine: int, reference: str
) -> None:
    fake_cudnn.fake_offer(6)
    fake_cudnn.fake_exact(engine)
    try:
        with convoy_runtime.load(conv, plan_cache=False, tune="quick") as program:
            (report,) = program.plans  # type: ignore[attr-defined]
    finally:
        fake_cudnn.fake_exact(0)
    assert (report.reference, report.engine) == (reference, 41)
    (wrong,) = (trial.reason for trial in report.trials if trial.engine == 43)
    assert re.fullmatch(
        rf"output 0 differs from that of {reference}, by .* of the largest value", wrong or ""
    )


def test_two_plans_that_disagree(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    """One of them is wrong, and a median cannot tell which."""
    fake_cudnn.fake_exact(42)
    fake_cudnn.fake_offer(6)
    try:
        with convoy_runtime.load(
            conv, plan_cache=False, tune="quick", options=PlanOptions(engines=(41, 43))
        ) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
    finally:
        fake_cudnn.fake_exact(0)
    assert {trial.engine: trial.reason is None for trial in report.trials} == {41: True, 43: False}
    gc.collect()
    assert fake_cudnn.fake_alive() == 0


def test_full_tune_turns_knobs(conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    """Engine 42 is the slower one of two, until its knob is turned, which no heuristic proposes."""
    fake_cudnn.fake_offer(3)
    fake_cudnn.fake_knobs(1)
    options, messages = (
        PlanOptions(allow_runtime_compilation=False, exclude_engines=(43, 44, 45)),
        list[str](),
    )
    try:
        with convoy_runtime.load(
            conv,
            plan_cache=tmp_path,
            tune="full",
            options=options,
            progress=lambda what, *_: messages.append(what),
        ) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
        assert (report.engine, report.knobs, report.heuristic, report.rank) == (
            42,
            {"TILE_SIZE": 1},
            "knobs",
            0,
        )
        trials = {(trial.engine, *trial.knobs.values()): trial for trial in report.trials}
        assert list(trials) == [(42, 1), (41,), (42, 0), (42, 3)]
        assert trials[42, 1].microseconds == pytest.approx(1.125, rel=1e-4)
        assert re.fullmatch(r"output 0 differs from that of .*", trials[42, 3].reason or "")
        # The first turn is an improvement, the second one is not.
        assert [each for each in messages if "knobs" in each] == [
            "knobs of conv, round 1",
            "knobs of conv, round 2",
        ]
        with convoy_runtime.load(conv, plan_cache=tmp_path, options=options) as program:
            assert program.plans[0].knobs == {"TILE_SIZE": 1}  # type: ignore[attr-defined]
            assert program.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
    finally:
        fake_cudnn.fake_knobs(0)
    gc.collect()
    assert fake_cudnn.fake_alive() == 0


def test_every_knob_of_every_engine(conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    """Engine 47 compiles, and is the slower one of two until its knob is turned; other processes
    build it."""
    fake_cudnn.fake_offer(2)
    fake_cudnn.fake_knobs(2)
    messages: list[str] = []
    options = PlanOptions(engines=(41, 47))

    def tuned(level: Any) -> Any:
        messages.clear()
        with convoy_runtime.load(
            conv,
            plan_cache=tmp_path,
            tune=level,
            options=options,
            progress=lambda what, *_: messages.append(what),
        ) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
            return report

    try:
        report = tuned("full")
        assert (report.engine, [trial.engine for trial in report.trials]) == (41, [41, 47])
        report = tuned("exhaustive")
        assert (report.engine, report.knobs, report.heuristic, report.tuned) == (
            47,
            {"TILE_SIZE": 1},
            "knobs",
            "exhaustive",
        )
        trials = {(trial.engine, *trial.knobs.values()): trial for trial in report.trials}
        assert list(trials) == [(47, 1), (41,), (47, 0), (47, 3)]
        assert re.fullmatch(r"output 0 differs from that of .*", trials[47, 3].reason or "")
        turns = ((1, 41), (1, 47), (2, 47), (2, 41), (2, 47))
        knobs = [f"knobs of engine {engine} of conv, round {turn}" for turn, engine in turns]
        assert [each for each in messages if each.startswith("knobs")] == knobs
        assert "3 of 3 plans of conv compiled" in messages
        # A higher level also satisfies a lower one.
        assert tuned("full") == replace(report, origin="stored plan")
    finally:
        fake_cudnn.fake_knobs(0)
    gc.collect()
    assert fake_cudnn.fake_alive() == 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("FAKE_DIES", "the build process ended: SIGABRT"),
        ("FAKE_HANGS", "the build exceeded 0.5 s"),
    ],
)
def test_build_process_that_fails(
    conv: Path, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    fake_cudnn.fake_offer(2)
    monkeypatch.setenv(fault, "46")
    monkeypatch.setattr("convoy_runtime.cuda.plans.build_pool._TIMEOUT_SECONDS", 0.5)
    messages: list[str] = []
    with convoy_runtime.load(
        conv, plan_cache=False, tune="full", progress=lambda what, *_: messages.append(what)
    ) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.engine == 47
    assert f"engines[46] engine 46 {{}}: {reason}" in report.rejected
    assert [each for each in messages if "compiled" in each] == [
        "1 of 2 plans of conv compiled",
        "2 of 2 plans of conv compiled",
    ]


def test_interrupt_while_processes_build(
    conv: Path, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cudnn.fake_offer(2)
    started: list[Any] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    def interrupt(what: str, *_: int) -> None:
        if "compiled" in what:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(KeyboardInterrupt):
        convoy_runtime.load(conv, plan_cache=False, tune="full", progress=interrupt)
    assert started
    # They are killed, and a thread waits for them.
    assert all(process.wait(timeout=10) < 0 for process in started)
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def test_plans_in_the_artifact(
    conv: Path,
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    fake_cudnn.fake_offer(6)
    with pytest.raises(
        PlanError,
        match=(
            r"model\.py:9: graph conv: no stored plan fits, and strict=True .*\n  "
            r"hint: `convoy tune`"
        ),
    ):
        convoy_runtime.load(conv, strict=True)
    tuned = tmp_path / "tuned"
    assert convoy(["tune", str(conv), "-o", str(tuned)]) == 0
    printed = capsys.readouterr()
    assert re.search(r"conv +1 +engine 41 +2\.1[23] +2\.1[23] +5 +tuning\n", printed.out)
    assert re.search(
        r"^1 of 1 graphs measured in .*\n  of this: .*\b(building|running|timing) plans \d+\.\d\d s",
        printed.out,
        re.MULTILINE,
    )
    assert f"{tuned}: plans for cuda:0" in printed.out
    assert "plan of conv (1 of 1)" in printed.err

    # On load, neither the cache nor the heuristics are queried.
    with convoy_runtime.load(tuned, plan_cache=False, strict=True) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert (report.engine, report.origin, report.tuned) == (41, "plan in the artifact", "quick")
    # A plan of a higher level takes precedence, wherever it is stored.
    with convoy_runtime.load(conv, tune="full"):
        pass
    with convoy_runtime.load(tuned) as program:
        assert program.plans[0].origin == "stored plan"  # type: ignore[attr-defined]
        assert program.plans[0].tuned == "full"  # type: ignore[attr-defined]
    # Other options have another key.
    with pytest.raises(
        PlanError,
        match="expected one made with deterministic=True, got one made with deterministic=False",
    ):
        convoy_runtime.load(tuned, strict=True, options=PlanOptions(deterministic=True))
    assert convoy(["tune", str(tuned), "--deterministic", "-q"]) == 0
    assert capsys.readouterr().out == ""
    with convoy_runtime.load(
        tuned, plan_cache=False, strict=True, options=PlanOptions(deterministic=True)
    ) as program:
        assert program.plans[0].origin == "plan in the artifact"  # type: ignore[attr-defined]
    assert convoy(["tune", str(conv), "-o", str(tmp_path)]) == 1
    assert "cannot be written: expected a regular file, got a directory" in capsys.readouterr().err
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


@pytest.fixture
def little_memory(fake_cudnn: ctypes.CDLL) -> Iterator[None]:
    """A GPU that allocates at most 2 MiB at a time, and an engine 41 that needs 4."""
    fake_cudnn.fake_offer(6)
    fake_cudnn.fake_workspace(ctypes.c_int64(4 << 20))
    FAKE.fake_largest(ctypes.c_long(2 << 20))
    yield
    FAKE.fake_largest(ctypes.c_long(1 << 30))
    fake_cudnn.fake_workspace(ctypes.c_int64(512))
    fake_cudnn.fake_offer(2)


@pytest.mark.usefixtures("little_memory")
def test_workspaces_without_memory(conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path) -> None:
    reason = "workspace of 4194304 bytes cannot be allocated: the GPU's memory is full"
    for _ in range(2):
        with convoy_runtime.load(conv, plan_cache=tmp_path) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
        assert (report.engine, report.origin) == (42, "heuristics")
        assert report.rejected[0] == f"stored plan: {reason}"
        assert report.rejected[-1] == f"A[1] engine 41 {{}}: {reason}"
    # Memory may be available later: the better plan stays stored.
    FAKE.fake_largest(ctypes.c_long(1 << 30))
    with convoy_runtime.load(conv, plan_cache=tmp_path) as program:
        assert program.plans[0].engine == 41  # type: ignore[attr-defined]
    FAKE.fake_largest(ctypes.c_long(2 << 20))
    with pytest.raises(PlanError, match=rf"stored plan: {reason}"):
        convoy_runtime.load(conv, plan_cache=tmp_path, strict=True)
    with pytest.raises(
        PlanError, match=rf"of 6 candidates:\n.*\n  A\[1\] engine 41 {{}}: {reason}"
    ):
        convoy_runtime.load(
            conv, plan_cache=False, options=PlanOptions(heuristics=("A",), engines=(40, 41))
        )


@pytest.mark.usefixtures("little_memory")
def test_tuning_with_little_memory(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    gc.collect()
    before = FAKE.fake_allocated()
    with convoy_runtime.load(conv, plan_cache=False, tune="full") as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.engine == 46
    found = {trial.engine: trial.reason for trial in report.trials}
    assert found[41] == "workspace of 4194304 bytes cannot be allocated: the GPU's memory is full"
    # If no tensor fits, the plans are not the cause.
    FAKE.fake_largest(ctypes.c_long(1000))
    with pytest.raises(CudaError, match="cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY"):
        convoy_runtime.load(conv, plan_cache=False, tune="quick")
    gc.collect()
    assert (fake_cudnn.fake_alive(), FAKE.fake_allocated()) == (0, before)


def test_failed_capture_leaks_nothing(
    conv: Path, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """41 and 46 are equally fast, so the whole program decides; the second capture there fails."""
    fake_cudnn.fake_offer(2)
    gc.collect()
    graphs, captures = FAKE.fake_graphs(), list[int]()
    right = forms.ProgramCapture.capture

    def capture(*arguments: Any) -> Any:
        captures.append(0)
        if len(captures) == 2:
            raise KeyboardInterrupt
        return right(*arguments)

    monkeypatch.setattr(forms.ProgramCapture, "capture", capture)
    monkeypatch.setattr("convoy_runtime.cuda.tuning.candidates._MAX_CLOSE_SLOWDOWN", 10.0)
    with pytest.raises(KeyboardInterrupt):
        convoy_runtime.load(conv, plan_cache=False, tune="full")
    gc.collect()
    assert (len(captures), FAKE.fake_graphs(), fake_cudnn.fake_alive()) == (2, graphs, 0)


def test_tuning_without_a_working_plan(conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_offer(2)
    fake_cudnn.fake_fail(5000)
    with pytest.raises(
        PlanError,
        match=(
            r"no execution plan, of 6 candidates:\n.*\n  engine 41 {}: "
            r"CUDNN_STATUS_EXECUTION_FAILED"
        ),
    ):
        convoy_runtime.load(conv, plan_cache=False, tune="quick")
    fake_cudnn.fake_fail(0)
    with pytest.raises(
        PlanError, match="of 6 candidates:(\n.*)*workspace of 512 bytes is over the limit of 100"
    ):
        convoy_runtime.load(
            conv, plan_cache=False, tune="quick", options=PlanOptions(max_workspace_bytes=100)
        )
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def test_profile_without_weights(artifact: Callable[..., Path]) -> None:
    """Measuring times needs no weights, but runs do."""
    with convoy_runtime.load(artifact(weights=False)) as bare:
        assert isinstance(bare, CudaProgram)
        assert len(bare.profile().timings) == 2
        with pytest.raises(WeightsError, match="was compiled without weights"):
            bare.replay()


def test_offline_plans(
    conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plans are made offline from the properties of a GPU, and the GPU starts with them; tuning
    there replaces them."""
    describe()
    described = tmp_path / "fake-cudnn9.19.json"
    described.write_text(capsys.readouterr().out)
    opened = open_artifact(conv)
    native = load_native(opened.members["native.so"])
    plans = offline_planner(str(described)).plan(opened.manifest, native)
    assert plans.gpu == "Fake GPU 0"
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    planned = tmp_path / "planned.convoy"
    write_artifact(planned, opened.manifest, {**members, **plans.members}, opened.weights())
    fake_cudnn.fake_offer(6)
    with convoy_runtime.load(planned, plan_cache=False, strict=True) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert (report.engine, report.origin, report.tuned) == (
        41,
        "offline plan in the artifact",
        "offline",
    )
    with convoy_runtime.load(planned, plan_cache=False, tune="quick") as program:
        (report,) = program.plans  # type: ignore[attr-defined]
        measured = program.plan_members()  # type: ignore[attr-defined]
    assert (report.origin, report.tuned) == ("tuning", "quick")
    assert measured.keys() >= plans.members.keys()
    described.write_text(described.read_text().replace("Fake GPU 0", "NVIDIA H200"))
    other = offline_planner(str(described)).plan(opened.manifest, native)
    write_artifact(planned, opened.manifest, {**members, **other.members}, opened.weights())
    with convoy_runtime.load(planned, plan_cache=False) as program:
        (report,) = program.plans  # type: ignore[attr-defined]
    assert report.origin == "heuristics"
    assert (
        report.rejected[0]
        == "plan in the artifact: expected one for Fake GPU 0, got one for NVIDIA H200"
    )
