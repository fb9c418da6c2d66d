# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes to views whose dims are in another order than in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_exported

_MASK = (torch.arange(20) % 3 > 0).repeat(2, 1)
_PLACES = torch.tensor([3, 0])


def _heads(x: Tensor) -> Tensor:
    """As einops' rearrange(x, "b n (h d) -> b h n d")."""
    return x.view(2, 20, 2, 8).transpose(1, 2)


def _masked(x: Tensor) -> Tensor:
    """As Performer masks its values."""
    v = _heads(x * 2)
    v.masked_fill_(~_MASK[:, None, :, None], 0.0)
    return v


def _below(x: Tensor) -> tuple[Tensor, Tensor]:
    """The tensor below the view has the values, too."""
    y = x * 2
    _heads(y).masked_fill_(_MASK[:, None, :, None], torch.tensor(1.0))
    _heads(y).permute(3, 0, 1, 2)[2:4].cumsum_(1)
    return y, y.sum(1)


def _read_later(x: Tensor) -> tuple[Tensor, Tensor]:
    v = _heads(x + 1)
    before = v.clone()
    w = v.tril_().mul_(2.0)
    v.index_add_(2, _PLACES, x.new_ones(2, 2, 2, 8))
    return w - before, v


@pytest.mark.parametrize(
    "function",
    [
        _masked,
        _below,
        _read_later,
        lambda x: _heads(x * 2).masked_scatter_(_heads(x) > 0, torch.arange(640, dtype=x.dtype)),
        lambda x: _heads(x * 2).scatter_(2, _PLACES[:, None, None, None].expand(2, 2, 1, 8), 0.5),
        lambda x: _heads((x * 9).int()).clamp_(max=3).cumprod_(3),
    ],
)
def test_writes_through_the_order_of_dims(function: Callable[[Tensor], object]) -> None:
    x = torch.randn(2, 20, 16, generator=torch.Generator().manual_seed(2))
    check(Function(function), x)


def test_the_program_of_the_user_is_unchanged() -> None:
    program = torch.export.export(Function(_masked).eval(), (torch.ones(2, 20, 16),))
    import_exported(program)
    (node,) = (node for node in program.graph.nodes if "masked_fill" in node.name)
    assert node.target is torch.ops.aten.masked_fill_.Scalar
