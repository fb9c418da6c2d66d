"""Products with packed right factors on the CPU, against PyTorch in float64."""

from __future__ import annotations

import pytest
import torch
from vector_cpus import VECTOR_CPUS

import convoy


class Twice(torch.nn.Module):
    """One weight in two products."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(24, columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight) + (x * 2) @ self.weight


#: Multiples of a block, a rest of one column, a rest that is wider than a register, and fewer columns
#: than are split.
COLUMNS = (64, 4096, 4097, 8211, 100)


@torch.no_grad()
@pytest.mark.parametrize("cpu", VECTOR_CPUS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_products(columns: int, cpu: str) -> None:
    torch.manual_seed(0)
    models: list[torch.nn.Module] = [
        torch.nn.Linear(24, columns, bias=False),
        torch.nn.Sequential(torch.nn.Linear(24, columns), torch.nn.GELU()),
        Twice(columns),
    ]
    for module in models:
        for rows in (1, 33):
            x = torch.randn(rows, 24)
            got = convoy.compile(module.eval(), (x,), target="cpu", cpu=cpu)(x)
            wanted = module.double()(x.double())
            module.float()
            torch.testing.assert_close(got.double(), wanted, rtol=1e-5, atol=1e-5)
