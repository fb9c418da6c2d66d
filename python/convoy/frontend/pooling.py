# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pooling, 1-D to 3-D. Result shapes are Torch's and determine the additional padding for
ceil_mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend._types import TensorType
from convoy.frontend.convolution import interleave, per_dim

__all__: list[str] = []

_INDICES = Missing("expected use of the pooled tensor only, got use of the indices of its maxima")


@converts("aten.max_pool1d", "aten.max_pool2d", "aten.max_pool3d")
def max_pool(b: Builder, call: Call) -> ir.Value:
    return _max_pool(b, call, int(call.name[-2]))


@converts("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool_with_indices(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    return [_max_pool(b, call, int(call.name[len("aten.max_pool")])), _INDICES]


def _max_pool(b: Builder, call: Call, rank: int) -> ir.Value:
    """Padding counts as minus infinity, so ceil_mode only increases the high padding."""
    x, kernel, stride, padding, dilation, _ = call.args
    kernel = per_dim(kernel, rank)
    stride = per_dim(stride, rank) if stride else kernel
    padding, dilation = per_dim(padding, rank), per_dim(dilation, rank)
    window = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    beyond = _beyond(type_of(x), call.result, window, stride, padding)
    high = [pad + more for pad, more in zip(padding, beyond, strict=True)]
    y = b.emit(
        tcp.MaxPoolOp,
        _batched(call.result, rank),
        b.with_rank(x, rank + 2),
        kernel=kernel,
        stride=stride,
        pad=interleave(padding, high),
        dilation=dilation,
    )
    return b.reshape(y, call.result.shape)


@converts("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(b: Builder, call: Call) -> ir.Value:
    """The additional padding of ceil_mode is in `ceil_pad`, because it never counts in the divisor,
    unlike padding with count_include_pad."""
    rank = int(call.name[-2])
    x, kernel, stride, padding, _, count_include_pad, *divisor = call.args
    kernel = per_dim(kernel, rank)
    stride = per_dim(stride, rank) if stride else kernel
    padding = per_dim(padding, rank)
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


@converts("aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d")
@converts("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(b: Builder, call: Call) -> ir.Value:
    return _adaptive(b, call, tcp.ReduceMeanOp)


@converts("aten.adaptive_max_pool1d", "aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    return [_adaptive(b, call, tcp.ReduceMaxOp), _INDICES]


def _adaptive(b: Builder, call: Call, op: type[ir.OpView]) -> ir.Value:
    """A reduction for output size 1, an ordinary pool for a divisor of the input size, else window
    by window along each dim in turn, since windows are rectangles. Output i covers [floor(i * in /
    out), ceil((i + 1) * in / out))."""
    rank = int(call.name[-2])
    x = b.with_rank(call.args[0], rank + 2)
    kind = type_of(x)
    sizes, out = kind.shape[2:], call.result.shape[-rank:]
    if all(o == 1 for o in out):
        y = b.reduce(op, x, list(range(2, rank + 2)))
    elif all(size % o == 0 for size, o in zip(sizes, out, strict=True)):
        y = _even_pool(b, x, op, [size // o for size, o in zip(sizes, out, strict=True)])
    else:
        y = x
        for dim, (size, o) in enumerate(zip(sizes, out, strict=True), 2):
            y = _windows(b, y, op, dim, size, o)
    return b.reshape(y, call.result.shape)


def _even_pool(b: Builder, x: ir.Value, op: type[ir.OpView], kernel: list[int]) -> ir.Value:
    kind = type_of(x)
    shape = (*kind.shape[:2], *(size // k for size, k in zip(kind.shape[2:], kernel, strict=True)))
    attributes: dict[str, Any] = {"kernel": kernel, "stride": kernel, "pad": [0, 0] * len(kernel)}
    if op is tcp.ReduceMaxOp:
        return b.emit(
            tcp.MaxPoolOp,
            TensorType(shape, kind.dtype),
            x,
            **attributes,
            dilation=[1] * len(kernel),
        )
    return b.emit(
        tcp.AvgPoolOp,
        TensorType(shape, kind.dtype),
        x,
        **attributes,
        ceil_pad=[0] * len(kernel),
        count_include_pad=True,
    )


def _windows(
    b: Builder, x: ir.Value, op: type[ir.OpView], dim: int, size: int, out: int
) -> ir.Value:
    if size == out:
        return x
    bounds = [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]
    return b.concat(
        [b.reduce(op, b.slice(x, dim, low, high - low), [dim]) for low, high in bounds], dim
    )
