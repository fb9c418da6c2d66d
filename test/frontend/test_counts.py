# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Counts, different elements, segments and repeats: ops whose sizes depend on values unless the
model, or what is known when it is exported, gives them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor, nn

from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module

_COUNTED = torch.tensor([3, 1, 1, 0, 3, 2])
_WEIGHTS = torch.randn(6, generator=torch.Generator().manual_seed(1))
_ROWS = torch.randn(6, 3, generator=torch.Generator().manual_seed(2))


def _counts(x: Tensor, weights: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.bincount(x, minlength=9).reshape(3, 3), torch.bincount(x, minlength=5)[:5],
        torch.bincount(x, weights, minlength=6)[1:4], torch.bincount(x.to(torch.uint8)).view(2, 2),
        (torch.bincount(x[:0], minlength=2)[:2] * torch.arange(2)).sum(),
    )  # fmt: skip


def _different(x: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
    """Also of elements that a mask selects."""
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    kept, _, lengths = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    return (
        inverse, x * values.numel(), (values * counts).sum(), values[counts.argmax()], values[-1],
        rows.new_zeros(6, 3).index_add(0, inverse, rows), counts.sum(), values.cumsum(0).sum(),
        (kept * lengths).cumsum(0).sum(), kept.numel() * x, torch.unique(x[x > 0]).sum(),
        torch.unique(x.reshape(2, 3), return_inverse=True)[1], torch.unique(x > 1).sum(),
        torch.unique(rows).numel() * x, torch.unique(x[:0]).numel() * x, torch.unique(x[:1]).sum(),
    )  # fmt: skip


def _equal_numbers(x: Tensor) -> Tensor:
    return torch.unique(x).numel() * x.nan_to_num()


def _middle(x: Tensor) -> tuple[Tensor, ...]:
    odd = torch.where(x > 1, math.nan, x).flatten()
    return (
        x[x > 0].median(), x[x > -0.5].median(), x[x > 100].median(), odd[~(odd < 0)].median(),
        odd[~(odd < 0)].nanmedian(), x[x > 100].nanmedian(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (_counts, (_COUNTED, _WEIGHTS)),
        (_different, (_COUNTED, _ROWS)),
        (_equal_numbers, (torch.tensor([1.0, math.nan, 1.0, math.nan, -0.0, 0.0]),)),
        (_middle, (_ROWS,)),
    ],
)
def test_counts(function: Callable[..., object], inputs: tuple[Tensor, ...]) -> None:
    check(Function(function), *inputs)


def test_unknown_number_of_counts_is_refused() -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        import_module(Function(lambda x: torch.bincount(x, minlength=9)).eval(), (_COUNTED,))
    (op,) = caught.value.ops
    assert op.op == "aten.bincount"
    assert op.reason.endswith("as in torch.bincount(x, minlength=n)[:n]")


@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
def test_segments(kind: str, initial: float | None) -> None:
    """Also without elements, with NaN, with elements after the last segment, and several rows."""
    lengths = torch.tensor([[2, 0, 4], [1, 3, 2]])
    offsets = torch.tensor([0, 2, 2, 5])

    def reduced(x: Tensor, lengths: Tensor, offsets: Tensor) -> tuple[Tensor, ...]:
        def of(data: Tensor, **given: Tensor | int) -> Tensor:
            return torch.segment_reduce(data, kind, initial=initial, unsafe=True, **given)  # type: ignore[arg-type]

        odd = torch.where(x > 1, math.nan, x)
        return (
            of(x, lengths=lengths[0]), of(odd, offsets=offsets), of(x[:, 0], offsets=offsets),
            of(torch.stack([x, -x]), lengths=lengths, axis=1),
        )  # fmt: skip

    check(Function(reduced), _ROWS, lengths, offsets)


class _Repeating(nn.Module):
    """The numbers are in the state dict."""

    def __init__(self, repeats: Tensor, dim: int | None) -> None:
        super().__init__()
        self.register_buffer("repeats", repeats)
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        return x.repeat_interleave(self.repeats, dim=self.dim)


@pytest.mark.parametrize(
    ("repeats", "dim", "shape"),
    [
        ([2, 0, 3], 1, (6, 5)),
        ([1, 2, 0, 3, 1, 1], 0, (8, 3)),
        ([2], -1, (6, 6)),
        ([3], None, (54,)),
    ],
)
def test_repeats_in_a_buffer(repeats: list[int], dim: int | None, shape: tuple[int, ...]) -> None:
    module = _Repeating(torch.tensor(repeats), dim)
    assert module(_ROWS).shape == shape
    check(module, _ROWS)
