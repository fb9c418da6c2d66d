# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops along a dim whose size is the number of rows that a mask selects."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor
from torch.nn import functional as F


def _random(*shape: int) -> Tensor:
    """With rows of either sign first."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    x[:, 0] = torch.where(torch.arange(shape[0]) % 4 == 1, -1, 1) * x[:, 0].abs()
    return x


def _spread(x: Tensor) -> tuple[Tensor, ...]:
    rows = x[x[:, 0] > 0]
    return (
        rows.var(0), rows.std(), rows.var(0, unbiased=False, keepdim=True), rows.std((0, 1)),
        *torch.var_mean(rows, 0), *torch.std_mean(rows, (0, 1), correction=2), rows.std(1).sum(),
        rows.norm(), rows.norm(1, 0), torch.linalg.vector_norm(rows, math.inf, 0),
        torch.linalg.vector_norm(rows, -math.inf, 0), torch.linalg.vector_norm(rows, 0, 0),
        torch.linalg.vector_norm(1 / rows, -2, 0, keepdim=True),
    )  # fmt: skip


def _ordered(x: Tensor) -> tuple[Tensor, ...]:
    """Also NaN and infinity in rows that are valid."""
    rows = x[x[:, 0] > 0]
    odd = torch.where(rows > 1, math.nan, torch.where(rows < -1, -math.inf, rows))
    order = rows[:, 1].argsort()
    weight = torch.arange(1, x.shape[0] + 1, dtype=x.dtype)[: rows.shape[0], None]
    return (
        rows.argmax(0), rows.argmin(0, keepdim=True), rows.argmax(), rows.long().argmin(0),
        (rows.sort(0)[0] * weight).sum(0), (rows.sort(0, descending=True)[1] * weight).sum(0),
        odd.sort(0)[0].isnan().cumsum(0).amax(0), odd.sort(0, descending=True)[0].isnan()[0],
        (rows.long().sort(0)[0] * weight).sum(0), rows[order].cumsum(0).prod(1).sum(),
        *rows.topk(2, 0), rows.topk(2, 0, largest=False)[0], rows.cumprod(0).sum(0),
        rows.cummax(0)[0].sum(0), rows.logcumsumexp(0).sum(0), rows.sort(0)[0][:3].sum(0),
    )  # fmt: skip


def _contracted(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """The elements that are not valid are infinite."""
    rows = 1 / x[x[:, 0] > 0]
    rows = torch.where(rows.isinf(), 0.0, rows)
    keys = rows[None]
    mask = torch.arange(3)[:, None] > 0
    return (
        rows.T @ rows, torch.einsum("ni,nj->ij", rows, 2 * rows), (y @ rows.T).softmax(-1) @ rows,
        rows.T @ rows[:, 0], torch.addmm(y.T @ y, rows.T, rows),
        F.scaled_dot_product_attention(y[None], keys, keys),
        F.scaled_dot_product_attention(y[None], keys, keys, mask | (rows[:, 0] == rows[:, 0])),
        F.scaled_dot_product_attention(y[None], keys, keys, (rows[:, 0] * y[:, :1])[None]),
        F.scaled_dot_product_attention(keys, keys, keys, is_causal=True).sum(1),
    )  # fmt: skip


def _joined(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    rows, others = x[x[:, 0] > 0], x[x[:, 1] > 0]
    both = torch.cat([rows, y, others, 2 * rows])
    padded = F.pad(rows, (0, 0, 2, 3), value=2.0)
    filled = F.pad(rows, (1, 0, 0, x.shape[0] - rows.shape[0]))
    return (
        both.sum(0), both.cumsum(0).sum(0), both.std(0), both.T @ both, torch.cat([y, rows]).mean(0),
        x.new_zeros(30).index_add(0, torch.arange(both.shape[0]), both[:, 2]),
        torch.stack([rows, 2 * rows], 1).sum(0), torch.stack([rows, 2 * rows]).sum(1),
        padded.cumsum(0).sum(0), filled, padded[1:].cumsum(0).sum(0), padded[1:4].sum(0),
        both.flatten().cumsum(0).sum(), both.reshape(-1, 2).sum(0), both.flip(0).cumsum(0).sum(0),
        torch.cat([rows, x.new_ones(x.shape[0] - rows.shape[0], 4)]),
    )  # fmt: skip


def _picked(x: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    rows = x[x[:, 0] > 0]
    return (
        rows[0], rows[-1], rows[at], rows[at, at], rows.index_select(0, at.abs()),
        rows.gather(0, at.abs()[:, None].expand(-1, 4)), rows[-2, 1], rows[1:].sum(0),
        rows[at.argmax()], rows[-at.argmax(), 1],
        rows[:-1].sum(0), (rows[1:] - rows[:-1]).abs().sum(0),
    )  # fmt: skip


def _self_loops(x: Tensor, edges: Tensor, weight: Tensor) -> Tensor:
    """A graph convolution as in PyTorch Geometric: edges to the same node are replaced."""
    kept = edges[0] != edges[1]
    loops = torch.arange(x.shape[0])
    source, target = torch.cat([edges[:, kept], loops.expand(2, -1)], 1)
    degree = x.new_zeros(x.shape[0]).scatter_add(0, target, x.new_ones(target.shape[0]))
    scale = degree.rsqrt()
    sent = (x @ weight)[source] * (scale[source] * scale[target])[:, None]
    return torch.zeros_like(sent[: x.shape[0]]).index_add(0, target, sent)


def _sliced(x: Tensor) -> tuple[Tensor, ...]:
    """Slices that count from the last row, and those at a distance."""
    rows = x[x[:, 0] > 0]
    parts = (
        rows[:-1], rows[-2:], rows[1:-1], rows[-3:-1], rows[-3:2], rows[-1:], rows[::2], rows[1:6:3],
        rows[-3::2], rows[1:] - rows[:-1], torch.cat([rows[-1:], rows[:-1]]), rows[:-1][:-1],
    )  # fmt: skip
    return *(part.cumsum(0).sum(0) for part in parts), (rows[:, ::2] + rows[:, -2:]).sum(0)


def _written(x: Tensor, places: Tensor) -> tuple[Tensor, ...]:
    """Writes into rows that a mask selects: at masks, as of infinite weights in PyTorch Geometric,
    and at positions, which may count from the last row."""
    rows = x[x[:, 0] > 0]
    column, high = rows[:, 1], rows[:, 2] > 0
    less, cells, some = column.clone(), rows.clone(), rows.clone()
    less[high] -= 1
    cells[rows > 0.5] = 2.0
    some[high] = some[high].flip(1) * 3
    ends, twice = rows.clone(), column.clone()
    ends[places] = rows[:3] + 1
    ends[-1, 1:] = 4.0
    ends[1:3] *= 2.0
    ends[:2, 3] = ends[1:3, 0]
    ends[4:] += 1.0
    twice.index_put_((high.nonzero()[:, 0] // 2,), column[high], accumulate=True)
    weight = torch.arange(1, x.shape[0] + 1, dtype=x.dtype)[: rows.shape[0], None]
    pairs = x.new_zeros(2, rows.shape[0], 4)
    for i, each in enumerate((rows, 2 * rows)):
        pairs[i, : each.shape[0]] = each
    written = (less[:, None], cells, some, ends, twice[:, None], pairs[1] - pairs[0])
    return (
        *((each * weight).sum(0) for each in written),
        (torch.where(high, column, 0).index_add(0, places[1:], column[:2]) * weight[:, 0]).sum(),
        (rows.index_fill(1, places[1:], 0.0).index_copy(0, places[1:], rows[1:3]) * weight).sum(0),
    )


def _grouped(x: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
    """The last token of a kind in each sequence, as in BART's classifier."""
    found = tokens == 2
    torch._check(torch.unique_consecutive(found.sum(1)).numel() == 1)
    parts = x[found, :].view(x.shape[0], -1, x.shape[2])
    return parts[:, -1], parts[:, 0], parts.sum(1), parts.flip(1).cumsum(1).sum(1)


