"""Norms of interleaved rows, whose parts are sums of differences from their first elements, compared
with float64. The parts are for `cuda`; the test lowers to linalg for it, and runs that on the CPU."""

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

_PASSES = (
    "--convert-tcp-to-linalg",
    "--convoy-fuse-elementwise",
    "--convoy-split-reductions",
    "--canonicalize",
    "--convoy-expand-math",
)
_NORM = """
module attributes {{tcp.target = "cuda"}} {{
  func.func @main(%x: tensor<{shape}xf32> {{tcp.input = "x"}}) -> (tensor<{shape}xf32> {{tcp.output = "0"}})
      attributes {{tcp.target = "cuda"}} {{
    %0 = tcp.layer_norm %x {{dims = array<i64: 1, 2>, epsilon = 1.0e-5 : f64}} : tensor<{shape}xf32> -> tensor<{shape}xf32>
    return %0 : tensor<{shape}xf32>
  }}
}}
"""


def _far(x: Tensor) -> Tensor:
    return x + 300


def _outlier(x: Tensor) -> Tensor:
    """The first elements, which the differences are from, are far from all others."""
    x[:, 0, 0] = 1e4
    return x


#: With the largest error. A mean of 300 has a rounding of 1.5e-5; the sums of a part of 256 elements
#: with an outlier multiply a few roundings by 256.
_CHANGES = ((torch.abs, 2e-6), (_far, 6e-5), (_outlier, 2.0**-24 * 256 * 8), (torch.zeros_like, 0))


@pytest.mark.parametrize(("change", "bound"), _CHANGES)
@pytest.mark.parametrize("shape", [(1, 64, 48, 20), (2, 45, 77, 7)])
def test_statistics_are_exact(shape, change, bound: float, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    x = change(torch.randn(shape))
    imported = import_module(Function(torch.relu).eval(), (x,))
    options = convoy.CompileOptions(target="cpu")
    text = convoy_opt(_NORM.format(shape="x".join(map(str, shape))), *_PASSES)
    assert "tensor.extract_slice" in text
    text = text.replace('tcp.target = "cuda"', 'tcp.target = "cpu"')
    found = compile_imported(replace(imported, text=text), options, phase="linalg").load()(x)
    wide = x.double()
    expected = torch.nn.functional.instance_norm(wide.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    scale = max(1.0, float(expected.abs().max()))
    error = float((found.double() - expected).abs().max()) / scale
    assert error <= bound
