# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Distances between vectors, products of three tensors, and losses and activations whose
decompositions in Torch are missing or wrong."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend.indexing import select_along
from convoy.frontend.reduction import norm_over

__all__: list[str] = []


@converts("aten.dist")
def dist(b: Builder, call: Call) -> ir.Value:
    """The norm of x - y over all dims."""
    x, y, order = call.args
    x, y = (b.wide(b.cast(value, call.result.dtype)) for value in (x, y))
    difference = b.binary(tcp.SubOp, x, y)
    norm = norm_over(b, difference, list(range(type_of(difference).rank)), order)
    return b.reshape(b.cast(norm, call.result.dtype), call.result.shape)


@converts("aten._cdist_forward")
def cdist(b: Builder, call: Call) -> ir.Value:
    """The norms of the differences of each row of x (... x P x M) and each row of y (... x R x M):
    ... x P x R. Always of the differences, also where PyTorch uses a product of matrices, which
    loses digits."""
    x, y, order, _ = call.args
    rows, others = type_of(x).shape, type_of(y).shape
    x = b.reshape(b.wide(x), (*rows[:-1], 1, rows[-1]))
    y = b.reshape(b.wide(y), (*others[:-2], 1, *others[-2:]))
    difference = b.binary(tcp.SubOp, x, y)
    norm = norm_over(b, difference, [type_of(difference).rank - 1], order)
    return b.reshape(b.cast(norm, call.result.dtype), call.result.shape)


@converts("aten._pdist_forward")
def pdist(b: Builder, call: Call) -> ir.Value:
    """The norms of the differences of all pairs of rows i < j."""
    x, order = call.args
    wide = b.wide(x)
    count = type_of(wide).shape[0]
    pairs = torch.triu_indices(count, count, 1, dtype=torch.int32)
    left, right = (
        select_along(
            b, wide, b.weight(f"pairs_of_{count}_{side}", places.contiguous()), 0, in_bounds=True
        )
        for side, places in enumerate(pairs)
    )
    norm = norm_over(b, b.binary(tcp.SubOp, left, right), [1], order)
    return b.reshape(b.cast(norm, call.result.dtype), call.result.shape)


@converts("aten._trilinear")
def trilinear(b: Builder, call: Call) -> ir.Value:
    """The product of three tensors, each with new dims of size 1, summed over dims (the op of
    nn.Bilinear)."""
    *given, dims, _ = call.args
    factors = []
    for value, new in zip(given[:3], given[3:], strict=True):
        shape = [*type_of(value).shape]
        for dim in sorted(new):
            shape.insert(dim, 1)
        factors.append(b.reshape(b.wide(value), shape))
    product = b.binary(tcp.MulOp, b.binary(tcp.MulOp, factors[0], factors[2]), factors[1])
    total = b.reduce(tcp.ReduceSumOp, product, list(dims))
    return b.reshape(b.cast(total, call.result.dtype), call.result.shape)


@converts("aten.ldexp.Tensor")
def ldexp(b: Builder, call: Call) -> ir.Value:
    """x * 2^y. An integer y may exceed the exponents of the dtype, as for a small x. So the result
    is a product of three powers in its range, of which the first is 2^y if that is in range."""
    dtype = call.result.dtype
    is_float = type_of(call.args[1]).dtype.is_floating_point
    x, y = (b.wide(b.cast(value, dtype)) for value in call.args)
    kind = type_of(y)
    two = b.scalar(2.0, kind.dtype, kind.rank)
    if is_float:
        return b.cast(b.binary(tcp.MulOp, x, b.binary(tcp.PowOp, two, y)), dtype)
    limit = 1022 if kind.dtype == torch.float64 else 126
    for _ in range(3):
        part = b.clamp(y, -limit, limit)
        x = b.binary(tcp.MulOp, x, b.binary(tcp.PowOp, two, part))
        y = b.binary(tcp.SubOp, y, part)
    return b.cast(x, dtype)


@converts("aten.rrelu_with_noise_functional", "aten.rrelu_with_noise")
def rrelu(b: Builder, call: Call) -> ir.Value | Sequence[ir.Value | Missing]:
    """Without training leaky relu with the mean of the two slopes."""
    x, _, lower, upper, training, *_ = call.args
    if training:
        msg = (
            "expected rrelu in evaluation mode, got training=True: a compiled model has no random "
            "numbers; call module.eval()"
        )
        raise Unsupported(msg)
    y = b.unary(tcp.LeakyReluOp, x, negative_slope=(lower + upper) / 2)
    if call.name == "aten.rrelu_with_noise":
        return y
    return [y, Missing("expected use of the result of rrelu only, got use of its noise")]


@converts("aten.multilabel_margin_loss_forward")
def multilabel_margin_loss(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The sum of max(0, 1 - (x[target] - x[i])) over the targets before the first -1 and the i
    that are no target, divided by the number of classes. Torch's decomposition also counts what
    follows the -1."""
    x, target, reduction = call.args
    kind = type_of(x)
    count = kind.shape[-1] if kind.shape else 1
    rows = (kind.shape[0] if kind.rank == 2 else 1, count)
    wide, target = b.reshape(b.wide(x), rows), b.reshape(target, rows)
    places = b.weight(f"classes_{count}", torch.arange(count))
    ends = b.compare("eq", target, b.scalar(-1, torch.int64, 2))
    # The first -1: the smallest place as the negated maximum of the negated places.
    after = b.select(ends, b.with_rank(places, 2), b.scalar(count, torch.int64, 2))
    negated = b.reduce(tcp.ReduceMaxOp, b.unary(tcp.NegOp, after), [1])
    valid = b.compare("lt", b.with_rank(places, 2), b.unary(tcp.NegOp, negated))
    chosen = b.select(valid, target, b.scalar(0, torch.int64, 2))
    scores = b.emit(tcp.GatherOp, type_of(wide), wide, chosen, dim=1)
    # N x targets x classes.
    known = b.select(valid, target, b.scalar(-1, torch.int64, 2))
    hits = b.compare("eq", b.reshape(known, (*rows, 1)), b.reshape(places, (1, 1, count)))
    hits = b.reduce(tcp.ReduceMaxOp, b.cast(hits, torch.int32), [1])
    is_target = b.compare("ne", hits, b.scalar(0, torch.int32, 3))
    others = Expression(b, b.reshape(wide, (rows[0], 1, count)))
    margin = 1.0 - Expression(b, b.reshape(scores, (*rows, 1))) + others
    margin = margin.maximum(0.0).replaced(Expression(b, is_target), 0.0)
    margin = margin.where(Expression(b, b.reshape(valid, (*rows, 1))), 0.0)
    total = b.reduce(tcp.ReduceSumOp, margin.value, [1, 2])
    total = b.binary_scalar(tcp.DivOp, b.reshape(total, (rows[0],)), count)
    if reduction == 1:
        total = b.reduce(tcp.ReduceMeanOp, total, [0])
    elif reduction == 2:
        total = b.reduce(tcp.ReduceSumOp, total, [0])
    loss, marks = call.results
    marked = b.cast(b.reshape(is_target, rows), marks.dtype)
    return [b.reshape(b.cast(total, loss.dtype), loss.shape), b.reshape(marked, marks.shape)]
