# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers that are the value of a tensor with one element, as `n` in `n = scale.item(); x * n`, or
as in `x[i]` with a tensor `i`. A static graph cannot read them. The same ops on tensors are
equivalent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, Node

__all__ = ["use_tensors_for_numbers"]

_aten = torch.ops.aten
#: Ops with a number to the op with a tensor, and the places of the number and of the tensor.
_WITH_TENSOR = {
    _aten.add.Tensor: (_aten.add.Tensor, 1, 1),
    _aten.sub.Tensor: (_aten.sub.Tensor, 1, 1),
    _aten.rsub.Scalar: (_aten.sub.Tensor, 1, 0),
    _aten.mul.Tensor: (_aten.mul.Tensor, 1, 1),
    _aten.div.Tensor: (_aten.div.Tensor, 1, 1),
    _aten.div.Tensor_mode: (_aten.div.Tensor_mode, 1, 1),
    _aten.remainder.Scalar: (_aten.remainder.Tensor, 1, 1),
    _aten.fmod.Scalar: (_aten.fmod.Tensor, 1, 1),
    _aten.pow.Tensor_Scalar: (_aten.pow.Tensor_Tensor, 1, 1),
    _aten.pow.Scalar: (_aten.pow.Tensor_Tensor, 0, 0),
    _aten.where.ScalarOther: (_aten.where.self, 2, 2),
    _aten.where.ScalarSelf: (_aten.where.self, 1, 1),
    **{
        getattr(_aten, name).Scalar: (getattr(_aten, name).Tensor, 1, 1)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    },
}


def use_tensors_for_numbers(graph: Graph) -> None:
    """Replaces ops with numbers of tensors by ops with the tensors. Others keep the number, which
    the importer refuses.

    Args:
        graph: A functional graph with metadata of values.
    """
    for node in list(graph.nodes):
        made = _REPLACED.get(node.target, _elementwise)(graph, node)
        if made is not None:
            node.replace_all_uses_with(made)
            graph.erase_node(node)
    for node in list(graph.nodes):
        if node.target is _aten._local_scalar_dense.default and not node.users:
            graph.erase_node(node)


def _tensor_of(number: Any) -> Any:
    """The tensor whose value a number is; None for other numbers."""
    is_value = isinstance(number, Node) and number.target is _aten._local_scalar_dense.default
    return number.args[0] if is_value else None


def _scalar(graph: Graph, place: Node, tensor: Any, dtype: torch.dtype) -> Node:
    """`tensor` without dims, in `dtype`."""
    value = tensor.meta["val"]
    if value.dtype != dtype:
        value = value.to(dtype)
        tensor = _call(graph, place, value, _aten._to_copy.default, tensor, dtype=dtype)
    if value.ndim:
        value = value.reshape([])
        tensor = _call(graph, place, value, _aten.reshape.default, tensor, [])
    result: Node = tensor
    return result


def _elementwise(graph: Graph, node: Node) -> Node | None:
    found: Any = _WITH_TENSOR.get(node.target)
    if found is None:
        return None
    op, place, new_place = found
    tensor = _tensor_of(node.args[place])
    if tensor is None:
        return None
    others: list[Any] = [each for at, each in enumerate(node.args) if at != place]
    result, other = node.meta["val"], others[-1]
    if not isinstance(other, Node):  # the factor of aten.rsub
        return None
    # The type of an op with a number depends on its kind, and not on its width.
    kind = tensor.meta["val"].dtype
    number = 0.0 if kind.is_floating_point else False if kind == torch.bool else 0
    wide = torch.result_type(other.meta["val"], number)
    is_narrow = wide.itemsize == 2 and result.dtype == wide and op is not _aten.where.self
    with graph.inserting_before(node):
        if is_narrow:
            # PyTorch computes with a number in float32, where a tensor would be rounded first.
            wide = torch.float32
            before = other.meta["val"].to(wide)
            others[-1] = _call(graph, node, before, _aten._to_copy.default, other, dtype=wide)
        others.insert(new_place, _scalar(graph, node, tensor, wide))
        if not is_narrow:
            return _call(graph, node, result, op, *others, **node.kwargs)
        made = _call(graph, node, result.to(wide), op, *others, **node.kwargs)
        return _call(graph, node, result, _aten._to_copy.default, made, dtype=result.dtype)


def _select(graph: Graph, node: Node) -> Node | None:
    arguments: Any = node.args
    tensor, dim, number = arguments
    index = _tensor_of(number)
    # In PyTorch, uint8 is a mask, but torch.export has the same graph for `x[i.item()]`.
    if index is None or index.meta["val"].dtype == torch.uint8:
        return None
    dtype = index.meta["val"].dtype
    with graph.inserting_before(node):
        index = _scalar(graph, node, index, dtype if dtype == torch.int32 else torch.int64)
        indices = [None] * (dim % tensor.meta["val"].ndim) + [index]
        return _call(graph, node, node.meta["val"], _aten.index.Tensor, tensor, indices)


def _clamp(graph: Graph, node: Node) -> Node | None:
    arguments: Any = (*node.args, None)[:3]
    value, *bounds = arguments
    if all(_tensor_of(bound) is None for bound in bounds):
        return None
    with graph.inserting_before(node):
        for at, bound in enumerate(bounds):
            if bound is None:
                continue
            tensor, op, limit = _tensor_of(bound), _aten.clamp.default, bound
            if tensor is not None:
                op = _aten.clamp.Tensor
                limit = _scalar(graph, node, tensor, node.meta["val"].dtype)
            limits = (None, limit) if at else (limit,)
            value = _call(graph, node, node.meta["val"], op, value, *limits)
    result: Node = value
    return result


def _filled(graph: Graph, node: Node) -> Node | None:
    number = node.args[0 if node.target is _aten.scalar_tensor.default else 1]
    tensor, value = _tensor_of(number), node.meta["val"]
    if tensor is None:
        return None
    with graph.inserting_before(node):
        scalar = _scalar(graph, node, tensor, value.dtype)
        return _call(graph, node, value, _aten.expand.default, scalar, list(value.shape))


_REPLACED: dict[Any, Callable[[Graph, Node], Node | None]] = {
    _aten.select.int: _select,
    _aten.clamp.default: _clamp,
    _aten.full.default: _filled,
    _aten.full_like.default: _filled,
    _aten.scalar_tensor.default: _filled,
}


def _call(
    graph: Graph, place: Node, value: torch.Tensor, op: Any, *arguments: Any, **options: Any
) -> Node:
    """An op at the source line of `place`, whose result is like `value`."""
    node = graph.call_function(op, arguments, options)
    node.meta = {**place.meta, "val": value}
    node.meta.pop("tensor_meta", None)
    return node
