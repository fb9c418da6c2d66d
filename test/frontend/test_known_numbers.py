# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Branches on values that do not depend on inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
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


def _found(x: Tensor) -> Tensor:
    places = torch.tensor([0, 3, 0, 4]).nonzero()[:, 0]
    assert len(places) == 2
    places -= 1
    for place in places:
        x = x + place if place > 0 else x * 2
    return x[:, places] + torch.unique(places + 1).sum()


def _counted(x: Tensor) -> Tensor:
    count = torch.zeros(())
    while count < 3:
        count += 1
        x = x + count
    return x


_BETAS = torch.linspace(0.1, 0.2, 8)


def _scheduled(x: Tensor) -> Tensor:
    """As a scheduler of diffusers: a table that is made by numpy, and its places by tensors."""
    sigmas = (((1 - _BETAS) / _BETAS) ** 0.5).numpy()
    sigmas[0] = 3
    table = torch.from_numpy(sigmas.astype(np.float32))
    times = torch.from_numpy(np.linspace(0, 7, 3).round().astype(np.int64))
    for time in times:
        places = (times == time).nonzero()
        place = places[1 if len(places) > 1 else 0].item()
        x = x * table[time] + (place if time > 2 else -place)
    return x + torch.tensor([1.0, 2.0]).__array__().sum()


@pytest.mark.parametrize("function", [_positions, _written, _several, _found, _counted, _scheduled])
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
