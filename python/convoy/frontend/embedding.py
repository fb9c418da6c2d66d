# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rows of a table, and their sum, mean or maximum over bags of indices."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, Missing, converts
from convoy.frontend._types import TensorType
from convoy.frontend.indexing import select_along
from convoy.frontend.scans import scan_sum
from convoy.frontend.scatter import combine, write

__all__: list[str] = []

_NOT_COMPUTED = Missing("expected use of the first result only, got use of one for gradients")
#: The argument `mode` of PyTorch's op.
_MODES = ("sum", "mean", "amax")


@converts("aten.embedding")
def embedding(b: Builder, call: Call) -> ir.Value:
    """The other arguments are about gradients."""
    table, indices = call.args[:2]
    return select_along(b, table, indices, 0)


@converts(
    "aten.embedding_bag",
    "aten.embedding_bag.padding_idx",
    "aten._embedding_bag",
    "aten._embedding_bag_forward_only",
)
def embedding_bag(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    """Rows are added to their bags in order, by `tcp.scatter`, so offsets may be inputs. A bag
    without rows is 0. The maximum of a bag with NaN is NaN; PyTorch's depends on the order."""
    table, indices, offsets, _, mode, _, factors, _, *padding = call.args
    bags, columns = call.result.shape
    (count,) = type_of(indices).shape
    rows = b.wide(select_along(b, table, indices, 0))
    zeros = b.full(0, TensorType((bags, columns), type_of(rows).dtype))
    bag = _bag_of_each(b, offsets, count)
    size = type_of(table).shape[0]
    # PyTorch's ops differ in how they pass no padding: None, or a negative number.
    skipped = padding[0] if padding else None
    if skipped is not None and skipped < 0:
        skipped = skipped + size if call.name == "aten.embedding_bag.padding_idx" else None
    if skipped is not None:
        kind = type_of(indices)
        is_padding = b.compare("eq", indices, b.scalar(skipped, kind.dtype, 1))
        bag = b.select(is_padding, b.scalar(-1, torch.int64, 1), bag)
    if factors is not None:
        factors = b.cast(factors, type_of(rows).dtype)
        rows = b.binary(tcp.MulOp, rows, b.reshape(factors, (count, 1)))
    bag = b.reshape(bag, (count, 1))
    y = combine(b, zeros, bag, rows, 0, _MODES[mode], include_self=False)
    return [b.cast(y, call.result.dtype), *[_NOT_COMPUTED] * (len(call.results) - 1)]


def _bag_of_each(b: Builder, offsets: ir.Value, count: int) -> ir.Value:
    """The bag of each position: the number of bags that begin before or at it, minus 1. With
    `include_last_offset` the positions from the last offset on have a number that no bag has;
    PyTorch expects none, and its results for them depend on the dtype."""
    starts = b.full(1, TensorType(type_of(offsets).shape, torch.int64))
    begun = write(b, b.full(0, TensorType((count,), torch.int64)), offsets, starts, 0, "add")
    return b.binary_scalar(tcp.SubOp, scan_sum(b, begun, 0), 1)
