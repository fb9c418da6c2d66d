# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arithmetic on `tcp` values with Python's operators, for conversions by a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of

__all__ = ["Expression", "Operand", "wide"]

Operand: TypeAlias = "Expression | float"


@dataclass(frozen=True)
class Expression:
    """A `tcp` value of any shape. Operands broadcast as in Torch; a number becomes a constant of
    the value's dtype.

    Comparisons result in an expression of bools, which `&`, `|` and `~` combine.
    """

    builder: Builder
    value: ir.Value

    @property
    def dtype(self) -> torch.dtype:
        return type_of(self.value).dtype

    def with_value(self, value: ir.Value) -> Expression:
        return Expression(self.builder, value)

    def operand(self, other: Operand) -> ir.Value:
        """`other` as a value of the same dtype; a number has the rank of this value."""
        if isinstance(other, Expression):
            return other.value
        kind = type_of(self.value)
        return self.builder.scalar(other, kind.dtype, kind.rank)

    def constant(self, number: float) -> Expression:
        return self.with_value(self.operand(number))

    def apply(self, op: type[ir.OpView], other: Operand) -> Expression:
        """A binary op with this value on the left."""
        return self.with_value(self.builder.binary(op, self.value, self.operand(other)))

    def unary(self, op: type[ir.OpView]) -> Expression:
        return self.with_value(self.builder.unary(op, self.value))

    def __add__(self, other: Operand) -> Expression:
        return self.apply(tcp.AddOp, other)

    def __radd__(self, other: float) -> Expression:
        return self + other

    def __sub__(self, other: Operand) -> Expression:
        return self.apply(tcp.SubOp, other)

    def __rsub__(self, other: float) -> Expression:
        return self.constant(other) - self

    def __mul__(self, other: Operand) -> Expression:
        return self.apply(tcp.MulOp, other)

    def __rmul__(self, other: float) -> Expression:
        return self * other

    def __truediv__(self, other: Operand) -> Expression:
        return self.apply(tcp.DivOp, other)

    def __rtruediv__(self, other: float) -> Expression:
        return self.constant(other) / self

    def __neg__(self) -> Expression:
        return self.unary(tcp.NegOp)

    def compare(self, predicate: str, other: Operand) -> Expression:
        return self.with_value(self.builder.compare(predicate, self.value, self.operand(other)))

    def __lt__(self, other: Operand) -> Expression:
        return self.compare("lt", other)

    def __le__(self, other: Operand) -> Expression:
        return self.compare("le", other)

    def __gt__(self, other: Operand) -> Expression:
        return self.compare("gt", other)

    def __ge__(self, other: Operand) -> Expression:
        return self.compare("ge", other)

    def equals(self, other: Operand) -> Expression:
        return self.compare("eq", other)

    def differs(self, other: Operand) -> Expression:
        return self.compare("ne", other)

    def __and__(self, other: Expression) -> Expression:
        return self.with_value(self.builder.select(self.value, other.value, self.value))

    def __or__(self, other: Expression) -> Expression:
        return self.with_value(self.builder.select(self.value, self.value, other.value))

    def __invert__(self) -> Expression:
        return self.equals(False)

    def where(self, condition: Expression, other: Operand) -> Expression:
        """This value where `condition` holds, `other` elsewhere."""
        return self.with_value(
            self.builder.select(condition.value, self.value, self.operand(other))
        )

    def replaced(self, condition: Expression, other: Operand) -> Expression:
        """`other` where `condition` holds, this value elsewhere."""
        return self.with_value(
            self.builder.select(condition.value, self.operand(other), self.value)
        )

    def abs(self) -> Expression:
        return self.unary(tcp.AbsOp)

    def sqrt(self) -> Expression:
        return self.unary(tcp.SqrtOp)

    def exp(self) -> Expression:
        return self.unary(tcp.ExpOp)

    def expm1(self) -> Expression:
        return self.unary(tcp.Expm1Op)

    def log(self) -> Expression:
        return self.unary(tcp.LogOp)

    def log1p(self) -> Expression:
        """log(u) * x / (u - 1) with u = 1 + x, in which the rounding errors of u cancel; x where u
        is 1, and log(u) where x is so large that u - 1 is infinite."""
        u = self + 1.0
        log = u.log()
        exact = log * (self / (u - 1.0))
        return exact.replaced(u.equals(math.inf), log).replaced(u.equals(1.0), self)

    def sin(self) -> Expression:
        return self.unary(tcp.SinOp)

    def cos(self) -> Expression:
        return self.unary(tcp.CosOp)

    def erf(self) -> Expression:
        return self.unary(tcp.ErfOp)

    def floor(self) -> Expression:
        return self.unary(tcp.FloorOp)

    def round(self) -> Expression:
        return self.unary(tcp.RoundOp)

    def copysign(self, sign: Operand) -> Expression:
        return self.apply(tcp.CopysignOp, sign)

    def maximum(self, other: Operand) -> Expression:
        return self.apply(tcp.MaximumOp, other)

    def minimum(self, other: Operand) -> Expression:
        return self.apply(tcp.MinimumOp, other)

    def is_nan(self) -> Expression:
        return self.differs(self)

    def is_infinite(self) -> Expression:
        return self.abs().equals(math.inf)

    def is_negative(self) -> Expression:
        """Whether the sign is negative, also of zeros and NaN."""
        return self.constant(1.0).copysign(self) < 0.0

    def polynomial(self, coefficients: Sequence[float]) -> Expression:
        """`coefficients[0] + coefficients[1] * x + ...`."""
        return self.with_value(
            self.builder.unary(
                tcp.PolynomialOp,
                self.value,
                coefficients=ir.DenseF64ArrayAttr.get([float(c) for c in coefficients]),
            )
        )

    def cast(self, dtype: torch.dtype) -> ir.Value:
        """The value as `dtype`."""
        return self.builder.cast(self.value, dtype)


def wide(b: Builder, x: ir.Value, dtype: torch.dtype = torch.float64) -> Expression:
    """`x` cast to `dtype`. In float64 a formula with a few roundings is right to the last bits of
    float32, without special care for cancellation."""
    return Expression(b, b.cast(x, dtype))
