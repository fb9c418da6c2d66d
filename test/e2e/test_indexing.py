# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Indices and divisors for which PyTorch raises an error: nothing is read out of bounds, no signal
is raised, and the result is the documented one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy

_INDICES = torch.tensor([1, -1, 3, 2, 2**40, -(2**62)])
_VALID = [True, False, False, True, False, False]


class _Select(nn.Module):
    def forward(self, x: Tensor, i: Tensor) -> Tensor:
        return x.index_select(0, i)


class _Gather(nn.Module):
    def forward(self, x: Tensor, i: Tensor) -> Tensor:
        return x[:, 0].gather(0, i)


@pytest.mark.parametrize("module", [_Select, _Gather])
@pytest.mark.parametrize(
    ("dtype", "filled"),
    [
        (torch.float32, float("nan")),
        (torch.int64, -(2**63)),
        (torch.int8, -128),
        (torch.bool, False),
    ],
    ids=str,
)
def test_index_out_of_range(module: type[nn.Module], dtype: torch.dtype, filled: float) -> None:
    x = torch.ones(3, 4).to(dtype)
    model = convoy.compile(module().eval(), (x, torch.zeros(6, dtype=torch.int64)), target="cpu")
    got = model(x, _INDICES)
    for row, valid in zip(got, _VALID, strict=True):
        expected = torch.full_like(row, 1 if valid else filled)
        torch.testing.assert_close(row, expected, rtol=0, atol=0, equal_nan=True)


class _Divide(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return x // y, x % y


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8], ids=str)
def test_integer_division_raises_no_signal(dtype: torch.dtype) -> None:
    low = torch.iinfo(dtype).min
    x = torch.tensor([7, -7, low, low, 0], dtype=dtype)
    y = torch.tensor([0, 0, -1, 0, 0], dtype=dtype)
    model = convoy.compile(_Divide().eval(), (x, torch.ones_like(y)), target="cpu")
    quotient, rest = model(x, y)
    assert quotient[2] == low
    assert rest[2] == 0
    assert (rest[y == 0] == x[y == 0]).all()
