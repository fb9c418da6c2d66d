"""Numbers that are the values of tensors, in types in which a tensor would be rounded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import convoy
import convoy_runtime


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return self.function(x, scale)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, scale: x * scale.item(),
        lambda x, scale: x / scale.item(),
        lambda x, scale: x * scale.item() / x.abs().max().item(),
        lambda x, scale: x[(scale.long() % 2).item()] > scale.item(),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_number_is_not_rounded(
    function: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype, tmp_path: object
) -> None:
    """1e5 is more than the largest float16."""
    module = _Function(function).eval()
    inputs = (torch.tensor([[0.25, -1.5, 2e-4], [1.0, 0.0, 3.0]]).to(dtype), torch.tensor(1e5))
    path = f"{tmp_path}/model.convoy"
    convoy.compile(module, inputs, target="cpu").save(path)
    with convoy_runtime.load(path) as program:
        torch.testing.assert_close(program(*inputs), module(*inputs))
