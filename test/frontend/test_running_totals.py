# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Running totals of floats after rounding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy


class _Totals(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.cumsum(1), (1 + x / 1000).cumprod(1)


@pytest.mark.parametrize("count", [1, 2, 61, 1000])
def test_totals_never_fall(count: int) -> None:
    """Those of probabilities, and of what a state space model adds in each step. Zeros do not
    change a total, although its addends are in another order."""
    torch.manual_seed(0)
    x = torch.rand(2, count, 3) * 100
    x[:, count // 3 + 1 :] = 0
    sums, products = (
        torch.as_tensor(each) for each in convoy.compile(_Totals().eval(), (x,), target="cpu")(x)
    )
    exact = _Totals()(x.double())
    for total, expected in zip((sums, products), exact, strict=True):
        assert (total.diff(dim=1) >= 0).all()
        after = total[:, count // 3 :]
        assert torch.equal(after, after[:, :1].expand_as(after))
        torch.testing.assert_close(total.double(), expected, rtol=3e-5, atol=0)
