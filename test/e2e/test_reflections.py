"""QR and singular value decompositions on the CPU of matrices whose columns have any size."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy


class _Reflections(nn.Module):
    """The factors for matrices of the sizes of `scales`, with columns of size 1."""

    def __init__(self, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("scales", scales)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, r = torch.linalg.qr(x * self.scales)
        return q, r / self.scales


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scales", [[1e-30] * 4, [1e30] * 4, [1e-30, 1e30, 1.0, 1e-20]])
def test_sizes_whose_squares_are_no_numbers(scales: list[float], dtype: torch.dtype) -> None:
    """Squares of columns underflow or overflow."""
    exponent = 1 if dtype == torch.float32 else 6
    x = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    module = _Reflections(torch.tensor(scales, dtype=torch.float64).pow(exponent).to(dtype)).eval()
    got = convoy.compile(module, (x,), target="cpu")(x)
    for one, expected in zip(got, module(x), strict=True):
        torch.testing.assert_close(one, expected)


def test_singular_vectors_of_tiny_columns() -> None:
    """After the rotations, columns that depend on others have any tiny size."""
    x = torch.ones(5, 5)
    y = torch.outer(torch.arange(1.0, 6.0), torch.arange(1.0, 6.0)) * 1e-3
    compiled = convoy.compile(_Singular().eval(), (x,), target="cpu")
    for given in (x, y, 1e-19 * y, 1e19 * y):
        left, values, right = compiled(given)
        product = (left * (values / given.max())) @ right
        torch.testing.assert_close(product, given / given.max(), rtol=0, atol=1e-6)
        for vectors in (left, right):
            torch.testing.assert_close(vectors.mT @ vectors, torch.eye(5), rtol=0, atol=1e-6)


class _Singular(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return torch.linalg.svd(x)
