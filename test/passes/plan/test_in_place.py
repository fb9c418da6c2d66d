"""A kernel that writes its result into an operand (`plan-in-place`) computes the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from placed import check_pass
from torch import Tensor


def _pooled(x: Tensor) -> Tensor:
    """The activation is in the first pooling's result."""
    return F.avg_pool2d(torch.tanh(F.avg_pool2d(x, 3, 1, 1)).exp().roll(1, 3), 2)


def _products(x: Tensor) -> Tensor:
    """The exponentials overwrite the scores, and the quotient the exponentials, after their sum."""
    y = torch.softmax(x @ x.transpose(2, 3), 3)
    return torch.tanh(y @ x) @ x.transpose(2, 3)


def _branches(x: Tensor) -> Tensor:
    """Both factors of the sum are dead after it, and a product reads the one before."""
    y = x @ x.transpose(2, 3)
    z = y.transpose(2, 3) @ y
    return (y + torch.relu(z)) @ x


def _kept(x: Tensor) -> Tensor:
    """The product is read again after the activation."""
    y = x @ x.transpose(2, 3)
    return torch.tanh(y) @ y


#: The buffers that are saved.
_FUNCTIONS = {_pooled: 1, _products: 3, _branches: 1, _kept: 0}


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    apart, placed = check_pass("--plan-in-place", function, torch.randn(2, 3, 6, 8), convoy_opt)
    assert apart.count("memref.alloc(") - placed.count("memref.alloc(") == _FUNCTIONS[function]
