"""Grouped convolutions on the CPU, against PyTorch in float64: packed, by Winograd's algorithm, and with
groups of few channels, with the ops after them as epilogues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from vector_cpus import CPUS

import convoy

#: Groups, input and output channels of each, rows, columns, and options of the convolution.
SHAPES: dict[str, tuple[int, int, int, int, int, dict[str, Any]]] = {
    "two groups": (2, 32, 64, 16, 17, {"padding": 1}),
    "three groups": (3, 48, 32, 13, 14, {"padding": 1}),
    "many channels": (2, 128, 256, 14, 14, {"padding": 1}),
    "stride": (2, 32, 32, 15, 16, {"padding": 1, "stride": 2}),
    "dilation": (2, 16, 64, 15, 16, {"padding": 2, "dilation": 2}),
    "1x1": (4, 16, 32, 9, 11, {"kernel_size": 1}),
    "large window": (2, 16, 32, 12, 13, {"kernel_size": 5, "padding": 2}),
    "large filter": (2, 256, 256, 7, 7, {"padding": 1}),
    "rest of a block": (2, 20, 40, 9, 10, {"padding": 1}),
    "three vectors": (3, 24, 24, 14, 14, {"padding": 1}),
    "three vectors and a rest": (2, 12, 36, 9, 17, {"padding": 1, "stride": 2}),
    "a rest of one vector": (2, 12, 56, 5, 23, {"padding": 1}),
    "few channels": (8, 4, 4, 12, 12, {"padding": 1}),
    "other numbers of channels": (5, 3, 7, 9, 10, {"padding": 1}),
    "one row of pixels": (2, 32, 32, 1, 130, {"padding": 1}),
}


class Block(nn.Module):
    """A grouped convolution with a bias for each channel, a residual and an activation."""

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        self.conv = conv
        self.norm = nn.BatchNorm2d(conv.out_channels)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x)) + residual)


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str, cpu: str) -> None:
    torch.manual_seed(0)
    groups, inputs, outputs, rows, columns, options = SHAPES[shape]
    options = {"kernel_size": 3, "bias": False} | options
    conv = nn.Conv2d(groups * inputs, groups * outputs, groups=groups, **options)
    block = Block(conv).eval()
    for parameter in (block.norm.running_mean, block.norm.bias):
        nn.init.normal_(parameter)
    for batch in (1, 3):
        x = torch.randn(batch, groups * inputs, rows, columns)
        residual = torch.randn_like(conv(x))
        model = convoy.compile(block, (x, residual), target="cpu", cpu=cpu)
        got = model(x, residual)
        wanted = block.double()(x.double(), residual.double())
        block.float()
        torch.testing.assert_close(got.double(), wanted, rtol=2e-5, atol=2e-5)


@torch.no_grad()
def test_code(tmp_path: Path) -> None:
    """Winograd's algorithm computes 3x3 convolutions of wide groups, and no loop follows them."""
    torch.manual_seed(0)
    block = Block(nn.Conv2d(64, 64, 3, padding=1, groups=2, bias=False)).eval()
    x = torch.randn(1, 64, 16, 16).to(memory_format=torch.channels_last)
    convoy.compile(block, (x, x), target="cpu", dump_phases=tmp_path)
    (plan,) = tmp_path.glob("model.*.plan.mlir")
    (host,) = tmp_path.glob("model.*.host.mlir")
    assert plan.read_text().count("scf.execute_region") == 1
    assert host.read_text().count("memref.alloca") == 3


@torch.no_grad()
@pytest.mark.parametrize("value", [torch.inf, torch.nan, 3e38])
def test_results_that_are_not_finite(value: float) -> None:
    """Such an input reaches only the outputs of its group whose window contains it."""
    torch.manual_seed(0)
    conv = nn.Conv2d(64, 64, 3, padding=1, groups=2).eval()
    conv.weight.abs_().add_(0.01)
    x = torch.rand(1, 64, 16, 17)
    x[0, 40, 5, 6] = value
    got, wanted = convoy.compile(conv, (x,), target="cpu")(x), conv(x)
    torch.testing.assert_close(got, wanted, rtol=2e-5, atol=2e-5, equal_nan=True)
    assert got[:, :32].isfinite().all()
