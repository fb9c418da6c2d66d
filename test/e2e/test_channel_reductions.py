"""Ops on the CPU whose time is in short rows of channels, against PyTorch in float64: poolings and means
of pixels, channel shuffles, and products with activations."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from vector_cpus import CPUS

import convoy

POOLS: dict[str, nn.Module] = {
    "max": nn.MaxPool2d(3, 2, 1),
    "max, dilation": nn.MaxPool2d(2, 1, dilation=2),
    "max, 3-D": nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
    "mean": nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    "mean of all pixels": nn.AdaptiveAvgPool2d(1),
    "mean of parts": nn.AdaptiveAvgPool2d((3, 2)),
}


class Shuffle(nn.Module):
    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, channels, h, w = x.shape
        x = x.view(n, self.groups, channels // self.groups, h, w).transpose(1, 2)
        return x.reshape(n, channels, h, w)


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("channels", [3, 8, 24, 41, 130])
@pytest.mark.parametrize("pool", POOLS)
def test_pools(pool: str, channels: int, cpu: str) -> None:
    torch.manual_seed(0)
    module = POOLS[pool].eval()
    size = (4, 13, 15) if isinstance(module, nn.MaxPool3d) else (27, 30)
    x = torch.randn(2, channels, *size).to(
        memory_format=torch.channels_last_3d if len(size) == 3 else torch.channels_last
    )
    got = convoy.compile(module, (x,), target="cpu", cpu=cpu)(x)
    torch.testing.assert_close(got.double(), module(x.double()), rtol=2e-6, atol=2e-6)


@torch.no_grad()
def test_max_of_numbers_that_are_not_finite() -> None:
    torch.manual_seed(0)
    pool, x = nn.MaxPool2d(3, 2, 1).eval(), torch.randn(1, 24, 20, 20)
    x[0, 3, 4, 4], x[0, 20, 9, 9], x[0, 7], x[0, 8] = torch.nan, torch.inf, -torch.inf, -0.0
    x = x.to(memory_format=torch.channels_last)
    got = convoy.compile(pool, (x,), target="cpu")(x)
    torch.testing.assert_close(got, pool(x), rtol=0, atol=0, equal_nan=True)


@torch.no_grad()
@pytest.mark.parametrize("groups", [2, 3, 4, 8])
@pytest.mark.parametrize("size", [(1, 48, 28, 28), (2, 240, 7, 7)])
def test_shuffles(size: tuple[int, ...], groups: int) -> None:
    torch.manual_seed(0)
    module, x = Shuffle(groups).eval(), torch.randn(size)
    x = x.to(memory_format=torch.channels_last)
    got = convoy.compile(module, (x,), target="cpu")(x)
    assert torch.equal(got, module(x))


@torch.no_grad()
@pytest.mark.parametrize("cpu", ["native", "x86-64"])
@pytest.mark.parametrize("rows", [1, 49, 197])
@pytest.mark.parametrize("features", [64, 96, 1024])
def test_products_with_activations(features: int, rows: int, cpu: str, tmp_path: Path) -> None:
    """The activation is the epilogue of the product with a packed factor."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(256, features), nn.GELU(), nn.Linear(features, 64)).eval()
    x = torch.randn(1, rows, 256)
    model = convoy.compile(module, (x,), target="cpu", cpu=cpu, dump_phases=tmp_path)
    got, wanted = model(x), module.double()(x.double())
    torch.testing.assert_close(got.double(), wanted, rtol=2e-5, atol=2e-5)
    (plan,) = tmp_path.glob("model.*.plan.mlir")
    assert plan.read_text().count("scf.execute_region") == 2
