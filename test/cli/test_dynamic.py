"""Dynamic sizes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import convoy_runtime
from convoy.cli.main import main
from convoy.cli.model_file import build_model
from convoy_runtime.__main__ import main as runtime_main
from convoy_runtime.dynamic.program import DynamicProgram

MODEL = f"{Path(__file__).parent / 'Inputs' / 'tiny.py'}:tiny"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dynamic") / "tiny.convoy"
    flags = ["--dynamic", "x:0=batch:1..8", "--points", "batch=1,4", "--target", "cpu"]
    assert main(["compile", MODEL, *flags, "-o", str(path)]) == 0
    return path


@torch.no_grad()
def test_compile_and_run(
    artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, (x,), _ = build_model(MODEL)
    with convoy_runtime.load(artifact) as program:
        assert isinstance(program, DynamicProgram)
        assert program.points == ({"batch": 1}, {"batch": 4})
        for batch in (1, 3, 4):
            given = torch.randn(batch, *x.shape[1:])
            torch.testing.assert_close(program(given), module(given), rtol=1e-4, atol=1e-5)
    with convoy_runtime.load(artifact, point={"batch": 4}) as static:
        assert static.inputs[0].shape == (4, *x.shape[1:])
    given = torch.randn(3, *x.shape[1:])
    np.save(tmp_path / "x.npy", given.numpy())
    command = ["run", str(artifact), "--input", str(tmp_path / "x.npy"), "--output"]
    assert main([*command, str(tmp_path / "y.npy")]) == 0
    assert f"output 0: float32 {list(module(given).shape)}" in capsys.readouterr().out
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), module(given), rtol=1e-4, atol=1e-5)


def test_phases_of_each_point(tmp_path: Path) -> None:
    flags = ["--dynamic", "x:0=batch:1..8", "--points", "batch=1,4", "--target", "cpu"]
    flags += ["--dump-phases", str(tmp_path / "phases"), "-o", str(tmp_path / "x.convoy")]
    assert main(["compile", MODEL, *flags]) == 0
    folders = sorted(path.name for path in (tmp_path / "phases").iterdir())
    assert folders == ["batch=1", "batch=4"]
    text = (tmp_path / "phases/batch=4/model.1.tcp.mlir").read_text()
    assert "tensor<4x" in text


def test_points_are_listed(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["inspect"], ["explain"]):
        assert main([*command, str(artifact)]) == 0
        printed = capsys.readouterr().out
        for line in (
            "symbol batch: 1 to 8; values between points run at the next point",
            "input x: float32[batch, ",
            "point batch=1: arena ",
            "point batch=4: arena ",
            "prepared weights: ",
            "arena of all points: ",
        ):
            assert line in printed
    assert main(["inspect", str(artifact), "--point", "batch=4"]) == 0
    assert "input x: float32 [4, " in capsys.readouterr().out
    assert main(["explain", str(artifact), "--point", "batch=4"]) == 0
    assert "target cpu: the whole model" in capsys.readouterr().out
    assert main(["inspect", str(artifact), "--digest"]) == 0
    digest = capsys.readouterr().out.strip()
    assert runtime_main([str(artifact), "--digest", digest]) == 0
    assert "symbol batch: 1 to 8" in capsys.readouterr().out
    assert main(["inspect", str(artifact), "--manifest"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "convoy-dynamic"


def test_bench(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", str(artifact), "--seconds", "0.05", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"batch=1", "batch=4"}
    assert main(["bench", str(artifact), "--seconds", "0.05", "--point", "batch=1"]) == 0
    assert "convoy" in capsys.readouterr().out
    assert main(["bench", str(artifact), "--peer", MODEL]) == 1
    assert "--peer requires --point" in capsys.readouterr().err


def test_exported_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, (x,), _ = build_model(MODEL)
    batch = torch.export.Dim("batch", min=1, max=8)
    given = (torch.cat([x, x, x]),)
    exported = torch.export.export(module, given, dynamic_shapes=({0: batch},))
    torch.export.save(exported, tmp_path / "tiny.pt2")
    path = str(tmp_path / "x.convoy")
    command = ["compile", str(tmp_path / "tiny.pt2"), "--target", "cpu", "-o", path]
    assert main([*command, "--points", "x_0=2,8"]) == 0
    assert "2 points" in capsys.readouterr().out
    assert main(command) == 0
    assert "points 1, 2, 4, 8; padded between points" in capsys.readouterr().out
    assert main([*command, "--dynamic", "x:0=1..4"]) == 1
    assert "expected no --dynamic for a .pt2 file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--dynamic", "x=1..8"], r"--dynamic x=1..8: expected INPUT:DIM=[NAME:]MIN..MAX"),
        (["--dynamic", "z:0=1..8"], "expected one of the inputs x"),
        (["--dynamic", "x:0=8..1"], "expected 1 <= MIN < MAX"),
        (["--dynamic", "x:0=b:2..2"], "--dynamic x:0=b:2..2: expected 1 <= MIN < MAX"),
        (["--dynamic", "x:9=1..2"], "input 'x': expected a dim from 0 to"),
        (
            ["--dynamic", "x:0=b:1..8", "--dynamic", "x:0=c:1..8"],
            "--dynamic x:0=c:1..8: expected one size for dim 0 of x, got two",
        ),
        (["--dynamic", "x:0=b:1..8", "--dynamic", "x:2=b:1..9"], "expected the range 1..8 of b"),
        (["--dynamic", "x:0=b:1..8", "--points", "b:2"], "--points b:2: expected NAME=N,..."),
        (["--dynamic", "x:0=b:1..8", "--points", "b=9"], "expected values of b: 1 to 8, got 9"),
        (
            ["--dynamic", "x:0=b:1..8", "--compile-to", "normalize"],
            "expected a PyTorch model with --compile-to tcp for a module with symbols as sizes, "
            "got --compile-to normalize",
        ),
        (
            ["--dynamic", "x:0=b:1..8", "--points", "b=2", "--compile-to", "tcp"],
            "expected no --points with --compile-to tcp, whose module has symbols instead",
        ),
        (["--points", "b=9"], "expected --dynamic with --points"),
    ],
)
def test_refused_flags(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compile", MODEL, *flags, "--target", "cpu", "-o", str(tmp_path / "x.convoy")]
    assert main(command) == 1
    assert message in capsys.readouterr().err


@torch.no_grad()
def test_module_with_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a model to its module with symbols, and to an artifact of that."""
    text, path = str(tmp_path / "tiny.mlir"), tmp_path / "tiny.convoy"
    command = ["compile", MODEL, "--dynamic", "x:0=batch:1..8", "--compile-to", "tcp"]
    assert main([*command, "-o", "-"]) == 0
    assert 'symbol_name = "batch"' in capsys.readouterr().out
    assert main([*command, "-o", text]) == 0
    command = ["compile", text, "--compile-from", "tcp", "--points", "batch=1,4", "--no-weights"]
    assert main([*command, "--target", "cpu", "-o", str(path)]) == 0
    assert "batch: 1 to 8; points 1, 4; padded between points" in capsys.readouterr().out
    module, (x,), _ = build_model(MODEL)
    with convoy_runtime.load(path) as program:
        program.load_weights(module.state_dict())
        for batch in (1, 3, 4):
            given = torch.randn(batch, *x.shape[1:])
            torch.testing.assert_close(program(given), module(given), rtol=1e-4, atol=1e-5)


