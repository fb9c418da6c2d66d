# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors of one known number where PyTorch takes a number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.errors import ExportError


def _two() -> Tensor:
    return torch.tensor([1, 2]).max()


def _viewed(x: Tensor) -> Tensor:
    """As the tokens with global attention in Longformer."""
    y = x.new_zeros(_two(), 4) + x.view(_two(), 2, 4).sum(0)
    assert [2, 4] == [_two(), 4] == list(y.shape)
    return y.masked_fill(y > 1, 0)


@pytest.mark.parametrize(
    "function",
    [
        _viewed,
        lambda x: torch.arange(0, 2 * _two(), _two()) + x[:, :2],
        lambda x: torch.linspace(0, 1, 2 * _two()) + x,
        lambda x: x.split(_two(), 1)[1] + x.chunk(_two(), dim=_two() - 1)[0],
        lambda x: x.narrow(1, _two(), _two() - 1) + torch.narrow(x, 0, _two() - 2, 4),
        lambda x: F.one_hot((x[:, 0] > 0).long(), _two()),
        lambda x: x.unfold(1, _two(), 1).sum(dim=_two()),
        lambda x: x[None].transpose(1, _two()).softmax(_two()).flatten(1, _two()),
        lambda x: torch.cat([F.avg_pool1d(x[None], _two())] * 2, _two()),
        lambda x: F.adaptive_avg_pool1d(x[None], _two()) * _two() - _two().add_(1),
        lambda x: x.clamp(min=_two() / 4, max=_two()) + _two().float(),
    ],
)
def test_numbers_that_functions_take(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    model = convoy.compile(Function(function).eval(), (x,), target="cpu")
    torch.testing.assert_close(model(x), function(x))


class _Steps(nn.Module):
    """Sizes of the state dict are compiled in, and its factors are weights."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("size", torch.tensor(3))
        self.register_buffer("factor", torch.tensor(2))

    def forward(self, x: Tensor) -> Tensor:
        first = x.split(self.size, 1)[0]
        return first * self.factor if first.shape[1] == 3 else x


def test_operands_are_not_compiled_in() -> None:
    x = torch.randn(2, 4)
    compiled = convoy.compile(_Steps().eval(), (x,), target="cpu")
    assert list(compiled.manifest.compiled_in) == ["size"]
    with compiled.load() as program:
        torch.testing.assert_close(program(x), x[:, :3] * 2)
        program.load_weights({"size": torch.tensor(3), "factor": torch.tensor(5)})
        torch.testing.assert_close(program(x), x[:, :3] * 5)


def test_numbers_of_inputs_are_refused() -> None:
    function = Function(lambda x: x.split(x[0, 0].long(), 1)[0]).eval()
    with pytest.raises(ExportError, match="depend on the values of a tensor"):
        convoy.compile(function, (torch.ones(2, 4),), target="cpu")
