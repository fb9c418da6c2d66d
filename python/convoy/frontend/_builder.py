# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The builder of converters: broadcasting, constants, and ops of `convoy.dialects.tcp` at the
converter's location. ODS defines attribute types and the element types of operands.

Result types are inferred only where the Torch IR does not have them, i.e. for the steps of a
decomposition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._dtype_checks import check_dtypes, type_of
from convoy.frontend._scalars import element_number, is_float32, wrapped_number
from convoy.frontend._types import TensorType, element_of
from convoy.frontend._unsupported import Unsupported

__all__ = ["Builder", "Unsupported", "element_number", "type_of", "wrapped_number"]


#: Builds a step of `Builder.scan`.
Step = Callable[
    ["Builder", Sequence[ir.Value], Sequence[ir.Value], Sequence[ir.Value]], Sequence[ir.Value]
]


class Builder:
    """Appends ops to a block, at `location`."""

    def __init__(
        self,
        block: ir.Block,
        location: ir.Location,
        new_weight: Callable[..., ir.Value],
    ) -> None:
        self._point = ir.InsertionPoint(block)
        self.location = location
        self._new_weight = new_weight

    def emit(
        self,
        op: type[ir.OpView],
        result: TensorType,
        *operands: ir.Value | Sequence[ir.Value],
        **attributes: Any,
    ) -> ir.Value:
        """Creates an op with an explicit result type, or a constant if it has no elements.

        Args:
            op: The class of the op.
            result: The type of the result.
            *operands: The operands.
            **attributes: The attributes.

        Returns:
            The result.

        Raises:
            Unsupported: The verifier rejects integers or bools.
        """
        if 0 in result.shape:
            return self.constant(0, result)
        return self._checked(
            op(result.mlir(), *operands, **attributes, loc=self.location, ip=self._point)
        )

    def unary(self, op: type[ir.OpView], x: ir.Value, **attributes: Any) -> ir.Value:
        """Creates an op whose result has the type of its operand, or returns the operand if it has
        no elements. Raises Unsupported."""
        if 0 in type_of(x).shape:
            return x
        return self._checked(op(x, **attributes, loc=self.location, ip=self._point))

    def _checked(self, op: ir.OpView) -> ir.Value:
        """The result of an op. Raises Unsupported if the verifier rejects integers or bools."""
        if not all(type_of(each).dtype.is_floating_point for each in op.operation.operands):
            check_dtypes(op.operation)
        return op.operation.results[0]

    def scalar(self, value: float | int | bool, dtype: torch.dtype, rank: int) -> ir.Value:
        """A splat `arith.constant` of shape 1x...x1. Raises Unsupported if the number is out of
        range."""
        return self.constant(value, TensorType((1,) * rank, dtype))

    def constant(self, value: float | int | bool, result: TensorType) -> ir.Value:
        """A splat `arith.constant`; for uint8 a cast from the int8 with the same bits, because
        constants are signless. Raises Unsupported if the number is out of range."""
        if result.dtype == torch.uint8:
            byte = int(element_number(value, torch.uint8))
            signed = byte - 256 if byte > 127 else byte
            made = self.constant(signed, TensorType(result.shape, torch.int8))
            return tcp.CastOp(result.mlir(), made, loc=self.location, ip=self._point).result
        element, converted = element_of(result.dtype), element_number(value, result.dtype)
        if result.dtype.is_floating_point:
            number: ir.Attribute = ir.FloatAttr.get(element, float(converted), loc=self.location)
        else:
            number = ir.IntegerAttr.get(element, int(converted))
        splat = ir.DenseElementsAttr.get_splat(result.mlir(), number)
        op = ir.Operation.create(
            "arith.constant",
            results=[result.mlir()],
            attributes={"value": splat},
            loc=self.location,
            ip=self._point,
        )
        return op.results[0]

    def full(self, value: float | int | bool, result: TensorType) -> ir.Value:
        """A tensor filled with a number: a scalar and a `tcp.broadcast`, or a constant without
        elements."""
        if 0 in result.shape:
            return self.constant(value, result)
        return self.broadcast(self.scalar(value, result.dtype, result.rank), result.shape)

    def weight(
        self, name: str, tensor: torch.Tensor, steps: tuple[int, int, int] | None = None
    ) -> ir.Value:
        """A constant tensor made by the conversion, which becomes an additional named argument of
        the function. `steps` are its attribute `tcp.steps`."""
        return self._new_weight(name, tensor, steps=steps)

    # Shape

    def reshape(self, x: ir.Value, shape: Sequence[int]) -> ir.Value:
        """`tcp.reshape`, or `x` if the shape is the same."""
        kind = type_of(x)
        if kind.shape == tuple(shape):
            return x
        return self.emit(tcp.ReshapeOp, TensorType(tuple(shape), kind.dtype), x)

    def with_rank(self, x: ir.Value, rank: int) -> ir.Value:
        """Prepends dims of size 1, as in Torch's broadcasting."""
        shape = type_of(x).shape
        return self.reshape(x, (1,) * (rank - len(shape)) + shape)

    def broadcast(self, x: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Expands to `shape`, of equal or higher rank."""
        x = self.with_rank(x, len(shape))
        kind = type_of(x)
        if kind.shape == tuple(shape):
            return x
        return self.emit(tcp.BroadcastOp, TensorType(tuple(shape), kind.dtype), x)

    def transpose(self, x: ir.Value, perm: Sequence[int]) -> ir.Value:
        """Dim i of the result is dim perm[i] of `x`."""
        kind = type_of(x)
        if list(perm) == list(range(kind.rank)):
            return x
        shape = tuple(kind.shape[p] for p in perm)
        return self.emit(tcp.TransposeOp, TensorType(shape, kind.dtype), x, perm=list(perm))

    def slice(self, x: ir.Value, dim: int, start: int, size: int, stride: int = 1) -> ir.Value:
        """`tcp.slice` along one dim, or `x` if that is all of it."""
        kind = type_of(x)
        if start == 0 and stride == 1 and size == kind.shape[dim]:
            return x
        sizes = [*kind.shape]
        sizes[dim] = size
        starts, strides = [0] * kind.rank, [1] * kind.rank
        starts[dim], strides[dim] = start, stride
        return self.emit(
            tcp.SliceOp,
            TensorType(tuple(sizes), kind.dtype),
            x,
            starts=starts,
            sizes=sizes,
            strides=strides,
        )

    def reverse(self, x: ir.Value, dims: Sequence[int]) -> ir.Value:
        """`tcp.reverse`."""
        return self.emit(tcp.ReverseOp, type_of(x), x, dims=list(dims))

    def concat(self, parts: Sequence[ir.Value], dim: int) -> ir.Value:
        """`tcp.concat`, or the part itself if there is only one."""
        if len(parts) == 1:
            return parts[0]
        kinds = [type_of(part) for part in parts]
        shape = [*kinds[0].shape]
        shape[dim] = sum(kind.shape[dim] for kind in kinds)
        return self.emit(tcp.ConcatOp, TensorType(tuple(shape), kinds[0].dtype), parts, dim=dim)

    # Pointwise

    def cast(self, x: ir.Value, dtype: torch.dtype) -> ir.Value:
        """`tcp.cast`, or `x` if the dtype is the same."""
        kind = type_of(x)
        if kind.dtype == dtype:
            return x
        return self.emit(tcp.CastOp, TensorType(kind.shape, dtype), x)

    def wide(self, x: ir.Value) -> ir.Value:
        """Casts float16 and bfloat16 to float32, for conversions to several ops: PyTorch computes
        in float32 and rounds once at the end."""
        narrow = type_of(x).dtype in (torch.float16, torch.bfloat16)
        return self.cast(x, torch.float32) if narrow else x

    def binary(
        self,
        op: type[ir.OpView],
        a: ir.Value,
        b: ir.Value,
        dtype: torch.dtype | None = None,
        **attributes: Any,
    ) -> ir.Value:
        """An op on two tensors of one dtype, with Torch's broadcasting. `dtype` is the result's if
        it differs, as for compare."""
        rank = max(type_of(a).rank, type_of(b).rank)
        a, b = self.with_rank(a, rank), self.with_rank(b, rank)
        shape = _broadcast(type_of(a).shape, type_of(b).shape)
        return self.emit(op, TensorType(shape, dtype or type_of(a).dtype), a, b, **attributes)

    def binary_scalar(self, op: type[ir.OpView], a: ir.Value, number: float | int) -> ir.Value:
        """`a op number`, in the dtype of `a`."""
        kind = type_of(a)
        return self.binary(op, a, self.scalar(number, kind.dtype, kind.rank))

    def compare(self, predicate: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """`tcp.compare`, to i1."""
        return self.binary(tcp.CompareOp, a, b, torch.bool, predicate=predicate)

    def select(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """`tcp.select`, with Torch's broadcasting."""
        shape = _broadcast(type_of(condition).shape, type_of(a).shape, type_of(b).shape)
        operands = [self.with_rank(value, len(shape)) for value in (condition, a, b)]
        return self.emit(tcp.SelectOp, TensorType(shape, type_of(a).dtype), *operands)

    def clamp(self, x: ir.Value, low: float | int | None, high: float | int | None) -> ir.Value:
        """`tcp.clamp` if its `f32` bounds are exact, else `tcp.maximum` and `tcp.minimum`. A NaN
        bound makes every element NaN."""
        dtype = type_of(x).dtype
        bounds = [bound for bound in (low, high) if bound is not None]
        if any(math.isnan(bound) for bound in bounds):
            return self.full(math.nan, type_of(x))
        ordered = (
            low is None or high is None or low <= high
        )  # else Torch returns `high`, and tcp.clamp is invalid
        exact = dtype != torch.float64 or all(is_float32(bound) for bound in bounds)
        if dtype.is_floating_point and exact and ordered:
            return self.unary(tcp.ClampOp, x, min_float=low, max_float=high)
        if low is not None:
            x = self.binary_scalar(tcp.MaximumOp, x, low)
        if high is not None:
            x = self.binary_scalar(tcp.MinimumOp, x, high)
        return x

    # Reductions and contractions

    def reduce(self, op: type[ir.OpView], x: ir.Value, dims: Sequence[int]) -> ir.Value:
        """A reduction, or `x` if there are no dims. Reduced dims have size 1."""
        kind = type_of(x)
        if not dims:
            return x
        shape = tuple(1 if dim in dims else size for dim, size in enumerate(kind.shape))
        return self.emit(op, TensorType(shape, kind.dtype), x, dims=sorted(dims))

    def matmul(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """`tcp.matmul` of two tensors of rank 2 or more; batch dims broadcast. Integers are
        multiplied and added up."""
        rank = max(type_of(a).rank, type_of(b).rank)
        a, b = self.with_rank(a, rank), self.with_rank(b, rank)
        left, right = type_of(a), type_of(b)
        if not left.dtype.is_floating_point and 0 not in (*left.shape, *right.shape):
            # Dims: batch, row, column, and the one to add up.
            a = self.reshape(a, (*left.shape[:-1], 1, left.shape[-1]))
            columns = self.transpose(b, [*range(rank - 2), rank - 1, rank - 2])
            b = self.reshape(columns, (*right.shape[:-2], 1, right.shape[-1], right.shape[-2]))
            total = self.reduce(tcp.ReduceSumOp, self.binary(tcp.MulOp, a, b), [rank])
            return self.reshape(total, type_of(total).shape[:-1])
        batch = _broadcast(left.shape[:-2], right.shape[:-2])
        shape = (*batch, left.shape[-2], right.shape[-1])
        return self.emit(tcp.MatmulOp, TensorType(shape, left.dtype), a, b)

    # Loops

    def scan(
        self,
        trips: int,
        step: Step,
        carried: Sequence[ir.Value],
        sliced: Sequence[ir.Value],
        invariant: Sequence[ir.Value],
        outputs: Sequence[TensorType],
        *,
        reverse: bool = False,
    ) -> list[ir.Value]:
        """`tcp.scan`, whose body `step` builds.

        Args:
            trips: The number of steps.
            step: Builds a step from a builder of the body, the state, the element of each of
                `sliced`, and `invariant`. Returns the next state, and then the outputs.
            carried: The state of the first step.
            sliced: Tensors with `trips` elements along dim 0.
            invariant: Other tensors that the steps use.
            outputs: The types of the outputs of a step.
            reverse: Whether the last element is the first that is used.

        Returns:
            The last state, and then the outputs of all steps, stacked along dim 0.
        """
        state = [type_of(value) for value in carried]
        elements = [TensorType(kind.shape[1:], kind.dtype) for kind in map(type_of, sliced)]
        stacked = [TensorType((trips, *kind.shape), kind.dtype) for kind in outputs]
        op = tcp.ScanOp(
            [kind.mlir() for kind in (*state, *stacked)],
            list(carried),
            list(sliced),
            list(invariant),
            trips,
            reverse=reverse,
            loc=self.location,
            ip=self._point,
        )
        kinds = [*state, *elements, *map(type_of, invariant)]
        block = op.body.blocks.append(
            *(kind.mlir() for kind in kinds), arg_locs=[self.location] * len(kinds)
        )
        body = Builder(block, self.location, self._new_weight)
        arguments = list(block.arguments)
        first = len(state) + len(elements)
        results = step(
            body, arguments[: len(state)], arguments[len(state) : first], arguments[first:]
        )
        tcp.YieldOp(list(results), loc=self.location, ip=body._point)
        return list(op.operation.results)


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to. torch.export does not check that of each op. Raises
    Unsupported."""
    try:
        return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]
    except RuntimeError:
        got = " and ".join(str(list(shape)) for shape in shapes)
        msg = f"expected shapes that broadcast, got {got}"
        raise Unsupported(msg) from None
