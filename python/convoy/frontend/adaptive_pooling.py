# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Adaptive pooling and its gradients, 1-D to 3-D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend._types import TensorType
from convoy.frontend.convolution import interleave
from convoy.frontend.pooling import divided, max_gradient, maxima_indices

__all__: list[str] = []


_UNEVEN = Missing(
    "expected output sizes that divide the input's, got use of the indices of maxima of windows of "
    "different sizes"
)


@converts("aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d")
@converts("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(b: Builder, call: Call) -> ir.Value:
    return _adaptive(b, call, tcp.ReduceMeanOp)


@converts("aten.adaptive_max_pool1d", "aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    y = _adaptive(b, call, tcp.ReduceMaxOp)
    x, rank = call.args[0], int(call.name[-2])
    sizes, out = type_of(x).shape[-rank:], call.result.shape[-rank:]
    if any(size % o for size, o in zip(sizes, out, strict=True)):
        return [y, _UNEVEN]
    return [y, maxima_indices(b, x, y, rank, _enclosing(sizes, out))]


@converts("aten.adaptive_max_pool2d_backward", "aten.adaptive_max_pool3d_backward")
def adaptive_max_pool_backward(b: Builder, call: Call) -> ir.Value:
    gradient, x, indices = call.args
    rank = int(call.name[len("aten.adaptive_max_pool")])
    window = _enclosing(type_of(x).shape[-rank:], type_of(gradient).shape[-rank:])
    return max_gradient(b, call, gradient, indices, rank, window)


def _enclosing(sizes: Sequence[int], out: Sequence[int]) -> dict[str, list[int]]:
    """The attributes of a pooling whose windows are those of an adaptive pooling if `out` divides
    `sizes`, and contain them otherwise."""
    kernel, stride, low, high = [], [], [], []
    for size, count in zip(sizes, out, strict=True):
        step = max(1, size // count)
        bounds = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        before = max(i * step - start for i, (start, _) in enumerate(bounds))
        length = max(end - i * step for i, (_, end) in enumerate(bounds)) + before
        kernel.append(length)
        stride.append(step)
        low.append(before)
        high.append((count - 1) * step + length - size - before)
    return {
        "kernel": kernel,
        "stride": stride,
        "pad": interleave(low, high),
        "dilation": [1] * len(kernel),
    }


@converts("aten._adaptive_avg_pool2d_backward", "aten._adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(b: Builder, call: Call) -> ir.Value:
    """Along each dim in turn, each element is the sum of the gradients of the windows around it,
    each divided by its window's size. The windows around input i are those of an adaptive pooling
    from the output to the input."""
    gradient, _ = call.args
    rank = int(call.name[len("aten._adaptive_avg_pool")])
    y = b.wide(b.with_rank(gradient, rank + 2))
    sizes, out = call.result.shape[-rank:], type_of(y).shape[2:]
    y = divided(
        b,
        y,
        [
            [-(-(i + 1) * size // o) - i * size // o for i in range(o)]
            for size, o in zip(sizes, out, strict=True)
        ],
    )
    for dim, (size, o) in enumerate(zip(sizes, out, strict=True), 2):
        if size % o:
            y = _windows(b, y, tcp.ReduceSumOp, dim, o, size)
            continue
        # Each window repeats its gradient.
        shape = [*type_of(y).shape]
        y = b.reshape(y, (*shape[: dim + 1], 1, *shape[dim + 1 :]))
        y = b.broadcast(y, (*shape[: dim + 1], size // o, *shape[dim + 1 :]))
        y = b.reshape(y, (*shape[:dim], size, *shape[dim + 1 :]))
    return b.reshape(b.cast(y, call.result.dtype), call.result.shape)


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
