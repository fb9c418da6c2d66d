# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Normalizations, and softmax. `tcp.layer_norm` has no scale and shift. These are
pointwise ops, so that a later pass can move computations on weights out of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend._types import TensorType
from convoy.frontend.reduction import variance_over

__all__: list[str] = []

_UPDATES = (
    "expected batch norm that does not update its running statistics in place, got training=True; "
    "call module.eval(), pass neither running_mean nor running_var to normalize by the statistics "
    "of the batch, or return the updated statistics of "
    "torch.ops.aten._native_batch_norm_legit_functional"
)
_STATISTICS = Missing("expected use of the normalized tensor only, got use of its statistics")


@converts("aten.batch_norm")
def batch_norm(b: Builder, call: Call) -> ir.Value:
    x, weight, bias, mean, var, training, _, epsilon, *_ = call.args
    if training and mean is None and var is None:
        return _batch_statistics(b, x, weight, bias, epsilon)[0]
    if training:
        raise Unsupported(_UPDATES)
    return _batch_norm(b, x, weight, bias, mean, var, epsilon)


@converts("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    x, weight, bias, mean, var, _, epsilon = call.args
    return [_batch_norm(b, x, weight, bias, mean, var, epsilon), _STATISTICS, _STATISTICS]


@converts("aten.native_batch_norm")
def native_batch_norm(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    x, weight, bias, mean, var, training, _, epsilon = call.args
    if training:
        raise Unsupported(_UPDATES)
    return [_batch_norm(b, x, weight, bias, mean, var, epsilon), _STATISTICS, _STATISTICS]


@converts("aten._native_batch_norm_legit.no_stats")
def batch_norm_of_the_batch(b: Builder, call: Call) -> Sequence[ir.Value]:
    """Batch norm without running statistics: normalizes by the mean and the variance of the
    batch."""
    x, weight, bias, _, _, epsilon = call.args
    y, mean, inverse, _ = _batch_statistics(b, x, weight, bias, epsilon)
    statistics = zip((mean, inverse), call.results[1:], strict=True)
    return [y, *(b.reshape(b.cast(value, kind.dtype), kind.shape) for value, kind in statistics)]


@converts("aten._native_batch_norm_legit_functional")
def batch_norm_functional(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    """Batch norm that returns the updated running statistics: (1 - momentum) * old + momentum *
    statistic of the batch, with the unbiased variance."""
    x, weight, bias, mean, var, training, momentum, epsilon = call.args
    if not training:
        y = _batch_norm(b, x, weight, bias, mean, var, epsilon)
        return [y, _STATISTICS, _STATISTICS, mean, var]
    y, batch_mean, inverse, batch_var = _batch_statistics(b, x, weight, bias, epsilon)
    shape = type_of(x).shape
    count = math.prod(shape) // shape[1]
    # As in Torch, the unbiased variance of one element is NaN.
    scale = count / (count - 1) if count > 1 else math.nan
    unbiased = b.binary_scalar(tcp.MulOp, batch_var, scale)
    updated = []
    for old, new in ((mean, batch_mean), (var, unbiased)):
        new = b.reshape(new, type_of(old).shape)
        wide = b.cast(old, type_of(new).dtype)
        kept = b.binary_scalar(tcp.MulOp, wide, 1 - momentum)
        added = b.binary_scalar(tcp.MulOp, new, momentum)
        updated.append(b.cast(b.binary(tcp.AddOp, kept, added), type_of(old).dtype))
    kinds = call.results[1:3]
    saved = [
        b.reshape(b.cast(value, kind.dtype), kind.shape)
        for value, kind in zip((batch_mean, inverse), kinds, strict=True)
    ]
    return [y, *saved, *updated]


@converts("aten._native_batch_norm_legit")
def batch_norm_in_place(b: Builder, call: Call) -> Sequence[ir.Value]:
    raise Unsupported(_UPDATES)


def _batch_statistics(
    b: Builder, x: ir.Value, weight: ir.Value | None, bias: ir.Value | None, epsilon: float
) -> tuple[ir.Value, ir.Value, ir.Value, ir.Value]:
    """y = (x - mean) * inverse * weight + bias, with mean and inverse = rsqrt(var + epsilon) over
    all dims except dim 1, computed in at least float32. Returns y, mean, inverse and the biased
    var."""
    kind = type_of(x)
    wide = b.wide(x)
    dims = [dim for dim in range(kind.rank) if dim != 1]
    var, mean = variance_over(b, wide, dims, 0)
    inverse = b.unary(tcp.RsqrtOp, b.binary_scalar(tcp.AddOp, var, epsilon))
    y = b.binary(tcp.MulOp, b.binary(tcp.SubOp, wide, mean), inverse)
    channels = (1, kind.shape[1], *(1,) * (kind.rank - 2))
    if weight is not None:
        y = b.binary(tcp.MulOp, y, b.reshape(b.cast(weight, type_of(y).dtype), channels))
    if bias is not None:
        y = b.binary(tcp.AddOp, y, b.reshape(b.cast(bias, type_of(y).dtype), channels))
    return b.cast(y, kind.dtype), mean, inverse, var


def _batch_norm(
    b: Builder,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value | None,
    var: ir.Value | None,
    epsilon: float,
) -> ir.Value:
    """y = x * scale + shift, scale = weight * rsqrt(var + epsilon), shift = bias - mean * scale.

    Scale and shift are vectors of C elements, computed from weights in at least float32, because
    epsilon is below the resolution of the smaller types."""
    if mean is None or var is None:
        msg = "expected batch norm with running statistics, got none"
        raise Unsupported(msg)
    kind = type_of(x)
    exact = kind.dtype if kind.dtype == torch.float64 else torch.float32
    mean, var = b.cast(mean, exact), b.cast(var, exact)
    scale = b.unary(tcp.RsqrtOp, b.binary_scalar(tcp.AddOp, var, epsilon))
    if weight is not None:
        scale = b.binary(tcp.MulOp, b.cast(weight, exact), scale)
    shift = b.binary(tcp.MulOp, mean, scale)
    shift = (
        b.unary(tcp.NegOp, shift)
        if bias is None
        else b.binary(tcp.SubOp, b.cast(bias, exact), shift)
    )
    channels = (1, kind.shape[1], *(1,) * (kind.rank - 2))
    scaled = b.binary(tcp.MulOp, x, b.reshape(b.cast(scale, kind.dtype), channels))
    return b.binary(tcp.AddOp, scaled, b.reshape(b.cast(shift, kind.dtype), channels))


@converts("aten.layer_norm")
def layer_norm(b: Builder, call: Call) -> ir.Value:
    x, shape, weight, bias, epsilon, *_ = call.args
    return _layer_norm(b, x, shape, weight, bias, epsilon)


@converts("aten.native_layer_norm")
def native_layer_norm(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, shape, weight, bias, epsilon = call.args
    dims = list(range(type_of(x).rank - len(shape), type_of(x).rank))
    return [
        _layer_norm(b, x, shape, weight, bias, epsilon),
        *_statistics(b, x, dims, epsilon, call.results[1:]),
    ]


def _statistics(
    b: Builder, x: ir.Value, dims: list[int], epsilon: float, kinds: Sequence[TensorType]
) -> list[ir.Value]:
    """The mean over dims and rsqrt(var + epsilon), which gradients need, in the types `kinds`. They
    are erased if nothing uses them."""
    var, mean = variance_over(b, b.wide(x), dims, 0)
    inverse = b.unary(tcp.RsqrtOp, b.binary_scalar(tcp.AddOp, var, epsilon))
    return [
        b.reshape(b.cast(value, kind.dtype), kind.shape)
        for value, kind in zip((mean, inverse), kinds, strict=True)
    ]


def _layer_norm(
    b: Builder,
    x: ir.Value,
    shape: Sequence[int],
    weight: ir.Value | None,
    bias: ir.Value | None,
    epsilon: float,
) -> ir.Value:
    rank = type_of(x).rank
    dims = range(rank - len(shape), rank)
    y = b.unary(tcp.LayerNormOp, x, dims=list(dims), epsilon=float(epsilon))
    if weight is not None:
        y = b.binary(tcp.MulOp, y, weight)
    return y if bias is None else b.binary(tcp.AddOp, y, bias)


@converts("aten.group_norm")
def group_norm(b: Builder, call: Call) -> ir.Value:
    x, groups, weight, bias, epsilon, *_ = call.args
    return _group_norm(b, x, groups, weight, bias, epsilon)


@converts("aten.native_group_norm")
def native_group_norm(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, weight, bias, _, _, _, groups, epsilon = call.args
    n, c, *spatial = type_of(x).shape
    members = b.reshape(x, (n, groups, math.prod((c // groups, *spatial))))
    return [
        _group_norm(b, x, groups, weight, bias, epsilon),
        *_statistics(b, members, [2], epsilon, call.results[1:]),
    ]


@converts("aten.instance_norm")
def instance_norm(b: Builder, call: Call) -> ir.Value:
    """Group norm with one channel per group, or with running statistics batch norm."""
    x, weight, bias, mean, var, use_input_statistics, _, epsilon, _ = call.args
    if not use_input_statistics:
        return _batch_norm(b, x, weight, bias, mean, var, epsilon)
    return _group_norm(b, x, type_of(x).shape[1], weight, bias, epsilon)


def _group_norm(
    b: Builder,
    x: ir.Value,
    groups: int,
    weight: ir.Value | None,
    bias: ir.Value | None,
    epsilon: float,
) -> ir.Value:
    """Layer norm over a view N x groups x C/groups x spatial; scale and shift are per channel."""
    kind = type_of(x)
    n, c, *spatial = kind.shape
    y = b.reshape(x, (n, groups, c // groups, *spatial))
    dims = range(2, type_of(y).rank)
    y = b.unary(tcp.LayerNormOp, y, dims=list(dims), epsilon=float(epsilon))
    y = b.reshape(y, kind.shape)
    channels = (1, c, *(1,) * (kind.rank - 2))
    if weight is not None:
        y = b.binary(tcp.MulOp, y, b.reshape(weight, channels))
    return y if bias is None else b.binary(tcp.AddOp, y, b.reshape(bias, channels))


@converts("aten.rms_norm")
def rms_norm(b: Builder, call: Call) -> ir.Value:
    """x * rsqrt(mean(x * x) + epsilon) * weight, in at least float32 as in Torch. The default
    epsilon is that of the type in which it is computed."""
    x, shape, weight, epsilon = call.args
    kind = type_of(x)
    wide = b.cast(x, kind.dtype if kind.dtype == torch.float64 else torch.float32)
    dims = list(range(kind.rank - len(shape), kind.rank))
    mean = b.reduce(tcp.ReduceMeanOp, b.binary(tcp.MulOp, wide, wide), dims)
    epsilon = torch.finfo(type_of(wide).dtype).eps if epsilon is None else epsilon
    y = b.cast(
        b.binary(tcp.MulOp, wide, b.unary(tcp.RsqrtOp, b.binary_scalar(tcp.AddOp, mean, epsilon))),
        kind.dtype,
    )
    return y if weight is None else b.binary(tcp.MulOp, y, weight)


@converts("aten.softmax.int", "aten._softmax")
def softmax(b: Builder, call: Call) -> ir.Value:
    x = _with_a_dim(b, b.cast(call.args[0], call.result.dtype))
    y = b.unary(tcp.SoftmaxOp, x, dim=call.args[1] % type_of(x).rank)
    return b.reshape(y, call.result.shape)


@converts("aten._safe_softmax")
def safe_softmax(b: Builder, call: Call) -> ir.Value:
    """Softmax where a row of minus infinities results in zeros."""
    x = _with_a_dim(b, b.cast(call.args[0], call.result.dtype))
    dim = call.args[1] % type_of(x).rank
    y = _masked_rows_to_zero(b, x, b.unary(tcp.SoftmaxOp, x, dim=dim), dim)
    return b.reshape(y, call.result.shape)


def _with_a_dim(b: Builder, x: ir.Value) -> ir.Value:
    """A tensor of rank 0 as a row of one element, whose softmax is 1 unless it is not finite."""
    return b.reshape(x, type_of(x).shape or (1,))


def _masked_rows_to_zero(b: Builder, scores: ir.Value, weights: ir.Value, dim: int) -> ir.Value:
    """`weights`, the softmax of `scores` along `dim`, with zeros instead of NaN in rows where all
    scores are minus infinity."""
    kind = type_of(scores)
    top = b.reduce(tcp.ReduceMaxOp, scores, [dim % kind.rank])
    is_masked = b.compare("eq", top, b.scalar(-math.inf, kind.dtype, kind.rank))
    return b.select(is_masked, b.scalar(0, kind.dtype, kind.rank), weights)


@converts("aten.log_softmax.int", "aten._log_softmax")
def log_softmax(b: Builder, call: Call) -> ir.Value:
    """z - log(sum(exp(z))) with z = x - max(x)."""
    x = _with_a_dim(b, b.wide(b.cast(call.args[0], call.result.dtype)))
    dims = [call.args[1] % type_of(x).rank]
    z = b.binary(tcp.SubOp, x, b.reduce(tcp.ReduceMaxOp, x, dims))
    y = b.binary(
        tcp.SubOp, z, b.unary(tcp.LogOp, b.reduce(tcp.ReduceSumOp, b.unary(tcp.ExpOp, z), dims))
    )
    return b.reshape(b.cast(y, call.result.dtype), call.result.shape)
