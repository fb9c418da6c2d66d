# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Matrix products and attention. `tcp.matmul` requires equal ranks of at least 2; vectors and
operands without batch dims are reshaped."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend.normalization import masked_rows_to_zero

__all__: list[str] = []


@converts("aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot")
def matmul(b: Builder, call: Call) -> ir.Value:
    """A vector on the left is a row, on the right a column; the result drops that dim."""
    x, y = (b.cast(value, call.result.dtype) for value in call.args)
    left, right = type_of(x), type_of(y)
    if left.rank == 1:
        x = b.reshape(x, (1, *left.shape))
    if right.rank == 1:
        y = b.reshape(y, (*right.shape, 1))
    return b.reshape(b.matmul(x, y), call.result.shape)


@converts("aten.linear")
def linear(b: Builder, call: Call) -> ir.Value:
    """x @ weight.T + bias, over the flattened leading dims."""
    x, weight, *rest = call.args
    bias = rest[0] if rest else None
    features = type_of(x).shape[-1]
    kind = type_of(weight)
    matrix = b.transpose(weight, [1, 0]) if kind.rank == 2 else b.reshape(weight, (features, 1))
    y = b.matmul(b.reshape(x, (math.prod(type_of(x).shape[:-1]), features)), matrix)
    if bias is not None:
        y = b.binary(tcp.AddOp, y, bias)
    return b.reshape(y, call.result.shape)


@converts("aten.addmm", "aten.baddbmm", "aten.addmv", "aten.addbmm")
def addmm(b: Builder, call: Call) -> ir.Value:
    """beta * c + alpha * (x @ y). addbmm adds up the products of the batch."""
    c, x, y, beta, alpha = call.args
    if type_of(y).rank == 1:
        y = b.reshape(y, (*type_of(y).shape, 1))
        product = b.reshape(b.matmul(x, y), call.result.shape)
    else:
        product = b.matmul(x, y)
    if call.name == "aten.addbmm":
        product = b.reshape(b.reduce(tcp.ReduceSumOp, product, [0]), type_of(product).shape[1:])
    if alpha != 1:
        product = b.binary_scalar(tcp.MulOp, product, alpha)
    if beta == 0:
        return product
    if beta != 1:
        c = b.binary_scalar(tcp.MulOp, c, beta)
    return b.binary(tcp.AddOp, product, c)


@converts("aten.scaled_dot_product_attention")
def attention(b: Builder, call: Call) -> ir.Value:
    """softmax(q @ k.T * scale + mask) @ v. A bool mask keeps the scores where it is true; a row
    without any is zero. Grouped queries repeat k and v."""
    q, k, v, mask, dropout, causal, *rest = call.args
    scale, grouped = (*rest, None, False)[:2] if len(rest) < 2 else rest
    if dropout:
        msg = f"expected attention without dropout, got dropout_p={dropout}"
        raise Unsupported(msg)
    query, key = type_of(q), type_of(k)
    if grouped and key.shape[-3] != query.shape[-3]:
        k, v = (_repeat_heads(b, value, query.shape[-3]) for value in (k, v))
    rank = type_of(k).rank
    scores = b.matmul(q, b.transpose(k, [*range(rank - 2), rank - 1, rank - 2]))
    scores = b.binary_scalar(
        tcp.MulOp, scores, 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    )
    if causal:
        rows, columns = query.shape[-2], key.shape[-2]
        mask = b.weight(
            f"causal_mask_{rows}x{columns}", torch.ones(rows, columns, dtype=torch.bool).tril()
        )
    kind = type_of(scores)
    if mask is not None and type_of(mask).dtype == torch.bool:
        scores = b.select(
            b.with_rank(mask, kind.rank), scores, b.scalar(-math.inf, kind.dtype, kind.rank)
        )
    elif mask is not None:
        scores = b.binary(tcp.AddOp, scores, b.cast(mask, kind.dtype))
    weights = b.unary(tcp.SoftmaxOp, scores, dim=kind.rank - 1)
    return b.matmul(
        weights if mask is None or causal else masked_rows_to_zero(b, scores, weights), v
    )


def _repeat_heads(b: Builder, x: ir.Value, heads: int) -> ir.Value:
    shape = type_of(x).shape
    batch, own, tail = shape[:-3], shape[-3], shape[-2:]
    wide = b.broadcast(b.reshape(x, (*batch, own, 1, *tail)), (*batch, own, heads // own, *tail))
    return b.reshape(wide, (*batch, heads, *tail))
