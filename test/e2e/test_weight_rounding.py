"""Batch norms whose scale is near 1, folded into weights of 16 bits: rounding has no bias."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy


def _gain(module: nn.Module, x: Tensor, wanted: Tensor) -> float:
    """The scale of the results in relation to the wanted ones, by least squares."""
    got = convoy.compile(module, (x,), target="cpu")(x).double()
    return (got * wanted).sum().item() / (wanted * wanted).sum().item()


@pytest.mark.parametrize(
    ("dtype", "eps"),
    [
        # Rounded to nearest, the results are 9.8e-4 too small, 4.0e-4 and 1.9e-3 too large.
        (torch.float16, 1e-3),
        (torch.float16, 2e-4),
        (torch.bfloat16, 1e-3),
        # The products are rounded back to the weights: an error of 2e-5.
        (torch.float16, 1e-5),
    ],
)
def test_layers_are_not_too_small(dtype: torch.dtype, eps: float) -> None:
    torch.manual_seed(0)
    layers = [
        layer
        for _ in range(4)
        for layer in (
            nn.Conv2d(64, 64, 3, padding=1, bias=False),
            nn.BatchNorm2d(64, eps=eps),
        )
    ]
    module = nn.Sequential(*layers).eval().to(dtype)
    x = torch.randn(1, 64, 12, 12).to(dtype)
    with torch.no_grad():
        wanted = module.double()(x.double())
    tolerance = 1.5e-4 if dtype == torch.float16 else 1e-3
    assert abs(_gain(module.to(dtype), x, wanted) - 1) < tolerance
