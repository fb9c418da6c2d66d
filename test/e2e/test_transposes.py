"""Transposes on the CPU, which iterate over blocks, next to PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import convoy

#: Shape and order of dims: whole blocks, partial blocks, dims that are shorter than a block, one task
#: and many.
CASES = (
    ((1, 64, 32, 48), (0, 2, 3, 1)),
    ((2, 17, 33, 50), (0, 3, 1, 2)),
    ((130, 75), (1, 0)),
    ((7, 9, 8), (2, 1, 0)),
    ((3, 20, 5, 40), (3, 2, 1, 0)),
    ((1, 16), (1, 0)),
    # Neighbours of the input are in a dim that is shorter than a block.
    ((144, 40, 4), (2, 1, 0)),
    ((33, 20, 2), (2, 1, 0)),
)


class Permuted(nn.Module):
    """The order of dims, in an op with a second operand in the order of the result."""

    def __init__(self, order: tuple[int, ...]) -> None:
        super().__init__()
        self.order = order

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        moved = x.permute(self.order)
        columns = torch.arange(moved.shape[-1], device=x.device)
        return moved.contiguous(), (moved * columns).contiguous(), moved != 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_transposes(shape: tuple[int, ...], order: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = (torch.randn(shape) * 4).to(dtype)
    module = Permuted(order).eval()
    for got, wanted in zip(convoy.compile(module, (x,), target="cpu")(x), module(x), strict=True):
        assert torch.equal(got, wanted)
