"""Sizes that depend on the values of constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.errors import ExportError, UnsupportedOpsError
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


class _Selected(nn.Module):
    """A mask that is in the state dict."""

    def __init__(self, select: Callable[[Tensor, Tensor], Tensor], size: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.ones(size, size).triu(1).bool())
        self.select = select

    def forward(self, x: Tensor) -> Tensor:
        return self.select(x, self.mask) * 2


@pytest.mark.parametrize(
    "select",
    [
        lambda x, mask: x[:, mask],
        lambda x, mask: x[0][mask],
        lambda x, mask: x[..., mask[0]].softmax(-1),
        lambda x, mask: x[:, mask[0], torch.tensor([3, 1, 0])],
        lambda x, mask: x.masked_select(mask & mask[0]).sum(),
        lambda x, mask: torch.masked_select(x[:, 0], mask=mask[0]),
    ],
)
def test_small_mask_in_the_state_dict_is_compiled_in(
    select: Callable[[Tensor, Tensor], Tensor],
) -> None:
    x, model = torch.randn(3, 4, 4), _Selected(select, 4).eval()
    compiled = convoy.compile(model, (x,), target="cpu")
    torch.testing.assert_close(compiled(x), model(x))
    assert list(compiled.manifest.compiled_in) == ["mask"]


def test_large_mask_in_the_state_dict_is_refused() -> None:
    """Another value of the buffer may select another number of elements."""
    model = _Selected(lambda x, mask: x[:, mask], 33).eval()
    with pytest.raises(
        UnsupportedOpsError, match=r"aten\.index\.Tensor.*the shape of its result depends"
    ):
        import_module(model, (torch.randn(3, 33, 33),))


def test_computed_mask_beside_indices_is_refused() -> None:
    function = Function(lambda x: x[:, x[0, 0] > 0, torch.tensor([3, 1])]).eval()
    with pytest.raises(ExportError, match="shapes that depend on the values of a tensor"):
        import_module(function, (torch.randn(3, 4, 4),))
