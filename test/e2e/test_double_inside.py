# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that are computed in float64 inside have their accuracy in every compute type."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy


class _Functions(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return torch.fmod(x, y), x % y, torch.lgamma(x), torch.digamma(x), torch.special.i1e(x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_accuracy(dtype: str) -> None:
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    # Numbers of every compute type, so that rounding the inputs changes nothing.
    x, y = (torch.randn(64).mul(scale).bfloat16().half().float() for scale in (9, 0.7))
    model = _Functions().eval()
    got = convoy.compile(model, (x, y), target="cpu", dtype=dtype)(x, y)
    for result, exact in zip(got, model(x.double(), y.double()), strict=True):
        epsilon = torch.finfo(kind).eps
        # At a pole, PyTorch's digamma is NaN or infinite.
        poles = ~torch.isfinite(exact)
        assert not bool(torch.isfinite(result[poles]).any())
        torch.testing.assert_close(
            result[~poles].double(), exact[~poles], rtol=epsilon, atol=1e-3 * epsilon
        )
