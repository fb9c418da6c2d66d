"""The parts of benchmarks.compare that need no GPU."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import compare
from benchmarks.cases import Case
from benchmarks.compare import find, main
from benchmarks.processes import Child, output_path
from benchmarks.report import Result, Row, Run, dump, load


def test_case_is_parsed_from_the_artifact_name() -> None:
    case = Case.of("build/bench/resnet50-strict-32.convoy")
    assert case == Case("resnet50", "strict", 32)
    assert (case.key, case.dtype, case.tf32, case.limit) == (
        "resnet50-strict-32",
        "float32",
        False,
        1e-4,
    )


@pytest.mark.parametrize(
    "name", ["model.convoy", "resnet50-float64-1.convoy", "resnet50-float16-x.convoy"]
)
def test_other_artifact_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"expected MODEL-DTYPE-BATCH.convoy, .*, got {name}"):
        Case.of(name)


def test_rows_matching_a_pattern_are_in_table_order(tmp_path: Path) -> None:
    for key in (
        "resnet50-float16-32",
        "resnet50-strict-1",
        "resnet50-float16-1",
        "resnet18-float16-1",
    ):
        (tmp_path / f"{key}.convoy").touch()
    assert [case.key for case in find(tmp_path, ["resnet50-*"])] == [
        "resnet50-float16-1",
        "resnet50-float16-32",
        "resnet50-strict-1",
    ]
    with pytest.raises(
        ValueError, match="expected artifacts that match vgg or -8, got .*resnet18-float16-1"
    ):
        find(tmp_path, ["vgg", "-8"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected either a folder of artifacts or --from-json"),
        (
            ["folder", "--from-json", "a.json"],
            "expected either a folder of artifacts or --from-json",
        ),
        (["folder", "--resume"], "--resume: expected --json"),
        (["folder", "--jobs", "0"], "--jobs and --rounds: expected at least 1, got 0 and 15"),
        (["folder", "--peers", "tvm"], "invalid choice: 'tvm'"),
        (["nowhere"], "nowhere: expected artifacts that match *, got none"),
    ],
)
def test_wrong_command_line_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert message in capsys.readouterr().err


def test_compare_without_a_gpu_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    (tmp_path / "resnet18-float16-1.convoy").touch()
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--cache", str(tmp_path / "cache")])
    assert "expected an NVIDIA GPU that PyTorch can use, got none" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(1e-4, 0), (0.5, 1)])
def test_runs_are_merged_into_one_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], error: float, code: int
) -> None:
    for number, batch in enumerate((1, 32)):
        row = Row(Case("resnet50", "float16", batch), {"convoy": Result(ms=0.3, error=error)})
        dump(Run("2026-11-21", "x", "NVIDIA H200", {}, [row]), tmp_path / f"{number}.json")
    sources = [str(tmp_path / "0.json"), str(tmp_path / "1.json")]
    assert main(["--from-json", *sources, "--md", str(tmp_path / "table.md")]) == code
    table = (tmp_path / "table.md").read_text()
    assert table in capsys.readouterr().out
    assert table.count("| ResNet-50 | float16 |") == 4  # a row in each of two tables


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two artifacts, with stubs for the GPU and the runners."""
    torch = pytest.importorskip("torch")
    behaviors = {
        "convoy": "well",
        "eager": "well",
        "freezing": "short",
        "compile": "wrong",
        "max-autotune": "late",
    }
    behaviors |= {"jax": "dies", "jax-graphs": "raises"}

    def stub(name: str, _: Path, *, folder: Path, **__: Any) -> Child:
        command = [
            sys.executable,
            str(Path(__file__).parent / "stub_runner.py"),
            behaviors[name],
            str(output_path(folder, name)),
        ]
        return Child(command, log=folder / f"{name}.log")

    monkeypatch.setattr(Child, "of", stub)
    monkeypatch.setattr(Case, "expected", lambda case: np.ones((1, 2)))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    for key in ("resnet50-float16-1", "resnet50-strict-1"):
        (tmp_path / f"{key}.convoy").touch()
    return tmp_path


def run_bench(bench: Path, *arguments: str) -> int:
    return main(
        [
            str(bench),
            "--cache",
            str(bench / "cache"),
            "--rounds",
            "2",
            "--limit-seconds",
            "2",
            *arguments,
        ]
    )


def test_failed_peer_is_a_cell_and_other_rows_run(bench: Path) -> None:
    assert run_bench(bench, "--json", str(bench / "a.json"), "--md", str(bench / "a.md")) == 0
    rows = load(bench / "a.json").rows
    assert [row.case.key for row in rows] == ["resnet50-float16-1", "resnet50-strict-1"]
    for row in rows:
        assert row.results["convoy"] == Result(ms=0.25, error=0.0, seconds=1.5)
        assert (row.results["compile"].ms, row.results["compile"].error) == (0.25, 1.0)
        assert row.results["max-autotune"].failure == "not compiled after 2 s"
        assert row.results["jax"].failure == "ended with SIGABRT: no such engine"
        assert row.results["jax-graphs"].failure == "RuntimeError: CUDA out of memory"
    assert run_bench(bench, "--json", str(bench / "b.json"), "--peers", "freezing") == 0
    short = load(bench / "b.json").rows[0].results["freezing"]
    assert (short.ms, short.failure) == (None, "expected a result of (1, 2), got (2,)")
    line = (
        "| 0.250 | 0.250 | 0.250 (wrong: 1.0e+00) | not compiled after 2 s | ended with "
        "SIGABRT: no such engine |"
    )
    assert (bench / "a.md").read_text().count(line) == 2


def test_resume_keeps_only_complete_rows(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench / "a.json"
    assert run_bench(bench, "--json", str(path), "--peers", "eager", "--rows", "*-float16-*") == 0
    assert run_bench(bench, "--json", str(path), "--peers", "eager", "--resume") == 0
    assert "resnet50-float16-1: kept" in capsys.readouterr().out
    assert [row.case.key for row in load(path).rows] == ["resnet50-float16-1", "resnet50-strict-1"]
    assert run_bench(bench, "--json", str(path), "--peers", "eager", "compile", "--resume") == 0
    assert "kept" not in capsys.readouterr().out
    assert all(row.results.keys() == {"convoy", "eager", "compile"} for row in load(path).rows)


def test_warm_compiles_only_the_peers(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_bench(bench, "--warm", "--jobs", "2") == 0
    output = capsys.readouterr().out
    assert (
        output.count("torch.compile: 1.5 s")
        == output.count("JAX/XLA: failed: ended with SIGABRT: no such engine")
        == 2
    )
    assert output.count("max-autotune, freezing: failed: not compiled after 2 s") == 2
    assert "Convoy" not in output
    assert "eager" not in output
    # A later call reports the cost recorded here.
    kept = json.loads((bench / "cache/costs/resnet50-strict-1.compile.json").read_text())
    assert (kept["seconds"], kept["complete"], kept["at_once"]) == (1.5, True, 2)


def test_interrupt_ends_the_children(bench: Path) -> None:
    before = signal.signal(signal.SIGALRM, compare._stop)
    signal.setitimer(signal.ITIMER_REAL, 2.0, 0.01)
    start = time.perf_counter()
    try:
        with pytest.raises(SystemExit):
            run_bench(
                bench, "--warm", "--jobs", "2", "--peers", "max-autotune", "--limit-seconds", "50"
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 30
