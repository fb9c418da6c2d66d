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
        (torch.uint8, 128),
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


class _Scatter(nn.Module):
    def forward(self, x: Tensor, i: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
        return x.index_copy(0, i, u), x.index_add(0, i, u)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_update_out_of_range_has_no_effect(dtype: torch.dtype) -> None:
    x, u = torch.ones(3, 4).to(dtype), torch.arange(24).reshape(6, 4).to(dtype)
    example = (x, torch.zeros(6, dtype=torch.int64), u)
    model = convoy.compile(_Scatter().eval(), example, target="cpu")
    valid = torch.tensor(_VALID)
    expected = _Scatter()(x, _INDICES[valid], u[valid])
    for got, wanted in zip(model(x, _INDICES, u), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0)


def test_last_update_of_an_element_remains() -> None:
    """PyTorch does not define which one remains for aten.scatter."""
    x, indices = torch.zeros(2, 5), torch.tensor([[4, 4, 0, 4, 1], [1, 1, 1, 1, 1]])
    u = torch.arange(1.0, 11).reshape(2, 5)
    model = convoy.compile(_ScatterRows().eval(), (x, indices, u), target="cpu")
    expected = torch.tensor([[3.0, 5, 0, 0, 4], [0, 10, 0, 0, 0]])
    torch.testing.assert_close(model(x, indices, u), expected, rtol=0, atol=0)


class _ScatterRows(nn.Module):
    def forward(self, x: Tensor, i: Tensor, u: Tensor) -> Tensor:
        return x.scatter(1, i, u)


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
