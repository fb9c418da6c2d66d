"""`convoy explain`, and the report of an artifact."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_fixtures import FACTS, TINY, Page, compile_tiny

from convoy.cli.main import main
from convoy.report import collect_report
from convoy_runtime._native import load_native
from convoy_runtime.cuda.graphs.calls import Trace
from convoy_runtime.opening import open_artifact
from convoy_runtime.profile import Profile


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "tiny.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16", "--no-weights")
    return path


def test_report_of_an_artifact(artifact: Path) -> None:
    """Without measurements: the calls in order, their bytes, FLOPs and source lines."""
    opened = open_artifact(artifact)
    report = collect_report(opened)
    assert (report.times, report.gpu, report.sum_microseconds, report.choices) == (
        "none",
        None,
        None,
        (),
    )
    graphs = [each for each in report.steps if each.kind == "graph"]
    assert [each.name for each in graphs] == [
        opened.manifest.graphs[call.graph].name for call in opened.manifest.calls
    ]
    first = graphs[0]
    assert first.form.startswith("convolution")
    # 16x16 pixels, 16 filters of 3x3 over 3 channels, padded to 4.
    assert (first.flops, first.rate) == (2 * 16 * 16 * 16 * 9 * 4, "float16")
    assert any(each.kind == "kernel" and each.bytes for each in report.steps)
    (source,) = report.sources
    assert (
        dict(source.lines)[int(first.location.rpartition(":")[2])]
        .strip()
        .startswith("y = torch.relu")
    )
    # On a GPU the same calls have times, and a limit by bytes or by FLOPs.
    calls = tuple(replace(timing, microseconds=3.0) for timing in _calls(artifact))
    measured = collect_report(opened, Profile(FACTS, "calls one after another", calls, 20.0))
    assert measured.sum_microseconds == 3.0 * len(calls)
    assert [each.name for each in measured.steps] == [each.name for each in report.steps]
    graph = next(each for each in measured.steps if each.kind == "graph")
    assert graph.limit_microseconds == pytest.approx(
        max(graph.bytes / 4.3e12, (graph.flops or 0) / (132 * 4096 * 1.98e9)) * 1e6
    )
    assert graph.share == pytest.approx((graph.limit_microseconds or 0) / 3.0)


def test_only_kernel_graph_in_the_report(tmp_path: Path) -> None:
    """The FLOPs of a stem include its convolution, whose result is not stored."""
    path = tmp_path / "stem.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16", "--no-weights", function="stem")
    opened = open_artifact(path)
    assert [graph.symbol for graph in opened.manifest.graphs] == [None]
    (stem,) = (each for each in collect_report(opened).steps if each.kind == "graph")
    image, filters, bias, result = opened.manifest.graphs[0].tensors
    assert (stem.flops, stem.rate) == (
        2 * 32 * 16 * 16 * filters.shape[1] * 7 * filters.shape[3],
        "float16",
    )
    assert stem.bytes == image.bytes + filters.bytes + bias.bytes + result.bytes


def _calls(artifact: Path) -> Any:
    from convoy_runtime.inspection import program_calls

    return program_calls(open_artifact(artifact))


def test_manifest_has_the_calls_of_the_program(artifact: Path) -> None:
    """`explain` relies on this, because it runs no code of the artifact."""
    opened = open_artifact(artifact)
    manifest, address = opened.manifest, 1 << 20
    trace = Trace(manifest)
    memory = (
        [address] * len(specs) for specs in (manifest.inputs, manifest.prepared, manifest.outputs)
    )
    trace.run(load_native(opened.members["native.so"]), *memory, address)
    assert len(trace.calls) > len(manifest.calls)
    assert [(each.kind, each.index, each.bytes) for each in _calls(artifact)] == [
        (each.kind, each.index, each.bytes) for each in trace.calls
    ]


def test_explain_reports_missing_requirements(
    artifact: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from convoy_runtime import DeviceError

    def load(*_: Any, **__: Any) -> None:
        raise DeviceError(problem="the NVIDIA driver is missing")

    monkeypatch.setattr("convoy_runtime.load", load)
    assert main(["explain", str(artifact), "--measured"]) == 1
    err = capsys.readouterr().err
    assert (
        "--measured requires an NVIDIA GPU with its driver, cuda-bindings and cuDNN: the "
        "NVIDIA driver is missing"
    ) in err
    assert "`convoy explain FILE.json` shows a report that --json wrote on a GPU" in err
    assert main(["explain", f"{TINY}:tiny", "--html", str(tmp_path / "x.html")]) == 1
    assert (
        "expected an artifact with --measured, --html and --json: compile the model first"
        in capsys.readouterr().err
    )
    kept = tmp_path / "kept.json"
    kept.write_text(collect_report(open_artifact(artifact)).to_json())
    assert main(["explain", str(kept), "--measured"]) == 1
    assert (
        "kept.json: expected an artifact with --measured, got a report" in capsys.readouterr().err
    )
    assert main(["explain", str(kept), "--html", str(tmp_path / "no" / "x.html")]) == 1
    assert "cannot be written: expected a folder that exists" in capsys.readouterr().err


def test_explain_an_artifact(
    artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, kept = tmp_path / "page.html", tmp_path / "report.json"
    assert main(["explain", str(artifact), "--html", str(page), "--json", str(kept)]) == 0
    printed = capsys.readouterr().out
    assert "groups in execution order" in printed
    expected = (
        r"plans in the artifact\n  \d graphs? without a plan: .+ is used at load time, until "
        r"`convoy tune` adds plans\n"
    )
    assert re.search(expected, printed)
    assert "tiny.convoy, not measured" in Page(page.read_text()).text
    assert main(["explain", str(kept), "--html", str(tmp_path / "again.html"), "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "again.html").read_text() == page.read_text()


def test_explain_offline_plans(
    cudnn: object, cublaslt: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "planned.convoy"
    options = ["--target", "cuda", "--dtype", "float16", "--no-weights", "--plan-for", "h200"]
    compile_tiny(path, *options)
    capsys.readouterr()
    assert main(["explain", str(path)]) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"^  conv2d_\w+: engine \d+ \{\w+=\d+.*\} \[TENSOR_CORE.*\] workspace \d+ bytes$",
        printed,
        re.MULTILINE,
    )
    assert "  A[0], offline; for NVIDIA H200, cuDNN 9.19.0, driver 13.0" in printed


def test_explain_cpu_artifact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cpu.convoy"
    compile_tiny(path, "--target", "cpu", "--no-weights")
    capsys.readouterr()
    assert main(["explain", str(path)]) == 0
    assert (
        capsys.readouterr().out
        == "target cpu: the whole model is one native library, without cuDNN groups\n"
    )
    for option in (["--measured"], ["--html", str(tmp_path / "x.html")]):
        assert main(["explain", str(path), *option]) == 1
        assert (
            "expected an artifact of the cuda target, got one of cpu, which has no plans"
            in capsys.readouterr().err
        )
