# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops without an effect on values: copies, views of the same shape, dropout at inference,
assertions."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from convoy.frontend._builder import Builder, Unsupported
from convoy.frontend._registry import Call, Missing, converts

__all__: list[str] = []


@converts(
    "aten.alias",
    "aten.clone",
    "aten.contiguous",
    "aten.detach",
    "aten.lift_fresh",
    "aten.lift_fresh_copy",
)
def same(b: Builder, call: Call) -> ir.Value:
    return call.args[0]


@converts("aten.copy")
def copy(b: Builder, call: Call) -> ir.Value:
    """The second operand, broadcast and cast to the type of the first one."""
    return b.broadcast(b.cast(call.args[1], call.result.dtype), call.result.shape)


_DROPS = (
    "expected dropout in evaluation mode, got train=True: a compiled model has no random numbers; "
    "call module.eval(), and where forward passes training=True, pass self.training"
)


@converts("aten.dropout")
def dropout(b: Builder, call: Call) -> ir.Value:
    """The identity at inference."""
    x, probability, train = call.args
    if train and probability:
        raise Unsupported(_DROPS)
    return x


@converts("aten.native_dropout")
def native_dropout(b: Builder, call: Call) -> Sequence[ir.Value | Missing]:
    x, probability, train = call.args
    if train and probability:
        raise Unsupported(_DROPS)
    return [x, Missing("expected no use of a dropout mask, got one")]


@converts("aten._assert_tensor_metadata")
def assertion(b: Builder, call: Call) -> Sequence[ir.Value]:
    """Removed: the export has checked dtypes and shapes, which are static."""
    return []
