# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rotations of the columns of matrices until they are orthogonal: the one-sided Jacobi method.

One step rotates each column of the first half and the one below it in the second half, and then
moves the columns like the players of a round-robin tournament. So the steps are equal, and one
`tcp.scan`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._rotations import ORTHOGONAL


@converts("convoy.rotate_columns")
def rotate_columns(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The state has the rotated columns above the matrix of the rotations."""
    x, sweeps = call.args
    batch, rows, columns = type_of(x).shape
    half = (columns + 1) // 2
    one = torch.eye(columns, dtype=type_of(x).dtype)
    matrix = b.broadcast(b.weight(f"eye_{columns}", one), (batch, columns, columns))
    both = b.concat([x, matrix], 1)
    if columns % 2:
        zeros = b.broadcast(b.scalar(0, one.dtype, 3), (batch, rows + columns, 1))
        both = b.concat([both, zeros], 2)

    def step(
        body: Builder,
        state: Sequence[ir.Value],
        element: Sequence[ir.Value],
        invariant: Sequence[ir.Value],
    ) -> Sequence[ir.Value]:
        return _moved(body, *_rotated(body, rows, *state))

    halves = [b.slice(both, 2, 0, half), b.slice(both, 2, half, half)]
    done = b.concat(b.scan(sweeps * (2 * half - 1), step, halves, [], [], []), 2)
    done = b.slice(done, 2, 0, columns)
    return b.slice(done, 1, 0, rows), b.slice(done, 1, rows, columns)


def _rotated(b: Builder, rows: int, left: ir.Value, right: ir.Value) -> list[ir.Value]:
    """The columns of two matrices after the rotation that makes each pair orthogonal in the first
    rows."""
    x, y = b.slice(left, 1, 0, rows), b.slice(right, 1, 0, rows)

    def dot(a: ir.Value, c: ir.Value) -> ir.Value:
        return b.reduce(tcp.ReduceSumOp, b.binary(tcp.MulOp, a, c), [1])

    xx, yy, xy = dot(x, x), dot(y, y), dot(x, y)
    one, zero = b.scalar(1, type_of(x).dtype, 3), b.scalar(0, type_of(x).dtype, 3)
    lengths = b.binary(tcp.MulOp, b.unary(tcp.SqrtOp, xx), b.unary(tcp.SqrtOp, yy))
    limit = b.binary_scalar(tcp.MulOp, lengths, ORTHOGONAL)
    # NaN rotates, so that it is in all results.
    is_orthogonal = b.compare("le", b.unary(tcp.AbsOp, xy), limit)
    divisor = b.select(is_orthogonal, one, b.binary_scalar(tcp.MulOp, xy, 2))
    ratio = b.binary(tcp.DivOp, b.binary(tcp.SubOp, yy, xx), divisor)
    root = b.unary(tcp.SqrtOp, b.binary(tcp.AddOp, b.binary(tcp.MulOp, ratio, ratio), one))
    size = b.binary(tcp.AddOp, b.unary(tcp.AbsOp, ratio), root)
    sign = b.select(b.compare("lt", ratio, zero), b.unary(tcp.NegOp, one), one)
    tangent = b.select(is_orthogonal, zero, b.binary(tcp.DivOp, sign, size))
    square = b.binary(tcp.AddOp, b.binary(tcp.MulOp, tangent, tangent), one)
    cosine = b.binary(tcp.DivOp, one, b.unary(tcp.SqrtOp, square))
    sine = b.binary(tcp.MulOp, cosine, tangent)

    def scaled(matrix: ir.Value, factor: ir.Value) -> ir.Value:
        return b.binary(tcp.MulOp, matrix, factor)

    return [
        b.binary(tcp.SubOp, scaled(left, cosine), scaled(right, sine)),
        b.binary(tcp.AddOp, scaled(left, sine), scaled(right, cosine)),
    ]


def _moved(b: Builder, left: ir.Value, right: ir.Value) -> list[ir.Value]:
    """The first column stays, and all others move by one place around: to the end of the first half
    and back through the second one."""
    half = type_of(left).shape[2]
    if half == 1:
        return [left, right]
    first = [b.slice(left, 2, 0, 1), b.slice(right, 2, 0, 1)]
    if half > 2:
        first.append(b.slice(left, 2, 1, half - 2))
    last = [b.slice(right, 2, 1, half - 1), b.slice(left, 2, half - 1, 1)]
    return [b.concat(first, 2), b.concat(last, 2)]