def _images_apart(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """Ops that compute each image by itself."""
    images = x[y[:, 0] > 0]
    patches = images.unfold(2, 2, 2).unfold(3, 2, 2)
    return (
        (patches.sum((-1, -2)) > 0).sum(0), images.flip(-1, 1).sum(0),
        images.repeat(1, 2, 1, 1).sum(0), images.repeat(2, 1, 1, 1, 1).sum(1),
        F.interpolate(images, scale_factor=2, mode="bilinear").sum(0),
        F.interpolate(images, size=(3, 5)).sum(0), F.pixel_shuffle(images, 2).sum(0),
        F.grid_sample(images, images[:, :2].permute(0, 2, 3, 1), align_corners=False).sum(0),
        F.grid_sample(x[:1, :, :2], images[None, :, 0, :, :2], align_corners=True).sum(2),
        torch.bucketize(images, torch.tensor([-1.0, 0.0, 1.0])).sum(0),
        torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), images[:, 0]).sum(0),
        F.adaptive_max_pool2d(images, 2).sum(0), F.unfold(images, 2).sum(0),
    )  # fmt: skip


def _pieces(x: Tensor, counts: Tensor, weights: Tensor) -> tuple[Tensor, ...]:
    """Experts on their tokens, which are neighbours, as in JetMoE; pieces in other uses."""
    sizes = counts.tolist()
    experts = [piece @ each for piece, each in zip(x.split(sizes), weights, strict=True)]
    twice = [piece * 2 + k for k, piece in enumerate(torch.cat(experts).split(sizes))]
    columns = x.T[1:].split([*sizes[:2], sizes[2] + sizes[3]], dim=1)
    return (
        torch.cat(experts) * x[:, :1], torch.cat(twice) + x, torch.cat(experts[1:]).sum(0), experts[3].cumsum(0).sum(0),
        columns[1].mean(1), torch.cat(columns, 1) + x[:, 0], torch.cat(columns[::-1], 1),
    )  # fmt: skip


