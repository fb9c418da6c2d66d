# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Constants that are the first elements of the one of the largest size, as ops that read these."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dynamic.emit_symbolic import Shapes, SymbolicEmitter, dynamic_type
from convoy.dynamic.rewrites import sliced
from convoy.frontend import has_same_bytes

__all__ = ["read_table", "table_end"]

#: The most elements at the end of a constant that differ from those of the largest one.
_MOST = 4


def table_end(tensors: Sequence[torch.Tensor]) -> int | None:
    """The number of elements at the end of constants that are not those of the last one, which has
    the largest size: 0 for a table of positions; 1 or more for one dim whose end is special, as
    the border of a resized image is. None for other constants."""
    last = tensors[-1]
    if any(
        tensor.ndim != last.ndim
        or any(mine > most for mine, most in zip(tensor.shape, last.shape, strict=True))
        for tensor in tensors
    ):
        return None
    for end in range(_MOST + 1 if last.ndim == 1 else 1):
        if all(tensor.shape[:1] > (end,) and _is_equal(tensor, last, end) for tensor in tensors):
            return end
    return None


def _is_equal(tensor: torch.Tensor, last: torch.Tensor, end: int) -> bool:
    sizes = [tensor.shape[0] - end, *tensor.shape[1:]]
    first = tuple(slice(size) for size in sizes)
    return has_same_bytes(tensor[first], last[first])


def read_table(
    emitter: SymbolicEmitter, table: ir.Value, tensors: Sequence[torch.Tensor], end: int
) -> ir.Value | None:
    """Computes constants of which all but the last elements are those of a table.

    Args:
        emitter: Creates ops.
        table: The last one of `tensors`, with its type.
        tensors: The constant in each sample.
        end: The number of other elements.

    Returns:
        The value; None if the elements at the end depend on the sizes in another way.
    """
    before = [tuple(tensors[-1].shape)] * len(tensors)
    after: Shapes = [tuple(tensor.shape) for tensor in tensors]
    rank = tensors[-1].ndim
    value = sliced(emitter, table, before, after, [[0] * rank] * len(tensors), [1] * rank)
    for place in range(end):
        assert value is not None
        element = _number(emitter, [tensor[-1 - place] for tensor in tensors], table)
        if element is None:
            return None
        where = emitter.iota(after, 0, 0, 1)
        wanted = emitter.size([shape[0] for shape in after], -1 - place)
        truth = ir.IntegerType.get_signless(1)
        is_there = emitter.op(
            "tcp.compare",
            [where, wanted],
            dynamic_type(after, truth),
            predicate=ir.StringAttr.get("eq"),
        )
        value = emitter.op("tcp.select", [is_there, element, value], value.type)
    return value


def _number(
    emitter: SymbolicEmitter, numbers: Sequence[torch.Tensor], table: ir.Value
) -> ir.Value | None:
    """A tensor of one element that is the number of each sample: always the same, or a size."""
    kind = ir.RankedTensorType(table.type).element_type
    if all(has_same_bytes(number, numbers[0]) for number in numbers):
        is_float = numbers[0].is_floating_point()
        attribute = ir.FloatAttr.get if is_float else ir.IntegerAttr.get
        return emitter.splat(attribute(kind, numbers[0].item()), 1)
    if numbers[0].is_floating_point() or numbers[0].dtype == torch.bool:
        return None
    value = emitter.size_or_last([int(number) for number in numbers])
    one = ir.RankedTensorType.get([1], kind)
    if value is None or value.type == one:
        return value
    return emitter.op("tcp.cast", [value], one)
