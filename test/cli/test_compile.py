"""`convoy compile`: phases, flags and errors."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from cli_fixtures import TINY, compile_tiny

from convoy.cli.main import main
from convoy_runtime import PlanOptions


@pytest.mark.parametrize(
    "phase", ["torch", "tcp", "normalize", "group", "cudnn", "linalg", "plan", "host", "llvm"]
)
def test_compile_to_each_phase(phase: str, tmp_path: Path) -> None:
    out = tmp_path / "tiny.mlir"
    compile_tiny(out, "--target", "cuda", "--dtype", "float16", "--compile-to", phase)
    assert "func" in out.read_text()


def test_continuing_from_a_phase_equals_one_run(tmp_path: Path) -> None:
    """Stopping at a phase and continuing from its text gives the same artifact as one run."""
    options = ["--target", "cuda", "--dtype", "float16"]
    for phase in ("tcp", "cudnn"):
        compile_tiny(tmp_path / f"{phase}.mlir", *options, "--compile-to", phase)
    again = tmp_path / "again.mlir"
    assert (
        main(
            [
                "compile",
                str(tmp_path / "tcp.mlir"),
                *options,
                "--compile-from",
                "tcp",
                "--compile-to",
                "cudnn",
                "-o",
                str(again),
            ]
        )
        == 0
    )

    def body(path: Path) -> list[str]:
        return [
            line.split(" loc(")[0]
            for line in path.read_text().splitlines()
            if not line.startswith("#loc")
        ]

    assert body(again) == body(tmp_path / "cudnn.mlir")


def test_dump_phases(tmp_path: Path) -> None:
    out, folder = tmp_path / "tiny.convoy", tmp_path / "phases"
    compile_tiny(out, "--target", "cuda", "--dump-phases", str(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert names[:4] == [
        "model.0.torch.mlir",
        "model.1.tcp.mlir",
        "model.2.normalize.mlir",
        "model.3.group.mlir",
    ]
    assert len(names) == 9


def test_plan_for_another_gpu(
    cudnn: object, cublaslt: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "planned.convoy"
    arguments = ["compile", f"{TINY}:tiny", "--dtype", "float16", "--no-weights", "-o", str(out)]
    assert main([*arguments, "--target", "cuda", "--plan-for", "h200"]) == 0
    printed = capsys.readouterr().out
    count = re.search(r"^  (\d+) of \d+ graphs have a plan for NVIDIA H200$", printed, re.MULTILINE)
    assert count is not None
    assert int(count[1]) >= 2
    # Graphs without a plan have a reason.
    others = re.findall(
        r"^  \w+ \(.*tiny\.py:\d+\) will be planned at load time: heuristic A: .+$",
        printed,
        re.MULTILINE,
    )
    assert f"{count[1]} of {int(count[1]) + len(others)} graphs" in printed
    with zipfile.ZipFile(out) as artifact:
        plans = [
            json.loads(artifact.read(name))
            for name in artifact.namelist()
            if name.startswith("plans/")
        ]
    assert len(plans) == int(count[1])
    assert {(plan["gpu"], record["level"]) for plan in plans for record in plan["records"]} == {
        ("NVIDIA H200", "offline")
    }
    assert main(["inspect", str(out)]) == 0
    out.unlink()
    assert main([*arguments, "--target", "cuda", "--plan-for", "h300"]) == 1
    assert "device properties: expected h200 or a file, got h300" in capsys.readouterr().err
    assert main([*arguments, "--target", "cpu", "--plan-for", "h200"]) == 1
    assert (
        "expected target cuda with plan_for, got cpu, which has no plans" in capsys.readouterr().err
    )
    assert not out.exists()


def test_plan_for_with_plan_options(
    cudnn: object, cublaslt: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plans are found when the artifact is loaded with the same options."""
    out = tmp_path / "planned.convoy"
    arguments = ["compile", f"{TINY}:tiny", "--no-weights", "-o", str(out), "--target", "cuda"]
    assert (
        main(
            [
                *arguments,
                "--no-tf32",
                "--deterministic",
                "--exclude-engines",
                "0,1",
                "--plan-for",
                "h200",
                "-q",
            ]
        )
        == 0
    )
    with zipfile.ZipFile(out) as artifact:
        plans = [
            json.loads(artifact.read(name))
            for name in artifact.namelist()
            if name.startswith("plans/")
        ]
    assert plans
    expected = repr(PlanOptions(allow_tf32=False, deterministic=True, exclude_engines=(0, 1)))
    assert {plan["options"] for plan in plans} == {expected}
    reports = [record["report"] for plan in plans for record in plan["records"]]
    assert not any(
        {"TENSOR_CORE", "NONDETERMINISTIC"} & set(report["numerical_notes"]) for report in reports
    )
    assert not any(report["engine"] in (0, 1) for report in reports)
    assert capsys.readouterr().out == ""
    assert main([*arguments, "--deterministic"]) == 1
    message = (
        "expected plan_for with plan_options, got only PlanOptions(deterministic=True), which "
        "restricts the plans of plan_for"
    )
    assert message in capsys.readouterr().err


def test_unsupported_ops_are_listed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            ["compile", f"{TINY}:unsupported", "--target", "cpu", "-o", str(tmp_path / "x.convoy")]
        )
        == 1
    )
    err = capsys.readouterr().err
    assert "aten.special_airy_ai" in err
    assert "aten.igamma" in err
    assert "tiny.py:" in err


def test_unwritable_output_is_refused_before_compiling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "no" / "x.convoy"
    assert main(["compile", f"{TINY}:tiny", "--target", "cpu", "-o", str(missing)]) == 1
    assert str(missing) in capsys.readouterr().err


def test_a_failed_compile_leaves_the_old_artifact(tmp_path: Path) -> None:
    out = tmp_path / "x.convoy"
    out.write_bytes(b"old")
    assert main(["compile", f"{TINY}:unsupported", "--target", "cpu", "-o", str(out)]) == 1
    assert out.read_bytes() == b"old"


def test_invalid_mlir_names_file_line_and_op(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.mlir"
    body = "  %0 = tcp.clamp %x : tensor<2xf32> -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n"
    path.write_text(f"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{\n{body}}}\n")
    arguments = [
        "compile",
        str(path),
        "--target",
        "cpu",
        "--compile-from",
        "tcp",
        "--compile-to",
        "normalize",
        "-o",
        "-",
    ]
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert f"{path}:2" in err
    assert "'tcp.clamp' op expects 'min_float', 'max_float' or both, but got neither" in err
