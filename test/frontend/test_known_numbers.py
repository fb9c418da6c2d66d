# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Branches on values that do not depend on inputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.errors import ExportError


def _positions(x: Tensor) -> Tensor:
    positions = torch.arange(x.shape[1]).unsqueeze(0) + torch.tensor([2])
    return x * 2 if positions.max() + 1 > 5 else x * 3


def _written(x: Tensor) -> Tensor:
    mask = torch.ones(x.shape)
    first = mask[0]
    first.fill_(0)
    mask[1:, 1] = 4
    return x + 1 if mask.sum().item() == 4 else x - 1


def _several(x: Tensor) -> Tensor:
    lengths = torch.tensor([1, 2])
    kept = torch.split(lengths.cumsum(0), 1)
    parts = [x[:, : int(each)] for each in kept]
    if torch.equal(lengths, torch.tensor([1, 2])) and not lengths.eq(3).any():
        parts.append(x * lengths.tolist()[1])
    return torch.cat(parts, 1)


def _counted(x: Tensor) -> Tensor:
    count = torch.zeros(())
    while count < 3:
        count += 1
        x = x + count
    return x


@pytest.mark.parametrize("function", [_positions, _written, _several, _counted])
def test_branches_on_what_the_model_makes(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(2, 4)
    model = convoy.compile(Function(function).eval(), (x,), target="cpu")
    torch.testing.assert_close(model(x), function(x))


def _input_is_written(x: Tensor) -> Tensor:
    mask = torch.zeros(x.shape)
    mask[0].copy_(x[0])
    return x if mask.sum() > 0 else -x


def _input_is_added(x: Tensor) -> Tensor:
    total = torch.zeros(())
    total += x.sum()
    return x if total > 0 else -x


def _random(x: Tensor) -> Tensor:
    return x if torch.rand(()) > 0.5 else -x


@pytest.mark.parametrize("function", [_input_is_written, _input_is_added, _random])
def test_branches_on_other_values(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(ExportError, match="control flow or shapes that depend on the values"):
        convoy.compile(Function(function).eval(), (torch.ones(2, 4),), target="cpu")


class Weighted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("limit", torch.tensor(3.0))

    def forward(self, x: Tensor) -> Tensor:
        return x if self.limit > 2 else -x


def test_weights_are_not_known() -> None:
    """Other weights can be loaded."""
    with pytest.raises(ExportError, match="control flow or shapes that depend on the values"):
        convoy.compile(Weighted().eval(), (torch.ones(2),), target="cpu")
