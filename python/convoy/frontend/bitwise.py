# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops on the bits of integers, and their greatest common divisor."""

from __future__ import annotations

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of, wrapped_number
from convoy.frontend._registry import Call, converts
from convoy.frontend.binary import logical_of

__all__: list[str] = []

_OPS = {
    "bitwise_and": tcp.BitwiseAndOp,
    "bitwise_or": tcp.BitwiseOrOp,
    "bitwise_xor": tcp.BitwiseXorOp,
    "bitwise_left_shift": tcp.ShiftLeftOp,
    "bitwise_right_shift": tcp.ShiftRightOp,
    "__lshift__": tcp.ShiftLeftOp,
    "__rshift__": tcp.ShiftRightOp,
}
#: Ops of bools compare and select, which cuDNN can fuse.
_LOGICAL = {tcp.BitwiseAndOp: "and", tcp.BitwiseOrOp: "or", tcp.BitwiseXorOp: "xor"}
_FORMS = ("Tensor", "Scalar", "Scalar_Tensor")
_SHIFTS = ("Tensor", "Tensor_Scalar", "Scalar_Tensor")


@converts(
    *(f"aten.bitwise_{name}.{form}" for name in ("and", "or", "xor") for form in _FORMS),
    *(f"aten.bitwise_{name}_shift.{form}" for name in ("left", "right") for form in _SHIFTS),
    *(f"aten.__{name}shift__.{form}" for name in ("l", "r") for form in ("Tensor", "Scalar")),
)
def bitwise(b: Builder, call: Call) -> ir.Value:
    """A shift by a negative number of bits or by all bits leaves 0, or -1 for a negative number
    that is shifted right."""
    op = _OPS[call.name.split(".")[1]]
    if call.result.dtype == torch.bool and op in _LOGICAL:
        return logical_of(b, _LOGICAL[op], *call.args)
    return b.binary(op, *_operands(b, call))


@converts("aten.bitwise_not")
def bitwise_not(b: Builder, call: Call) -> ir.Value:
    """x xor -1, whose bits are all set; x == 0 for bools."""
    x = call.args[0]
    kind = type_of(x)
    if kind.dtype == torch.bool:
        return b.compare("eq", x, b.scalar(0, kind.dtype, kind.rank))
    return b.binary(tcp.BitwiseXorOp, x, b.scalar(-1, kind.dtype, kind.rank))


@converts("aten.gcd")
def gcd(b: Builder, call: Call) -> ir.Value:
    return b.binary(tcp.GcdOp, *_operands(b, call))


@converts("aten.lcm")
def lcm(b: Builder, call: Call) -> ir.Value:
    """|x / gcd * y|, which is 0 if both are 0: `tcp.div` by 0 is 0. As in C++, 8 and 16 bits are
    promoted to 32, and the result wraps around after the absolute value: it can be negative."""
    dtype = call.result.dtype
    x, y = (b.cast(value, torch.promote_types(dtype, torch.int32)) for value in _operands(b, call))
    divisor = b.binary(tcp.GcdOp, x, y)
    product = b.binary(tcp.MulOp, b.binary(tcp.DivOp, x, divisor), y)
    return b.cast(b.unary(tcp.AbsOp, product), dtype)


def _operands(b: Builder, call: Call) -> list[ir.Value]:
    """The operands in the dtype of the result."""
    dtype = call.result.dtype
    return [
        b.cast(value, dtype)
        if isinstance(value, ir.Value)
        else b.scalar(wrapped_number(value, dtype), dtype, 0)
        for value in call.args
    ]
