# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models that convert modules while they run."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy


class _Router(nn.Module):
    """A router that computes in a type of its own, as those of mixtures of experts."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

    def forward(self, x: Tensor) -> Tensor:
        self.layers = self.layers.to(self.dtype)
        return self.layers(x.to(self.dtype)).to(x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["same", "narrower"])
def test_converted_modules(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    router = _Router(dtype).eval()
    weight = router.layers[0].weight
    model = convoy.compile(router, (torch.randn(3, 4),), target="cpu")
    assert router.layers[0].weight is weight
    assert weight.dtype == torch.float32
    assert [spec.name for spec in model.manifest.weights][:1] == ["layers.0.weight"]
    for seed in range(2):
        torch.manual_seed(seed)
        x = torch.randn(3, 4)
        with torch.no_grad():
            exact = _Router(torch.float64).eval()
            exact.load_state_dict(router.double().state_dict())
            expected = exact(x.double())
        router.float()
        bound = 1e-6 if dtype == torch.float32 else 4e-3
        torch.testing.assert_close(model(x).double(), expected, rtol=bound, atol=bound)
