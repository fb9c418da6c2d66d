# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Matrix products and attention. `tcp.matmul` requires equal ranks of at least 2; vectors and
operands without batch dims are reshaped."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType

__all__ = ["product_with_weights"]


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
    x, weight, *rest = call.args
    bias = rest[0] if rest else None
    if type_of(weight).rank == 1:
        weight = b.reshape(weight, (1, *type_of(weight).shape))
    return b.reshape(product_with_weights(b, x, weight, bias), call.result.shape)


def product_with_weights(
    b: Builder, x: ir.Value, weight: ir.Value, bias: ir.Value | None
) -> ir.Value:
    """x @ weight.T + bias, over the flattened leading dims."""
    shape = type_of(x).shape
    matrix = b.transpose(weight, [1, 0])
    y = b.matmul(b.reshape(x, (math.prod(shape[:-1]), shape[-1])), matrix)
    if bias is not None:
        y = b.binary(tcp.AddOp, y, bias)
    return b.reshape(y, (*shape[:-1], type_of(weight).shape[0]))


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
    without any is zero. `tcp.attention` has one batch dim and one of heads."""
    q, k, v, mask, dropout, causal, *rest = call.args
    scale, grouped = (*rest, None, False)[:2] if len(rest) < 2 else rest
    if dropout:
        msg = f"expected attention without dropout, got dropout_p={dropout}"
        raise Unsupported(msg)
    if 0 in type_of(k).shape[-2:]:
        return b.constant(0 if type_of(k).shape[-1] else math.nan, call.result)
    if scale is None:
        scale = 1 / math.sqrt(type_of(q).shape[-1])
    shapes = [type_of(value).shape for value in (q, k, v)]
    # Grouped queries share heads of k and v, which are not broadcast.
    own = 3 if grouped else 2
    batch = np.broadcast_shapes(*(shape[:-own] for shape in shapes))
    q, k, v = (
        _with_four_dims(b, b.broadcast(value, (*batch, *shape[-own:])))
        for value, shape in zip((q, k, v), shapes, strict=True)
    )
    query = type_of(q)
    if mask is not None:
        mask = _score_mask(b, mask, query.dtype, (*call.result.shape[:-2], query.shape[2]))
    result = TensorType((*query.shape[:3], type_of(v).shape[3]), query.dtype)
    output = b.emit(
        tcp.AttentionOp, result, q, k, v, mask=mask, scale=float(scale), causal=bool(causal)
    )
    return b.reshape(output, call.result.shape)


def _with_four_dims(b: Builder, x: ir.Value) -> ir.Value:
    x = b.with_rank(x, max(4, type_of(x).rank))
    *batch, heads, rows, columns = type_of(x).shape
    return b.reshape(x, (math.prod(batch), heads, rows, columns))


def _score_mask(b: Builder, mask: ir.Value, dtype: torch.dtype, rows: tuple[int, ...]) -> ir.Value:
    """The mask as numbers that are added to scores.

    Args:
        b: The builder.
        mask: Bools or numbers, which broadcast to the scores.
        dtype: The dtype of the scores.
        rows: The shape of the scores without its last dim.

    Returns:
        The mask with four dims.
    """
    if type_of(mask).dtype == torch.bool:
        zero, lowest = (b.scalar(number, dtype, type_of(mask).rank) for number in (0, -math.inf))
        mask = b.select(mask, zero, lowest)
    mask = b.with_rank(b.cast(mask, dtype), len(rows) + 1)
    shape = type_of(mask).shape
    # Batch dims are collapsed together, so either all of them broadcast or none.
    batch = max(0, len(rows) - 2)
    if batch > 1 and math.prod(shape[:batch]) not in (1, math.prod(rows[:batch])):
        mask = b.broadcast(mask, (*rows[:batch], *shape[batch:]))
    return _with_four_dims(b, mask)
