# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which elements of an op's result depend on the rows of a symbol, for each op of `tcp`.

A value whose size has the symbol s has one such dim, of outer * s * inner elements: element
(i * s + j) * inner + k belongs to row j. A rule says that row j of the results depends on row j of
the operands alone, or refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from torch_mlir import ir

__all__ = ["RULES", "Mark", "Mixed", "OpView", "Operand", "join"]


class Mixed(Exception):
    """An op may mix rows. The message says how."""


class Mark(NamedTuple):
    """The rows of a value.

    Attributes:
        dim: The dim that has them.
        outer: The number of times that the dim has all rows; None if all rows are equal.
        inner: The number of elements of a row next to each other.
    """

    dim: int
    outer: int | None
    inner: int


class Operand(NamedTuple):
    """An operand.

    Attributes:
        shape: Its shape.
        mark: Its rows; None if its sizes do not depend on the symbol.
    """

    shape: tuple[int, ...]
    mark: Mark | None


@dataclass(frozen=True)
class OpView:
    """An op and its operands.

    Attributes:
        op: The op.
        operands: Its operands.
        shape: The shape of its first result.
        dim: The dim of the first result that depends on the symbol; None if no dim does.
        rows: The value of the symbol.
        least: The smallest value of the symbol.
    """

    op: ir.Operation
    operands: Sequence[Operand]
    shape: tuple[int, ...]
    dim: int | None
    rows: int
    least: int

    def number(self, name: str) -> int:
        """An integer attribute."""
        return int(ir.IntegerAttr(self.op.attributes[name]).value)

    def numbers(self, name: str) -> list[int]:
        """An attribute with a list of integers."""
        return list(ir.DenseI64ArrayAttr(self.op.attributes[name]))

    def new(self, outer: int | None) -> Mark | None:
        """The mark of a result whose rows are given by its type."""
        if self.dim is None:
            return None
        inner, rest = divmod(self.shape[self.dim], self.rows * (outer or 1))
        if rest:
            raise Mixed("has rows between others")
        return Mark(self.dim, outer, inner)


Rule = Callable[[OpView], Mark | None]


def join(marks: Sequence[Mark | None]) -> Mark | None:
    """The mark of elements that depend on elements with these marks at the same places. Raises
    Mixed if they belong to different rows."""
    found: Mark | None = None
    for mark in marks:
        if mark is None:
            continue
        if found is None or (found.dim == mark.dim and found.outer is None):
            found = mark
        elif found != mark and not (found.dim == mark.dim and mark.outer is None):
            raise Mixed("combines elements of different rows")
    return found


def _elementwise(view: OpView) -> Mark | None:
    # A dim of size 1 is broadcast.
    return join([operand.mark for operand in view.operands]) or view.new(None)


def _reshape(view: OpView) -> Mark | None:
    (operand,) = view.operands
    if operand.mark is None:
        return None
    dim, outer, inner = operand.mark
    if view.dim is None:
        raise Mixed("has a result without rows")
    behind = inner * prod(operand.shape[dim + 1 :])
    new_inner, rest = divmod(behind, prod(view.shape[view.dim + 1 :]))
    before = prod(operand.shape[:dim]) * (outer or 1)
    new_outer, more = divmod(before, prod(view.shape[: view.dim]))
    if outer is None:
        # Equal rows, but only those of the same place before and behind.
        whole = prod(operand.shape[:dim]) == prod(view.shape[: view.dim])
        if not whole or prod(operand.shape[dim + 1 :]) != prod(view.shape[view.dim + 1 :]):
            return Mark(view.dim, *_split(view, new_outer, new_inner, rest or more))
        return Mark(view.dim, None, inner)
    return Mark(view.dim, *_split(view, new_outer, new_inner, rest or more))


def _split(view: OpView, outer: int, inner: int, rest: int) -> tuple[int, int]:
    assert view.dim is not None
    if rest or outer * inner * view.rows != view.shape[view.dim]:
        raise Mixed("puts a part of the rows into another dim")
    return outer, inner


def _transpose(view: OpView) -> Mark | None:
    mark = view.operands[0].mark
    return mark and mark._replace(dim=view.numbers("perm").index(mark.dim))


def _slice(view: OpView) -> Mark | None:
    operand = view.operands[0]
    mark = operand.mark
    starts, strides = view.numbers("starts"), view.numbers("strides")
    if mark is None:
        # The first rows of a constant.
        if view.dim is not None and (starts[view.dim] or strides[view.dim] != 1):
            raise Mixed("takes rows from the middle of a constant")
        return view.new(1)
    if view.dim is not None:
        whole = view.shape[view.dim] == operand.shape[mark.dim]
        if view.dim != mark.dim or not whole:
            raise Mixed("takes a part of the rows")
        return mark
    last = starts[mark.dim] + (view.shape[mark.dim] - 1) * strides[mark.dim]
    if mark.outer not in (None, 1) or last >= view.least * mark.inner:
        raise Mixed("takes rows that a smaller size does not have")
    return None


def _broadcast(view: OpView) -> Mark | None:
    mark = view.operands[0].mark
    if mark is not None and mark.dim != view.dim:
        raise Mixed("moves the rows")
    return mark or view.new(None)


def _without(name: str, dims: Callable[[OpView], Sequence[int]]) -> Rule:
    """The rule of an op that is independent along all other dims."""

    def rule(view: OpView) -> Mark | None:
        mark = join([operand.mark for operand in view.operands])
        if mark is not None and mark.dim in dims(view):
            raise Mixed(f"{name} the rows")
        return mark

    return rule


