# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors of lists of tensors, each of which has one number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from op_cases import Function
from torch import Tensor

import convoy


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.tensor([x[0, 0], x[1, 1]]),
        lambda x: torch.tensor([[x.sum(), 2], (3, x[:1, 1:])]),
        lambda x: torch.tensor([x[0, 0] > 0, True, x.isnan().any()]),
        lambda x: torch.tensor([x.argmax(), 7]) * torch.tensor((x.sum(), 1.5), dtype=torch.float64),
        lambda x: torch.tensor([x.argmax().to(torch.int32), x.argmin().to(torch.int16)]),
        lambda x: torch.as_tensor([x.half().sum(), x.half().max()], device=x.device),
        lambda x: torch.as_tensor([x.argmax(), 2], dtype=torch.float64),
        lambda x: x.new_tensor([x.argmax(), x.shape[0]]) + x.long().new_tensor([x.argmin()]),
        lambda x: x * torch.tensor([2, 3]) + torch.tensor(4.0) + torch.tensor(x.sum()),
        lambda x: torch.tensor([x.long().sum().item(), 2]),
    ],
)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_lists(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(2, 2, generator=torch.Generator().manual_seed(1))
    model = convoy.compile(Function(function).eval(), (x,), target="cpu")
    for given in (x, -x):
        expected = function(given)
        assert model(given).dtype == expected.dtype
        torch.testing.assert_close(model(given), expected)


def _positions(x: Tensor) -> Tensor:
    """As the positions of text after images in Qwen2-VL, whose numbers are known."""
    ends = [torch.arange(n + 1).max() + 1 for n in (1, 3)]
    ends = torch.tensor(ends).unsqueeze(1)
    return x * 2 if ends.sum() > 5 else x + torch.tensor([ends.max(), 1])


def test_branches_on_known_numbers() -> None:
    x = torch.randn(2, 2)
    model = convoy.compile(Function(_positions).eval(), (x,), target="cpu")
    torch.testing.assert_close(model(x), _positions(x))
