# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops that change the shape of a tensor or repeat its elements."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch_mlir import ir

from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts

__all__ = ["stretch"]


@converts(
    "aten._unsafe_view",
    "aten.flatten.using_ints",
    "aten.reshape",
    "aten.reshape_as",
    "aten.squeeze",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
    "aten.unflatten.int",
    "aten.unsqueeze",
    "aten.view",
    "aten.view_as",
    "aten.view_copy",
)
def reshape(b: Builder, call: Call) -> ir.Value:
    """Reshapes to Torch's result shape."""
    return b.reshape(call.args[0], call.result.shape)


@converts("aten.permute", "aten.permute_copy")
def permute(b: Builder, call: Call) -> ir.Value:
    x, dims = call.args
    return b.transpose(x, [dim % len(dims) for dim in dims])


@converts("aten.transpose.int")
def transpose(b: Builder, call: Call) -> ir.Value:
    x, first, second = call.args
    perm = list(range(type_of(x).rank))
    if perm:
        perm[first], perm[second] = perm[second], perm[first]
    return b.transpose(x, perm)


@converts("aten.t", "aten.numpy_T", "aten.mT")
def t(b: Builder, call: Call) -> ir.Value:
    """`t` and `T` reverse all dims, `mT` swaps the last two."""
    x = call.args[0]
    perm = list(range(type_of(x).rank))
    perm = [*perm[:-2], *perm[:-3:-1]] if call.name == "aten.mT" else perm[::-1]
    return b.transpose(x, perm)


@converts("aten.expand", "aten.expand_as", "aten.broadcast_to")
def expand(b: Builder, call: Call) -> ir.Value:
    return b.broadcast(call.args[0], call.result.shape)


@converts("aten.repeat")
def repeat(b: Builder, call: Call) -> ir.Value:
    """A dim of size n repeated r times is a broadcast 1 x n -> r x n, flattened."""
    result = call.result.shape
    shape = type_of(b.with_rank(call.args[0], len(result))).shape
    apart = [size for n in shape for size in (1, n)]
    wide = [
        size for n, total in zip(shape, result, strict=True) for size in (total // n if n else 1, n)
    ]
    return b.reshape(b.broadcast(b.reshape(call.args[0], apart), wide), result)


@converts("aten.repeat_interleave.self_int")
def repeat_interleave(b: Builder, call: Call) -> ir.Value:
    x, times, dim, *_ = call.args
    if dim is None:
        x, dim = b.reshape(x, (math.prod(type_of(x).shape),)), 0
    return stretch(b, x, {dim % type_of(x).rank: times})


def stretch(b: Builder, x: ir.Value, times: Mapping[int, int]) -> ir.Value:
    """Repeats each element along dims, each a number of times: a broadcast n x 1 -> n x times,
    flattened."""
    split, wide, flat = [], [], []
    for dim, n in enumerate(type_of(x).shape):
        count = times.get(dim, 1)
        split += [n, 1] if count != 1 else [n]
        wide += [n, count] if count != 1 else [n]
        flat.append(n * count)
    return b.reshape(b.broadcast(b.reshape(x, split), wide), flat)
