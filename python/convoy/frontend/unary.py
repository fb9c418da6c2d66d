# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise ops of one tensor, as one `tcp` op or a few."""

from __future__ import annotations

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts

__all__: list[str] = []

_SAME = {
    "aten.abs": tcp.AbsOp,
    "aten.ceil": tcp.CeilOp,
    "aten.cos": tcp.CosOp,
    "aten.erf": tcp.ErfOp,
    "aten.exp": tcp.ExpOp,
    "aten.floor": tcp.FloorOp,
    "aten.log": tcp.LogOp,
    "aten.neg": tcp.NegOp,
    "aten.reciprocal": tcp.ReciprocalOp,
    "aten.round": tcp.RoundOp,
    "aten.rsqrt": tcp.RsqrtOp,
    "aten.sigmoid": tcp.SigmoidOp,
    "aten.silu": tcp.SiluOp,
    "aten.sin": tcp.SinOp,
    "aten.sqrt": tcp.SqrtOp,
    "aten.tanh": tcp.TanhOp,
}
_ROUNDING = ("aten.ceil", "aten.floor", "aten.round")


@converts(*_SAME)
def unary(b: Builder, call: Call) -> ir.Value:
    """The operand is cast first, because Torch's result is also floating-point for integers, except
    for abs, neg and rounding."""
    x = call.args[0]
    if call.name in _ROUNDING and not call.result.dtype.is_floating_point:
        return x
    return b.unary(_SAME[call.name], b.cast(x, call.result.dtype))


@converts("aten.square")
def square(b: Builder, call: Call) -> ir.Value:
    x = b.cast(call.args[0], call.result.dtype)
    return b.binary(tcp.MulOp, x, x)


@converts("aten.trunc")
def trunc(b: Builder, call: Call) -> ir.Value:
    """ceil for negative elements, else floor."""
    x = call.args[0]
    kind = type_of(x)
    if not kind.dtype.is_floating_point:
        return x
    below = b.compare("lt", x, b.scalar(0.0, kind.dtype, kind.rank))
    return b.select(below, b.unary(tcp.CeilOp, x), b.unary(tcp.FloorOp, x))


@converts("aten.sign", "aten.sgn")
def sign(b: Builder, call: Call) -> ir.Value:
    """(x > 0) - (x < 0); a bool is its own sign."""
    x = call.args[0]
    kind = type_of(x)
    if kind.dtype == torch.bool:
        return x
    zero = b.scalar(0, kind.dtype, kind.rank)
    above, below = b.compare("gt", x, zero), b.compare("lt", x, zero)
    return b.binary(tcp.SubOp, b.cast(above, kind.dtype), b.cast(below, kind.dtype))


@converts("aten._to_copy", "aten.to.dtype", "aten.to.other", "prims.convert_element_type")
def to(b: Builder, call: Call) -> ir.Value:
    """Casts to the result's dtype. Devices and memory formats have no meaning in value
    semantics."""
    return b.cast(call.args[0], call.result.dtype)


@converts("aten.type_as")
def type_as(b: Builder, call: Call) -> ir.Value:
    return b.cast(call.args[0], call.result.dtype)


@converts("aten.logical_not")
def logical_not(b: Builder, call: Call) -> ir.Value:
    """x == 0."""
    x = call.args[0]
    kind = type_of(x)
    return b.compare("eq", x, b.scalar(0, kind.dtype, kind.rank))


@converts("aten.isnan")
def isnan(b: Builder, call: Call) -> ir.Value:
    """x != x, which is true only for NaN."""
    return b.compare("ne", call.args[0], call.args[0])
