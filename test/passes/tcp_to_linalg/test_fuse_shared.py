"""What `convoy-fuse-shared` fuses has the same results, bit for bit. It applies to `cuda`, so the
test runs the pass on the program of a CPU, and that program on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from op_cases import Function
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module


def _lstm(gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    first, forget, new, last = gates.chunk(4, 1)
    cell = forget.sigmoid() * state + first.sigmoid() * new.tanh()
    return cell, last.sigmoid() * cell.tanh()


def _chain(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    one = x[:, :7] * y
    two = one + y
    return one, two, two.relu() - y


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [_lstm, _chain])
def test_results_are_the_same(function, dtype: torch.dtype, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(5, 28, dtype=dtype), torch.randn(5, 7, dtype=dtype))
    options = convoy.CompileOptions(target="cpu")
    imported = import_module(Function(function).eval(), inputs)
    apart = compile_imported(imported, options)
    text = apart.phases["linalg"].replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    text = convoy_opt(text, "--convoy-fuse-shared", "--canonicalize")
    text = text.replace('tcp.target = "cuda"', 'tcp.target = "cpu"')
    assert text.count("linalg.generic") == 1 < apart.phases["linalg"].count("linalg.generic")
    together = compile_imported(replace(imported, text=text), options, phase="linalg")
    for one, other in zip(apart.load()(*inputs), together.load()(*inputs), strict=True):
        assert torch.equal(one, other)
