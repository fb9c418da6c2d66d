# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models of the command line: keyword inputs, .pt2 files, standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

import convoy_runtime
from convoy.cli.main import main
from convoy.cli.model_file import build_model

TINY = Path(__file__).parent / "Inputs" / "tiny.py"


def test_keyword_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.convoy")
    assert main(["compile", f"{TINY}:keywords", "--target", "cpu", "-o", path]) == 0
    assert main(["run", path, "--check", f"{TINY}:keywords"]) == 0
    assert "output y: float32 [2, 3]" in capsys.readouterr().out
    _, args, kwargs = build_model(f"{TINY}:keywords")
    with convoy_runtime.load(path) as program:
        result = program(*args, **kwargs)
    torch.testing.assert_close(result["y"], args[0] * 2)
    assert result["scale"] == 2.0
    assert main(["bisect", f"{TINY}:keywords", "--target", "cpu"]) == 1
    assert "expected positional inputs that are tensors" in capsys.readouterr().err


def test_pt2_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, args, _ = build_model(f"{TINY}:tiny")
    file, path = str(tmp_path / "tiny.pt2"), str(tmp_path / "x.convoy")
    torch.export.save(torch.export.export(module, args), file)
    assert main(["compile", file, "--target", "cpu", "-o", path]) == 0
    with convoy_runtime.load(path) as program:
        torch.testing.assert_close(program(*args), module(*args).detach())
    assert main(["run", path, "--check", f"{TINY}:tiny"]) == 0
    assert main(["compile", str(tmp_path / "none.pt2"), "-o", path]) == 1
    assert "none.pt2: expected a file of torch.export.save" in capsys.readouterr().err


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
      func.func @main(%x: tensor<2x3xf32> {tcp.input = "x"}) -> (tensor<2x3xf32> {tcp.output = "y"}) {
        %y = tcp.maximum %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
        return %y : tensor<2x3xf32>
      }"""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    path = str(tmp_path / "x.convoy")
    assert main(["compile", "-", "--compile-from", "tcp", "--target", "cpu", "-o", path]) == 0
    with convoy_runtime.load(path) as program:
        assert program(torch.ones(2, 3)).sum() == 6
