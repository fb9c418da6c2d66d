"""Convolutions and products on the CPU whose channels are no whole blocks, with packed filters, against
PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from vector_cpus import CPUS

import convoy

#: A module, and its input for one batch.
MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "1x1": (lambda: nn.Conv2d(58, 58, 1), (58, 9, 11)),
    "3x3": (lambda: nn.Conv2d(20, 61, 3, padding=1), (20, 10, 9)),
    "stride": (lambda: nn.Conv2d(20, 90, 3, stride=2, padding=1), (20, 11, 12)),
    "one dim": (lambda: nn.Conv1d(20, 93, 3, padding=1), (20, 300)),
    "three dims": (lambda: nn.Conv3d(8, 60, 3, padding=1), (8, 4, 6, 7)),
    "product": (lambda: nn.Linear(40, 90), (70, 40)),
    "one row": (lambda: nn.Linear(40, 1000), (40,)),
    "many blocks": (lambda: nn.Linear(24, 4097), (5, 24)),
}


class Block(nn.Module):
    """A product, and the same product with a residual and an activation."""

    def __init__(self, product: nn.Module) -> None:
        super().__init__()
        self.product = product

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.product(x)
        return y, torch.relu(self.product(x * 2) + y)


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", MODULES)
def test_partial_blocks(name: str, cpu: str) -> None:
    torch.manual_seed(0)
    create, shape = MODULES[name]
    module = Block(create()).eval()
    for batch in (1, 3):
        x = torch.randn(batch, *shape)
        model = convoy.compile(module, (x,), target="cpu", cpu=cpu)
        wanted = module.double()(x.double())
        module.float()
        for got, expected in zip(model(x), wanted, strict=True):
            torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("name", MODULES)
def test_filters_are_packed(name: str, tmp_path: Path) -> None:
    create, shape = MODULES[name]
    module = create().eval()
    convoy.compile(
        module, (torch.randn(1, *shape),), target="cpu", cpu="x86-64-v3", dump_phases=tmp_path
    )
    (plan,) = tmp_path.glob("model.*.plan.mlir")
    assert " mod 16" in plan.read_text()
    (host,) = tmp_path.glob("model.*.host.mlir")
    assert "vector.fma" in host.read_text()
