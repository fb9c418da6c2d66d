# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pooling and its gradients, 1-D to 3-D; `adaptive_pooling` has adaptive pooling. Result shapes are
Torch's and determine the additional padding for ceil_mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.convolution import interleave, per_dim

__all__ = ["divided", "max_gradient", "maxima_indices"]


@converts("aten.max_pool1d", "aten.max_pool2d", "aten.max_pool3d")
def max_pool(b: Builder, call: Call) -> ir.Value:
    return _max_pool(b, call, int(call.name[-2]))


@converts("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool_with_indices(b: Builder, call: Call) -> Sequence[ir.Value]:
    rank = int(call.name[len("aten.max_pool")])
    y = _max_pool(b, call, rank)
    window = _max_window(type_of(call.args[0]), call.result, rank, call.args[1:])
    return [y, maxima_indices(b, call.args[0], y, rank, window)]


@converts("aten.max_pool2d_with_indices_backward", "aten.max_pool3d_with_indices_backward")
def max_pool_backward(b: Builder, call: Call) -> ir.Value:
    gradient, x, *window, indices = call.args
    rank = int(call.name[len("aten.max_pool")])
    attributes = _max_window(type_of(x), type_of(gradient), rank, window)
    return max_gradient(b, call, gradient, indices, rank, attributes)


def _max_pool(b: Builder, call: Call, rank: int) -> ir.Value:
    x = call.args[0]
    window = _max_window(type_of(x), call.result, rank, call.args[1:])
    y = b.emit(tcp.MaxPoolOp, _batched(call.result, rank), b.with_rank(x, rank + 2), **window)
    return b.reshape(y, call.result.shape)


def _max_window(
    x: TensorType, result: TensorType, rank: int, given: Sequence[Any]
) -> dict[str, list[int]]:
    """The attributes of a max pooling from Torch's. Padding counts as minus infinity, so ceil_mode
    only increases the high padding."""
    kernel, stride, padding, dilation, _ = given
    kernel = per_dim(kernel, rank)
    stride = per_dim(stride, rank) if stride else kernel
    padding, dilation = per_dim(padding, rank), per_dim(dilation, rank)
    if all(each == 1 for each in dilation):
        kernel = _within(x, result, kernel, padding)
    window = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    beyond = _beyond(x, result, window, stride, padding)
    high = [pad + more for pad, more in zip(padding, beyond, strict=True)]
    return {
        "kernel": kernel,
        "stride": stride,
        "pad": interleave(padding, high),
        "dilation": dilation,
    }


def maxima_indices(
    b: Builder, x: ir.Value, y: ir.Value, rank: int, window: dict[str, list[int]]
) -> ir.Value:
    """The indices of the maxima `y` of `x`."""
    kind = TensorType(type_of(y).shape, torch.int64)
    operands = b.with_rank(x, rank + 2), b.with_rank(y, rank + 2)
    return b.reshape(
        b.emit(tcp.MaxPoolIndicesOp, _batched(kind, rank), *operands, **window), kind.shape
    )


def max_gradient(
    b: Builder,
    call: Call,
    gradient: ir.Value,
    indices: ir.Value,
    rank: int,
    window: dict[str, list[int]],
) -> ir.Value:
    operands = b.with_rank(gradient, rank + 2), b.with_rank(indices, rank + 2)
    dx = b.emit(tcp.MaxPoolBackwardOp, _batched(call.result, rank), *operands, **window)
    return b.reshape(dx, call.result.shape)


@converts("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(b: Builder, call: Call) -> ir.Value:
    """The additional padding of ceil_mode is in `ceil_pad`, because it never counts in the divisor,
    unlike padding with count_include_pad."""
    rank = int(call.name[-2])
    x, kernel, stride, padding, _, count_include_pad, *divisor = call.args
    kernel = per_dim(kernel, rank)
    stride = per_dim(stride, rank) if stride else kernel
    padding = per_dim(padding, rank)
    kernel = _within(type_of(x), call.result, kernel, padding)
    y = b.emit(
        tcp.AvgPoolOp,
        _batched(call.result, rank),
        b.with_rank(x, rank + 2),
        kernel=kernel,
        stride=stride,
        pad=interleave(padding, padding),
        ceil_pad=_beyond(type_of(x), call.result, kernel, stride, padding),
        count_include_pad=bool(count_include_pad),
        divisor=divisor[0] if divisor else None,
    )
    return b.reshape(y, call.result.shape)


@converts("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_backward(b: Builder, call: Call) -> ir.Value:
    """Each element is the sum of the gradients of the windows around it, each divided by its
    window's divisor."""
    gradient, x, kernel, stride, padding, _, count_include_pad, divisor = call.args
    rank = int(call.name[len("aten.avg_pool")])
    kernel = per_dim(kernel, rank)
    stride = per_dim(stride, rank) if stride else kernel
    padding = per_dim(padding, rank)
    kernel = _within(type_of(x), type_of(gradient), kernel, padding)
    g = b.wide(b.with_rank(gradient, rank + 2))
    sizes, places = type_of(x).shape[-rank:], type_of(g).shape[-rank:]
    counts = [[divisor]] + [[1]] * (rank - 1)
    if divisor is None:
        counts = [
            _counted(size, out, *window, include_pad=count_include_pad)
            for size, out, *window in zip(sizes, places, kernel, stride, padding, strict=True)
        ]
    dx = _sum_windows(b, divided(b, g, counts), sizes, kernel, stride, padding)
    return b.reshape(b.cast(dx, call.result.dtype), call.result.shape)


def _counted(
    size: int, out: int, kernel: int, stride: int, padding: int, *, include_pad: bool
) -> list[int]:
    """The elements along one dim that the mean over each window counts."""
    low, high = (-padding, size + padding) if include_pad else (0, size)
    starts = [i * stride - padding for i in range(out)]
    return [min(start + kernel, high) - max(start, low) for start in starts]


def divided(b: Builder, g: ir.Value, counts: Sequence[Sequence[int]]) -> ir.Value:
    """Divides each element by the product of the counts at its spatial indices."""
    kind = type_of(g)
    if all(len(set(each)) == 1 for each in counts):
        return b.binary_scalar(tcp.DivOp, g, math.prod(each[0] for each in counts))
    product = torch.ones(1, dtype=kind.dtype)
    for each in counts:
        product = product[..., None] * torch.tensor(each, dtype=kind.dtype)
    return b.binary(tcp.DivOp, g, b.with_rank(b.weight("window_sizes", product[None]), kind.rank))


def _sum_windows(
    b: Builder,
    g: ir.Value,
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> ir.Value:
    """Adds to each element of a tensor with spatial dims `sizes` the elements of `g` whose windows
    contain it."""
    kind, rank = type_of(g), len(sizes)
    places = kind.shape[2:]
    spread = [(out - 1) * s + 1 for out, s in zip(places, stride, strict=True)]
    low = [k - 1 - pad for k, pad in zip(kernel, padding, strict=True)]
    # Zeros between the elements, then a sum over windows at steps of 1.
    high = [
        size + k - 1 - before - wide
        for size, k, before, wide in zip(sizes, kernel, low, spread, strict=True)
    ]
    padded = TensorType(
        (*kind.shape[:2], *(size + k - 1 for size, k in zip(sizes, kernel, strict=True))),
        kind.dtype,
    )
    g = b.emit(
        tcp.PadOp,
        padded,
        g,
        low=[0, 0, *low],
        high=[0, 0, *high],
        interior=[0, 0, *(s - 1 for s in stride)],
        value=0.0,
    )
    return b.emit(
        tcp.AvgPoolOp,
        TensorType((*kind.shape[:2], *sizes), kind.dtype),
        g,
        kernel=list(kernel),
        stride=[1] * rank,
        pad=[0, 0] * rank,
        ceil_pad=[0] * rank,
        count_include_pad=True,
        divisor=1,
    )


def _within(
    x: TensorType, result: TensorType, kernel: Sequence[int], padding: Sequence[int]
) -> list[int]:
    """The kernel without what is beyond the padded input if there is one window along a dim, as in
    a mean of images with `AvgPool2d(2560, ceil_mode=True)`."""
    rank = len(kernel)
    sizes = zip(x.shape[-rank:], result.shape[-rank:], kernel, padding, strict=True)
    return [min(k, size + 2 * pad) if out == 1 else k for size, out, k, pad in sizes]


def _beyond(
    x: TensorType,
    result: TensorType,
    window: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> list[int]:
    """The elements of the last window beyond the padded input, for each spatial dim."""
    rank = len(window)
    sizes = zip(x.shape[-rank:], result.shape[-rank:], window, stride, padding, strict=True)
    return [max(0, (out - 1) * s + w - (size + 2 * pad)) for size, out, w, s, pad in sizes]


def _batched(result: TensorType, rank: int) -> TensorType:
    return result if result.rank == rank + 2 else TensorType((1, *result.shape), result.dtype)
