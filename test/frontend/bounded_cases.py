# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases for sizes that depend on values: rows that a mask selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["BOUNDED_CASES"]

_FLAGS = torch.tensor([[True, False, True], [False, False, True]])
_LABELS = torch.tensor([1, -1, 3, -1, 0])
_IMAGES = torch.tensor([True, False, True, True])
_HALVES = torch.tensor([True, True, False, True, True])


class _Experts(nn.Module):
    """A mixture of experts in three forms: positions, one position a row, and a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        weights, chosen = self.router(x).softmax(-1).topk(2)
        first, second, third = (torch.zeros_like(x) for _ in range(3))
        for number, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == number)
            first.index_add_(0, rows, expert(x[rows]) * weights[rows, places, None])
            found = (chosen == number).nonzero()
            second[found[:, 0]] += expert(x[found[:, 0]])
            mask = chosen[:, 0] == number
            third[mask] = expert(x[mask])
        return first, second, third


def _reduced(x: Tensor) -> tuple[Tensor, ...]:
    rows = x[x[:, 0] > 0]
    values, positions = rows.max(0)
    return (
        rows.sum(), rows.sum(0), rows.mean(), rows.mean(0, keepdim=True), rows.amax(0), rows.amin(0),
        values, positions, (rows > 1).any(0), (rows < 1).all(), rows.prod(0), rows.long().max(),
        rows.sum(1).softmax(0).max(), rows.abs().sum() / rows.shape[0],
    )  # fmt: skip


def _nested(x: Tensor) -> tuple[Tensor, Tensor]:
    rows = x[x[:, 0] > 0]
    rows = rows[rows[:, 1] > 0]
    return rows.sum(0) + rows.masked_select(rows > 1).sum(), torch.zeros(
        9, dtype=x.dtype
    ).index_add(0, torch.arange(rows.shape[0]), rows[:, 0])


def _restored(x: Tensor, mask: Tensor) -> Tensor:
    rows = F.layer_norm(x[mask].view(-1, 2, 4).transpose(1, 2).flatten(1).softmax(-1), (8,))
    rows = F.pad(rows, (1, 2), value=3.0)[:, :8]
    rows[..., -1] = 2.0
    rows[..., 1:3] += 1.0
    y = torch.zeros_like(x)
    y[mask] = rows
    return y


def _written(x: Tensor) -> tuple[Tensor, ...]:
    """Indices that are computed from positions."""
    i, j = torch.where(x > 0)
    values, flat = x[i, j], (i * 4 + j) // 2
    zeros = x.new_zeros(12)
    return (
        zeros.scatter_add(0, flat, values), zeros.index_put((flat,), values, accumulate=True),
        zeros.scatter_reduce(0, flat, values, "amax"), zeros.index_fill(0, flat, 2.0),
        x[i].gather(1, j[:, None]).sum(),
    )  # fmt: skip


def _loss(x: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    mask = labels != -1
    each = F.cross_entropy(x[mask], labels[mask], reduction="none")
    return ((1 - torch.exp(-each)) ** 2 * each).mean(), each.sum()


def _images(x: Tensor, weight: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    y = F.max_pool2d(F.conv2d(x[mask], weight, padding=1).relu(), 2).flatten(1)
    return y.amax(1).sum(), torch.zeros(4, 18, dtype=x.dtype).masked_scatter(
        mask[:, None].expand(4, 18), y
    )


def _shared(x: Tensor) -> tuple[Tensor, ...]:
    """One mask for several tensors, and for all rows of one. In PyTorch each masked_select has a
    size of its own."""
    mask = x[0] > 0
    first, second = x[1].masked_select(mask), x[2].masked_select(mask)
    return (
        (x[1][mask] * x[2][mask]).sum(), x.masked_select(mask).sum(), x[:, mask].mean(),
        first.mean(), second.mean(), second.std(), torch.cat([first, second]).amin(),
    )  # fmt: skip


BOUNDED_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    ("experts", _Experts, (5, 4)),
    ("rows_reduced", _reduced, (6, 3)),
    ("rows_of_rows", _nested, (9, 4)),
    ("rows_restored", _restored, (2, 3, 8), _FLAGS),
    ("rows_written", _written, (3, 4)),
    ("single_masked", lambda x: (x[0, 0].masked_select(x[0, 1] > 0).sum(), x[0, 1].masked_select(x[0, 0] > 0).amax() + x[0, 2].masked_select(x[0, 2] < 9).sum()), (2, 3)),
    ("rows_missing", lambda x: (x[x > 100].sum(), (x > 100).nonzero().sum(), x.masked_select(x > 0).sum()), (3, 4)),
    ("rows_shared", _shared, (3, 4)),
    ("rows_loss", _loss, (5, 4), _LABELS),
    ("rows_of_images", _images, (4, 3, 6, 6), (2, 3, 3, 3), _IMAGES),
    ("rows_split", lambda x, mask: x[mask].view(2, -1, 3).cumsum(1).sum(1), (5, 3), _HALVES),
    ("rows_attend", lambda x, m: F.scaled_dot_product_attention(x[m], x[m], x[m]).sum(0), (4, 2, 5, 4), _IMAGES),
]  # fmt: skip
