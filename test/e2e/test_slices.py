"""Slices whose sizes are numbers of tensors, for several numbers, compared with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from op_cases import Function
from torch import Tensor, nn

import convoy
from convoy.errors import UnsupportedOpsError


def _statistics(x: Tensor, lengths: Tensor) -> Tensor:
    """As statistics pooling of sequences with padding."""
    found = []
    for row, length in zip(x, lengths, strict=True):
        steps = length.item()
        found.append(torch.cat([row[:steps].mean(0), row[0:steps].std(0), row[:steps].amax(0)]))
    return torch.stack(found)


def _fractions(x: Tensor, lengths: Tensor) -> Tensor:
    """Lengths in proportion to the longest one."""
    steps = [int(torch.round(length / 6 * x.shape[1])) for length in lengths]
    return torch.stack([row[:count].sum(0) for row, count in zip(x, steps, strict=True)])


def _between(x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
    first, second = lengths.tolist()
    return (
        x[:, first:second].sum(1), x[:, -second:].cumsum(1).sum(1), x[0, first:].softmax(0).sum(0),
        x[..., :first].sum(-1), (x[0, :first].T @ x[1, :first]), x[:, 1 : second - 1].sum(1),
    )  # fmt: skip


def _written(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    copied, filled = torch.zeros_like(x), x.clone()
    for row, length in enumerate(lengths):
        steps = length.item()
        copied[row, :steps] = 2 * x[row, :steps]
        filled[row, steps:] = 0.5
    return copied, filled


@pytest.mark.parametrize("function", [_statistics, _fractions, _between, _written])
def test_slices(function: Callable[..., Any]) -> None:
    x = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    model = Function(function).eval()
    program = convoy.compile(model, (x, torch.tensor([2, 5])), target="cpu").load(poison=True)
    for lengths in ([2, 5], [6, 6], [3, 4], [1, 9], [5, 2], [-4, -1]):
        if function is _statistics and min(lengths) < 0:
            continue
        given = torch.tensor(lengths)
        got, expected = program(x, given), function(x.double(), given)
        torch.testing.assert_close(
            torch.utils._pytree.tree_leaves(got),
            torch.utils._pytree.tree_leaves(expected),
            check_dtype=False,
            equal_nan=True,
            atol=1e-5,
            rtol=1e-5,
        )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x[: n[0].item()],
        lambda x, n: nn.functional.conv1d(x[:, :, : n[0].item()], torch.ones(3, 6, 2)),
        lambda x, n: x[:, : n[0].item() : 2].sum(1),
    ],
)
def test_slices_that_are_no_rows(function: Callable[..., Tensor]) -> None:
    inputs = (torch.randn(2, 6, 4), torch.tensor([2, 5]))
    with pytest.raises(UnsupportedOpsError):
        convoy.compile(Function(function).eval(), inputs, target="cpu")