def test_module_with_symbols_of_an_exported_program(tmp_path: Path) -> None:
    module, (x,), _ = build_model(MODEL)
    batch = torch.export.Dim("batch", min=2, max=8)
    program = torch.export.export(module, (x.repeat(2, 1, 1, 1),), dynamic_shapes=({0: batch},))
    torch.export.save(program, tmp_path / "tiny.pt2")
    path = tmp_path / "tiny.mlir"
    assert (
        main(["compile", str(tmp_path / "tiny.pt2"), "--compile-to", "tcp", "-o", str(path)]) == 0
    )
    assert "max_val = 8 : i64, min_val = 2 : i64" in path.read_text()
    assert "tensor<?x3x16x16xf32>" in path.read_text()


def test_model_without_a_module_with_symbols(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.py").write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        "        return x / (x.shape[0] + 2)\n\n\ndef build():\n"
        "    return Model().eval(), (torch.randn(2, 3),)\n"
    )
    command = ["compile", f"{tmp_path / 'model.py'}:build", "--dynamic", "x:0=batch:1..8"]
    assert main([*command, "--compile-to", "tcp", "-o", str(tmp_path / "model.mlir")]) == 1
    printed = capsys.readouterr().err
    assert "the model has no module with symbols as sizes: 'arith.constant' at " in printed
    assert "model.py:6: has a 'value' that depends on the sizes: " in printed
    assert "leave --compile-to out, and --dump-phases writes them" in printed
    assert not (tmp_path / "model.mlir").exists()


def test_refused_points(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(artifact), "--point", "batch=3"]) == 1
    assert "has no such point: expected one of: batch=1, batch=4" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["inspect", str(artifact), "--point", "batch"])
    assert "expected NAME=N,..." in capsys.readouterr().err
    assert main(["inspect", str(artifact), "--ptx"]) == 1
    assert "--ptx requires --point" in capsys.readouterr().err
