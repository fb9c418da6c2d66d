# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Constants and slices that depend on sizes, as ops whose result has these sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch_mlir import ir

from convoy.dynamic.emit_symbolic import Shapes, SymbolicEmitter, dynamic_type

__all__ = ["indices", "repeated", "size_numbers", "sliced"]

#: The largest integer below which a float32 has all integers.
_EXACT = 2**24


def indices(
    emitter: SymbolicEmitter, tensors: Sequence[torch.Tensor], element: ir.Type
) -> ir.Value | None:
    """Computes constants that count along one dim, such as positions of tokens.

    Args:
        emitter: Creates ops.
        tensors: The constant in each sample.
        element: Its element type.

    Returns:
        The value; None for other constants.
    """
    shapes = [tuple(tensor.shape) for tensor in tensors]
    found = {_progression(tensor) for tensor in tensors}
    if len(found) != 1 or len({len(shape) for shape in shapes}) != 1:
        return None
    progression = found.pop()
    if progression is None:
        return None
    dim, start, step = progression
    value = emitter.iota(shapes, dim, start, step)
    if element == ir.IntegerType.get_signless(64):
        return value
    return emitter.op("tcp.cast", [value], dynamic_type(shapes, element))


def _progression(tensor: torch.Tensor) -> tuple[int, int, int] | None:
    """Dim, first element and step of integers that count along one dim, or None."""
    dims = [dim for dim, size in enumerate(tensor.shape) if size > 1]
    if tensor.dtype == torch.bool or tensor.is_complex() or not tensor.numel():
        return None
    for dim in dims:
        line = tensor.movedim(dim, -1).reshape(-1, tensor.shape[dim])[0].to(torch.float64)
        start, step = float(line[0]), float(line[1] - line[0])
        if not (start.is_integer() and step.is_integer() and step and line.abs().max() < _EXACT):
            continue
        counted = start + step * torch.arange(tensor.shape[dim], dtype=torch.float64)
        shape = [-1 if each == dim else 1 for each in range(tensor.ndim)]
        if torch.equal(tensor.to(torch.float64), counted.reshape(shape).expand(tensor.shape)):
            return dim, int(start), int(step)
    return None


def repeated(
    emitter: SymbolicEmitter, values: Sequence[ir.DenseElementsAttr], shapes: Shapes
) -> ir.Value | None:
    """Computes constants with one element everywhere, such as zeros of a size.

    Args:
        emitter: Creates ops.
        values: The constant in each sample.
        shapes: Its shapes.

    Returns:
        The value; None for constants with other elements, or with different ones.
    """
    elements = _splats(values)
    if elements is None or len({str(element) for element in elements}) > 1:
        return None
    one = emitter.splat(elements[0], len(shapes[0]))
    value = emitter.op("tcp.broadcast", [one], dynamic_type(shapes, elements[0].type))
    emitter.bind_shapes(value, shapes)
    return value


def _splats(values: Sequence[ir.DenseElementsAttr]) -> list[Any] | None:
    """The element of each constant; None if one has several."""
    if not all(value.is_splat for value in values):
        return None
    return [value.get_splat_value() for value in values]


def size_numbers(
    emitter: SymbolicEmitter, values: Sequence[ir.DenseElementsAttr], shapes: Shapes
) -> ir.Value | None:
    """Computes constants that are a size as a number, or 1 less.

    Args:
        emitter: Creates ops.
        values: The constant in each sample.
        shapes: Its shapes.

    Returns:
        The value; None for other constants.
    """
    elements = _splats(values)
    if elements is None or len(set(shapes)) > 1:
        return None
    kind = elements[0].type
    number = ir.IntegerType.get_signless(64)
    if kind != number and not isinstance(elements[0], ir.FloatAttr):
        return None
    numbers = [float(element.value) for element in elements]
    if not all(each.is_integer() and 0 < each < _EXACT for each in numbers):
        return None
    value: Any = emitter.size_or_last([int(each) for each in numbers])
    if value is None:
        return None
    for name, result in (
        ("tcp.cast", [1]),
        ("tcp.reshape", [1] * len(shapes[0])),
        ("tcp.broadcast", list(shapes[0])),
    ):
        wanted = ir.RankedTensorType.get(result, kind)
        if value.type != wanted:
            value = emitter.op(name, [value], wanted)
    return value


def sliced(
    emitter: SymbolicEmitter,
    operand: ir.Value,
    before: Shapes,
    after: Shapes,
    starts: Sequence[Sequence[int]],
    strides: Sequence[int],
) -> ir.Value | None:
    """Computes a slice with sizes or starts that depend on symbols. A size that is the rest of a
    `?` is -1; other elements, such as the first positions of a table or the last ones of a `?`, are
    read by indices.

    Args:
        emitter: Creates ops.
        operand: The operand.
        before: Its shapes.
        after: The shapes of the result.
        starts: The first element along each dim, in each sample.
        strides: The distance of elements along each dim.

    Returns:
        The value; None if starts depend on the sizes in another way.
    """
    element = ir.RankedTensorType(operand.type).element_type
    #: Dim to the distance of its start from the end; 0 for a start that is a number.
    by_index: dict[int, int] = {}
    begin, sizes, step = [], [], []
    for dim, stride in enumerate(strides):
        given, wanted, first = ([each[dim] for each in list_] for list_ in (before, after, starts))
        is_rest = wanted == [
            (size - start - 1) // stride + 1 for size, start in zip(given, first, strict=True)
        ]
        if len(set(first)) > 1:
            distances = {size - start for size, start in zip(given, first, strict=True)}
            if len(distances) > 1 or len(set(wanted)) > 1:
                return None
            by_index[dim] = distances.pop()
        elif len(set(wanted)) > 1 and not (is_rest and len(set(given)) > 1):
            by_index[dim] = 0
        is_whole = dim in by_index
        begin.append(0 if is_whole else first[0])
        step.append(1 if is_whole else stride)
        extent = given if is_whole else wanted
        sizes.append(extent[0] if len(set(extent)) == 1 else -1)
    shapes = [
        tuple(old[dim] if dim in by_index else new[dim] for dim in range(len(new)))
        for old, new in zip(before, after, strict=True)
    ]
    value = operand
    if shapes != before:
        value = emitter.op(
            "tcp.slice",
            [value],
            dynamic_type(shapes, element),
            starts=ir.DenseI64ArrayAttr.get(begin),
            sizes=ir.DenseI64ArrayAttr.get(sizes),
            strides=ir.DenseI64ArrayAttr.get(step),
        )
    for dim, from_end in by_index.items():
        counts: Shapes = [(shape[dim],) for shape in after]
        start = 0 if from_end else starts[0][dim]
        where = emitter.iota(counts, 0, start, strides[dim])
        if from_end:
            end = emitter.size([shape[dim] for shape in before], -from_end)
            where = emitter.op("tcp.add", [where, end], dynamic_type(counts, end.type.element_type))
        shapes = [
            (*old[:dim], *count, *old[dim + 1 :]) for old, count in zip(shapes, counts, strict=True)
        ]
        value = emitter.op(
            "tcp.index_select",
            [value, where],
            dynamic_type(shapes, element),
            dim=ir.IntegerAttr.get(ir.IndexType.get(), dim),
        )
    return value
