"""Profiles of a program, on the fake driver of libcuda.c."""

from __future__ import annotations

import ctypes
import gc
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, X, as_compiled, reference

import convoy_runtime
from convoy.cli.main import main as convoy
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.profile import Timing


def test_profile(program: CudaProgram, conv: Path, fake_cudnn: ctypes.CDLL) -> None:
    messages: list[tuple[str, int, int]] = []
    before = FAKE.fake_allocated()
    profile = program.profile(lambda *step: messages.append(step))
    in_place = [("timing calls in place", 0, 2), ("timing calls in place", 1, 2)]
    assert messages == [("timing scaled_relu", 0, 2), ("timing a copy", 1, 2), *in_place]
    # One microsecond per operation: one kernel, one copy.
    assert [
        replace(timing, microseconds=None, in_place_microseconds=None) for timing in profile.timings
    ] == [
        Timing("kernel", 0, 0, None),
        Timing("copy", 0, 48, None, after=(0,)),
    ]
    assert [timing.microseconds for timing in profile.timings] == pytest.approx(
        [1.0, 1.0], rel=1e-4
    )
    assert [timing.in_place_microseconds for timing in profile.timings] == pytest.approx(
        [1.0, 1.0], rel=1e-3
    )
    assert profile.replay_microseconds == pytest.approx(2.0, rel=1e-4)
    assert profile.form == "calls one after another"
    gpu = profile.gpu
    assert (gpu.name, gpu.compute_capability, gpu.multiprocessors, gpu.clock_khz) == (
        "Fake GPU 0",
        (9, 0),
        1,
        1_000_000,
    )
    assert (gpu.memory_clock_khz, gpu.memory_bus_bits, gpu.l2_bytes, gpu.driver, gpu.cudnn) == (
        2_000_000,
        512,
        100,
        13000,
        0,
    )
    # 800 bytes are read and written in a microsecond.
    assert gpu.copy_bytes_per_second == pytest.approx(1.6e9, rel=1e-4)
    gc.collect()
    assert FAKE.fake_allocated() == before
    # The weights are still those of the model.
    np.testing.assert_array_equal(program.run_numpy(X)[0], reference(X))
    with convoy_runtime.load(conv, plan_cache=False) as graphs:
        assert isinstance(graphs, CudaProgram)
        profile = graphs.profile()
    assert [(timing.kind, timing.index) for timing in profile.timings] == [("graph", 0)]
    (timing,) = profile.timings
    found = [timing.microseconds, timing.in_place_microseconds, profile.replay_microseconds]
    assert found == pytest.approx([2.125, 3.0, 3.0], rel=1e-3)
    assert profile.gpu.cudnn == 91900


@pytest.fixture
def tuned(
    conv: Path, fake_cudnn: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An artifact that was tuned with several engines."""
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    fake_cudnn.fake_offer(6)
    path = tmp_path / "conv.convoy"
    assert convoy(["tune", str(as_compiled(conv)), "-q", "-o", str(path)]) == 0
    return path


def test_explain_measured(tuned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, kept = tmp_path / "page.html", tmp_path / "report.json"
    assert (
        convoy(["explain", str(tuned), "--measured", "--html", str(page), "--json", str(kept)]) == 0
    )
    printed = capsys.readouterr()
    assert "timing conv (1 of 1)" in printed.err
    assert "conv.convoy measured on Fake GPU 0 (driver 13.0, cuDNN 9.19.0)" in printed.out
    assert "one replay 3.00 us (calls one after another)" in printed.out
    assert "1 call, sum of each measured alone: 2.12 us; the roofline allows" in printed.out
    assert re.search(
        r"^0 +2\.12 +3\.00 .* 41 +compute +conv +convolution \+ add \+ relu +model\.py:12$",
        printed.out,
        re.MULTILINE,
    )
    assert re.search(
        r"2\.1[23] us  engine 41 \{\} workspace 512 bytes \(chosen, untuned choice\)", printed.out
    )
    # The time is 6.125 us. The fake driver adds the times of a round in float32.
    assert re.search(r"6\.1[23] us  engine 42 \{\} workspace 512 bytes\n", printed.out)
    assert "not engine 43 {}: output 0 differs from that of the median of 3 plans" in printed.out
    # Refusals of cuDNN have a reason.
    assert "not A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED: as told" in printed.out
    # The JSON file prints the same report without a GPU.
    again = tmp_path / "again.html"
    assert convoy(["explain", str(kept), "--html", str(again)]) == 0
    assert capsys.readouterr().out == printed.out
    assert again.read_text() == page.read_text()
    assert "CUDNN_STATUS_NOT_SUPPORTED: as told" in page.read_text()


def test_explain_the_candidates_of_a_tuning(
    tuned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convoy(["explain", str(tuned), "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["times"], report["steps"][0]["microseconds"]) == (
        "tuning",
        pytest.approx(2.125, rel=1e-4),
    )
    assert convoy(["explain", str(tuned)]) == 0
    printed = capsys.readouterr().out
    assert "groups in execution order" in printed
    assert (
        "conv.convoy, times of graphs from tuning (Fake GPU 0, cuDNN 9.19.0, driver 13.0)"
        in printed
    )
    assert re.search(
        r"^0 +2\.1[23] +- +- .* 41 +- +conv +convolution \+ add \+ relu +model\.py:12$",
        printed,
        re.MULTILINE,
    )
    assert re.search(r"6\.1[23] us  engine 42 \{\} workspace 512 bytes", printed)


def test_invalid_device_name(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message does not mention a missing device."""
    assert convoy(["explain", str(tuned), "--measured", "--device", "gpu"]) == 1
    assert (
        capsys.readouterr().err
        == "convoy: error: device: unknown name: expected cpu, cuda, cuda:N or N, got 'gpu'\n"
    )
