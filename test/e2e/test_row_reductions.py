"""Reductions of contiguous elements on the CPU, in vectors of partial results, against PyTorch in
float64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from vector_cpus import CPUS

import convoy

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "max": lambda x: x.amax(-1),
    "min": lambda x: x.amin(-1),
    "sum": lambda x: x.sum(-1),
    "mean of squares": lambda x: (x * x).mean(-1, keepdim=True),
    "sum of two dims": lambda x: x.sum((-2, -1)),
    "sum of separate dims": lambda x: x.sum((0, -1)),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer norm": lambda x: nn.functional.layer_norm(x, x.shape[-1:]),
    "variance": lambda x: x.var(-1, unbiased=False),
}


class Reduced(nn.Module):
    def __init__(self, reduction: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, x: Tensor) -> Tensor:
        return self.reduction(x)


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("length", [3, 8, 15, 49, 64, 130, 517])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_rows(reduction: str, length: int, cpu: str) -> None:
    torch.manual_seed(0)
    module = Reduced(REDUCTIONS[reduction]).eval()
    for shape in ((2, 3, length), (3, 120, length)):
        x = torch.randn(shape)
        got = convoy.compile(module, (x,), target="cpu", cpu=cpu)(x)
        torch.testing.assert_close(got.double(), module(x.double()), rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("reduction", ["max", "min", "sum"])
def test_numbers_that_are_not_finite(reduction: str) -> None:
    torch.manual_seed(0)
    module, x = Reduced(REDUCTIONS[reduction]).eval(), torch.randn(400, 49)
    x[3, 4], x[5, 48], x[6, 20], x[7], x[8] = torch.nan, torch.nan, torch.inf, -torch.inf, torch.inf
    got = convoy.compile(module, (x,), target="cpu")(x)
    torch.testing.assert_close(got, module(x), rtol=1e-5, atol=1e-5, equal_nan=True)


def test_rows_are_vectors(tmp_path: Path) -> None:
    module, x = Reduced(REDUCTIONS["max"]).eval(), torch.randn(400, 49)
    convoy.compile(module, (x,), target="cpu", dump_phases=tmp_path)
    (host,) = tmp_path.glob("model.*.host.mlir")
    assert "vector.reduction <maximumf>" in host.read_text()
