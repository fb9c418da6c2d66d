"""What `convoy-fuse-shared` fuses has the same results, bit for bit. It applies to `cuda`, so the
test runs the pass on the program of a CPU, and that program on the CPU."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from op_cases import Function
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module

_TOOL = Path(os.environ.get("CONVOY_OPT", Path(__file__).parents[3] / "build/bin/convoy-opt"))


def _lstm(gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    first, forget, new, last = gates.chunk(4, 1)
    cell = forget.sigmoid() * state + first.sigmoid() * new.tanh()
    return cell, last.sigmoid() * cell.tanh()


def _chain(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    one = x[:, :7] * y
    two = one + y
    return one, two, two.relu() - y


def _fused(text: str) -> str:
    done = subprocess.run(
        [_TOOL, "--convoy-fuse-shared", "--canonicalize"],
        input=text.replace('tcp.target = "cpu"', 'tcp.target = "cuda"'),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace('tcp.target = "cuda"', 'tcp.target = "cpu"')


@pytest.mark.skipif(not _TOOL.exists(), reason="convoy-opt is not built")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [_lstm, _chain])
def test_results_are_the_same(function, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(5, 28, dtype=dtype), torch.randn(5, 7, dtype=dtype))
    options = convoy.CompileOptions(target="cpu")
    imported = import_module(Function(function).eval(), inputs)
    apart = compile_imported(imported, options)
    text = _fused(apart.phases["linalg"])
    assert text.count("linalg.generic") == 1 < apart.phases["linalg"].count("linalg.generic")
    together = compile_imported(replace(imported, text=text), options, phase="linalg")
    for one, other in zip(apart.load()(*inputs), together.load()(*inputs), strict=True):
        assert torch.equal(one, other)