def _images(count: int) -> Rule:
    """The rule of an op on images, its first `count` operands. The other operands are filters."""

    def rule(view: OpView) -> Mark | None:
        if any(operand.mark is not None for operand in view.operands[count:]):
            raise Mixed("has filters that depend on the size")
        mark = join([operand.mark for operand in view.operands[:count]])
        if mark is not None and mark.dim != 0:
            raise Mixed("combines neighbours among the rows")
        return mark

    return rule


def _matmul(view: OpView) -> Mark | None:
    rank = len(view.shape)
    left, right = (operand.mark for operand in view.operands)
    if (left is not None and left.dim == rank - 1) or (right is not None and right.dim == rank - 2):
        raise Mixed("adds up the rows")
    return join([left, right])


def _attention(view: OpView) -> Mark | None:
    mark = join([operand.mark for operand in view.operands])
    if mark is not None and mark.dim > 1:
        raise Mixed("combines the rows with each other")
    return mark


def _index_select(view: OpView) -> Mark | None:
    x, indices = view.operands
    dim = view.number("dim")
    if x.mark is not None and indices.mark is not None:
        raise Mixed("selects rows by indices of rows")
    if x.mark is not None:
        if x.mark.dim == dim:
            raise Mixed("selects among the rows")
        return x.mark._replace(dim=x.mark.dim + (len(indices.shape) - 1 if x.mark.dim > dim else 0))
    return indices.mark and indices.mark._replace(dim=indices.mark.dim + dim)


def _gather(view: OpView) -> Mark | None:
    x, indices = view.operands
    if x.mark is not None and x.mark.dim == view.number("dim"):
        raise Mixed("selects among the rows")
    if x.mark is not None and indices.mark is None:
        raise Mixed("takes a part of the rows")
    mark = join([x.mark, indices.mark])
    by_place = x.mark is None and mark is not None and mark.dim != view.number("dim")
    if by_place and mark is not None and mark.outer not in (None, 1):
        raise Mixed("takes elements by the places of rows between others")
    return mark


def _scatter(view: OpView) -> Mark | None:
    x, indices, updates = (operand.mark for operand in view.operands)
    mark = join([x, indices, updates])
    if mark is not None and (mark.dim == view.number("dim") or x is None):
        raise Mixed("writes to places among the rows")
    if mark is not None and (indices is None or updates is None):
        raise Mixed("writes to a part of the rows")
    return mark


def _iota(view: OpView) -> Mark | None:
    return view.new(1 if view.number("dim") == view.dim else None)


def _constant(view: OpView) -> Mark | None:
    return view.new(None)


def _concat(view: OpView) -> Mark | None:
    marks = [operand.mark for operand in view.operands]
    mark = join(marks)
    if mark is not None and mark.dim == view.number("dim"):
        raise Mixed("puts other elements before or behind the rows")
    return mark


def _pad(view: OpView) -> Mark | None:
    mark = view.operands[0].mark
    amounts = [view.numbers(name) for name in ("low", "high", "interior")]
    if mark is not None and any(amount[mark.dim] for amount in amounts):
        raise Mixed("pads the rows")
    return mark


def _last(view: OpView) -> Sequence[int]:
    return (len(view.operands[0].shape) - 1,)


#: Name of an op to its rule. An op without a rule is refused.
RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "tcp.argsort": _without("sorts", _last),
    "tcp.attention": _attention,
    "tcp.avg_pool": _images(1),
    "tcp.broadcast": _broadcast,
    "tcp.concat": _concat,
    "tcp.conv1d": _images(1),
    "tcp.conv2d": _images(1),
    "tcp.conv3d": _images(1),
    "tcp.conv_backward_data": _images(1),
    "tcp.conv_transpose": _images(1),
    "tcp.cumprod": _without("multiplies", lambda view: (view.number("dim"),)),
    "tcp.cumsum": _without("adds up", lambda view: (view.number("dim"),)),
    "tcp.gather": _gather,
    "tcp.index_select": _index_select,
    "tcp.iota": _iota,
    "tcp.layer_norm": _without("normalizes over", lambda view: view.numbers("dims")),
    "tcp.matmul": _matmul,
    "tcp.max_pool": _images(1),
    "tcp.max_pool_backward": _images(2),
    "tcp.max_pool_indices": _images(2),
    "tcp.pad": _pad,
    "tcp.reduce_max": _without("reduces", lambda view: view.numbers("dims")),
    "tcp.reduce_mean": _without("reduces", lambda view: view.numbers("dims")),
    "tcp.reduce_sum": _without("reduces", lambda view: view.numbers("dims")),
    "tcp.reshape": _reshape,
    "tcp.reverse": _without("reverses", lambda view: view.numbers("dims")),
    "tcp.scatter": _scatter,
    "tcp.slice": _slice,
    "tcp.softmax": _without("adds up", lambda view: (view.number("dim"),)),
    "tcp.transpose": _transpose,
}
_ELEMENTWISE = """
    abs add bitwise_and bitwise_or bitwise_xor cast ceil clamp compare copysign cos div elu erf exp
    expm1 floor gcd gelu leaky_relu log maximum minimum mul neg polynomial pow reciprocal round
    rsqrt select shift_left shift_right sigmoid silu sin sqrt sub tanh
"""
RULES |= {f"tcp.{name}": _elementwise for name in _ELEMENTWISE.split()}
