"""A kernel that writes its result into an operand computes the same, bit for bit. `plan-in-place`
applies to `cuda`, so the test runs the passes before it for `cuda`, and the result on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module

_BEFORE = (
    "--convert-tcp-to-linalg",
    "--convoy-fuse-elementwise",
    "--convoy-fuse-reads",
    "--convoy-fuse-shared",
    "--lower-affine",
    "--canonicalize",
    "--convoy-expand-math",
    "--plan-weight-origins",
    "--eliminate-empty-tensors",
    "--plan-bufferize",
    "--canonicalize",
    "--cse",
    "--plan-out-params",
    "--canonicalize",
)
_AFTER = ("--plan-arena", "--collect-manifest")


def _pooled(x: Tensor) -> Tensor:
    """The activation is in the first pooling's result."""
    return F.avg_pool2d(torch.tanh(F.avg_pool2d(x, 3, 1, 1)).exp().roll(1, 3), 2)


def _products(x: Tensor) -> Tensor:
    """The exponentials overwrite the scores, and the quotient the exponentials, after their sum."""
    y = torch.softmax(x @ x.transpose(2, 3), 3)
    return torch.tanh(y @ x) @ x.transpose(2, 3)


def _branches(x: Tensor) -> Tensor:
    """Both factors of the sum are dead after it, and a product reads the one before."""
    y = x @ x.transpose(2, 3)
    z = y.transpose(2, 3) @ y
    return (y + torch.relu(z)) @ x


def _kept(x: Tensor) -> Tensor:
    """The product is read again after the activation."""
    y = x @ x.transpose(2, 3)
    return torch.tanh(y) @ y


#: The buffers that are saved.
_FUNCTIONS = {_pooled: 1, _products: 3, _branches: 1, _kept: 0}


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(2, 3, 6, 8),)
    options = convoy.CompileOptions(target="cpu")
    imported = import_module(Function(function).eval(), inputs)
    plain = compile_imported(imported, options)
    text = plain.phases["normalize"].replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    apart = convoy_opt(text, *_BEFORE)
    placed = convoy_opt(apart, "--plan-in-place")
    assert apart.count("memref.alloc(") - placed.count("memref.alloc(") == _FUNCTIONS[function]
    results = []
    for planned in (apart, placed):
        text = convoy_opt(planned.replace('tcp.target = "cuda"', 'tcp.target = "cpu"'), *_AFTER)
        got = compile_imported(replace(imported, text=text), options, phase="plan").load()(*inputs)
        results.append(got)
    assert torch.equal(*results)
    torch.testing.assert_close(results[1], function(*inputs))