_TOKENS = torch.tensor([[2, 1, 0, 2, 1], [1, 2, 2, 0, 0], [0, 0, 2, 1, 2]])
_EDGES = torch.tensor([[0, 1, 1, 2, 3, 3, 0], [1, 1, 2, 2, 0, 3, 3]])


@pytest.mark.parametrize(
    ("uses", "inputs"),
    [
        (_spread, (_random(9, 4),)),
        (_ordered, (_random(9, 4),)),
        (_contracted, (_random(9, 4), _random(3, 4))),
        (_joined, (_random(7, 4), _random(2, 4))),
        (_picked, (_random(9, 4), torch.tensor([1, -2, 0, -1]))),
        (_grouped, (_random(3, 20).reshape(3, 5, 4), _TOKENS)),
        (_pieces, (_random(9, 4), torch.tensor([3, 0, 4, 2]), _random(16, 4).reshape(4, 4, 4))),
        (_images_apart, (_random(5, 96).reshape(5, 4, 4, 6), _random(5, 1))),
        (_sliced, (_random(9, 4),)),
        (_sliced, (_random(9, 4).abs(),)),
        (_sliced, (-_random(4, 4).abs() * torch.tensor([[-1.0], [1], [1], [1]]),)),
        (_written, (_random(9, 4), torch.tensor([-2, 1, 0]))),
        (_self_loops, (_random(4, 3), _EDGES, _random(3, 2))),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_uses(uses: Callable[..., object], inputs: tuple[Tensor, ...]) -> None:
    check(Function(uses), *inputs, tolerance=1e-5)
