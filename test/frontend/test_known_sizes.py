"""Sizes that depend on the values of constants."""

from __future__ import annotations

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor, nn

from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module

_MASK = torch.ones(4, 4).triu(1).bool()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, _MASK],
        lambda x: x[:, _MASK].softmax(1),
        lambda x: torch.masked_select(x[0], _MASK),
        lambda x: torch.masked_select(x, _MASK).sum(),
        lambda x: x[(slice(None), *torch.where(_MASK))] * 2,
        lambda x: (x + 1, torch.nonzero(_MASK), torch.unique(torch.tensor([3, 1, 1]))),
        lambda x: x.repeat_interleave(torch.tensor([1, 3, 0, 2]), 1),
        lambda x: x[:, torch.zeros(4, dtype=torch.bool)].sum() + x,
        lambda x: x * torch.nonzero(_MASK).shape[0],
        lambda x: x.roll(torch.tensor(1).item(), 1),
    ],
)
def test_sizes_of_constants(function: object) -> None:
    check(Function(function).eval(), torch.arange(32.0).reshape(2, 4, 4))


def test_mask_is_a_buffer_that_is_not_persistent() -> None:
    class Upper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mask", _MASK, persistent=False)
            self.head = nn.Linear(6, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(x[:, self.mask])

    check(Upper().eval(), torch.randn(3, 4, 4))


def test_mask_that_can_be_loaded_is_refused() -> None:
    """Another value of the buffer may select another number of elements."""

    class Upper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mask", _MASK)

        def forward(self, x: Tensor) -> Tensor:
            return x[:, self.mask] * 2

    with pytest.raises(
        UnsupportedOpsError, match=r"aten\.index\.Tensor.*the shape of its result depends"
    ):
        import_module(Upper().eval(), (torch.randn(3, 4, 4),))
