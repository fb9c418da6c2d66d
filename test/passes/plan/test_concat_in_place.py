"""What kernels write into the concats that read it is the same, bit for bit. `plan-concat-in-place`
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
)
_AFTER = ("--canonicalize", "--plan-arena", "--collect-manifest")


def _pools(x: Tensor) -> Tensor:
    """Each pool reads the slice of the one before, and the concat copies the input between."""
    y = F.max_pool2d(x, 3, 1, 1)
    z = F.max_pool2d(y, 3, 1, 1)
    return torch.cat([y, x, z, F.max_pool2d(z, 3, 1, 1)], 1)


def _resizes(x: Tensor) -> Tensor:
    return torch.cat(
        [F.interpolate(part, size=(9, 11), mode="bilinear") for part in (x, torch.relu(x))], 1
    )


def _rows(x: Tensor) -> Tensor:
    rows = x.permute(0, 2, 3, 1)
    return torch.cat([rows.softmax(3).amax(3, keepdim=True), rows.tanh(), rows], 3)


def _reshaped(x: Tensor) -> Tensor:
    parts = [F.max_pool2d(x, 2).flatten(2), F.max_pool2d(x, 3).flatten(2)]
    return torch.cat(parts, 2).transpose(1, 2).contiguous()


def _nested(x: Tensor) -> tuple[Tensor, Tensor]:
    """The inner result is a slice of the outer one."""
    inner = torch.cat([F.max_pool2d(x, 3, 1, 1), x], 3)
    return torch.cat([inner, F.avg_pool2d(inner, 3, 1, 1)], 1), inner.mean((2, 3))


def _repeated(x: Tensor) -> tuple[Tensor, Tensor]:
    y = F.max_pool2d(x, 3, 1, 1)
    return torch.cat([y, x, y], 0), y + 1


#: The subviews of results.
_FUNCTIONS = {_pools: 4, _resizes: 2, _rows: 3, _reshaped: 2, _nested: 4, _repeated: 2}


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(2, 3, 6, 8).to(memory_format=torch.channels_last),)
    options = convoy.CompileOptions(target="cpu")
    imported = import_module(Function(function).eval(), inputs)
    plain = compile_imported(imported, options)
    text = plain.phases["normalize"].replace('tcp.target = "cpu"', 'tcp.target = "cuda"')
    copied = convoy_opt(text, *_BEFORE)
    placed = convoy_opt(copied, "--plan-concat-in-place")
    assert placed.count("memref.subview") - copied.count("memref.subview") == _FUNCTIONS[function]
    results = []
    for planned in (copied, placed):
        text = convoy_opt(planned.replace('tcp.target = "cuda"', 'tcp.target = "cpu"'), *_AFTER)
        got = compile_imported(replace(imported, text=text), options, phase="plan").load()(*inputs)
        results.append(got if isinstance(got, tuple) else (got,))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)
    expected = function(*inputs)
    for one, other in zip(
        expected if isinstance(expected, tuple) else (expected,), results[1], strict=True
    ):
        torch.testing.assert_close(one, other)
