# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers that are the value of a tensor with one element, as `n` in `n = scale.item(); x * n`, or
as in `x[i]` with a tensor `i`. A static graph cannot read them. The same ops on tensors are
equivalent."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from convoy.frontend._inline import arguments_by_name, inline
from convoy.frontend._number_expressions import Numbers, call, kind_of
from convoy.frontend._number_formulas import FORMULAS, INDICES

__all__ = ["drop_size_checks", "has_static_sizes", "read_numbers", "use_tensors_for_numbers"]

aten = torch.ops.aten
#: Ops whose results have the values of numbers, in the type of the result.
_VALUES = {
    aten.where.ScalarOther,
    aten.where.ScalarSelf,
    aten.where.Scalar,
    aten.clamp.default,
    aten.clamp_min.default,
    aten.clamp_max.default,
    aten.threshold.default,
    aten.masked_fill.Scalar,
    aten.index_fill.int_Scalar,
    aten.scatter.value,
    aten.scatter.value_reduce,
}
_FILLED = (
    aten.fill.Scalar,
    aten.full.default,
    aten.full_like.default,
    aten.new_full.default,
    aten.scalar_tensor.default,
)
_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_READ = (aten._local_scalar_dense.default,)
#: What torch.export compares with the bounds of a slice.
_SIZES = (aten.sym_size.int, aten.sym_storage_offset.default)
_CHECKS = (aten._assert_scalar.default, aten.sym_constrain_range_for_size.default)


def use_tensors_for_numbers(graph: Graph) -> None:
    """Replaces ops with numbers of tensors by ops with the tensors. Others keep the number, and
    `check_numbers` refuses them. Checks of the numbers are dropped, as those of indices are.

    Args:
        graph: A functional graph with metadata of values.
    """
    read = read_numbers(graph)
    if not read:
        return
    mode = detect_fake_mode([node.meta.get("val") for node in graph.nodes])
    _use_known_sizes(graph, mode)
    numbers = Numbers(graph, mode)
    for node in list(graph.nodes):
        if isinstance(node.target, torch._ops.OpOverload) and read & {*node.all_input_nodes}:
            with graph.inserting_before(node):
                made = _replaced(graph, node, node.target, numbers, mode)
            if made is not None:
                node.replace_all_uses_with(made)
                graph.erase_node(node)
    checked = _computed_from(graph, (*_READ, *_SIZES))
    for node in reversed(list(graph.nodes)):
        is_check = node.target in _CHECKS and node.args[0] in checked
        if not node.users and (node in checked or is_check):
            graph.erase_node(node)


def drop_size_checks(graph: Graph) -> None:
    """Removes checks of sizes that depend on values, and the ops that only they use.

    Args:
        graph: A functional graph with metadata of values.
    """
    sizes = _computed_from(graph, _SIZES)
    checks = [each for each in graph.nodes if each.target in _CHECKS and each.args[0] in sizes]
    for each in checks:
        graph.erase_node(each)
    if checks:
        graph.eliminate_dead_code()


def read_numbers(graph: Graph) -> set[Node]:
    """The numbers that are read from tensors, and those that are computed from them."""
    return _computed_from(graph, _READ)


def _computed_from(graph: Graph, sources: tuple[Any, ...]) -> set[Node]:
    """The numbers that these ops make, and those that are computed from them."""
    found: set[Node] = set()
    for node in graph.nodes:
        value = node.meta.get("val")
        is_number = isinstance(value, (*_NUMBERS, bool, int, float))
        if node.target in sources or (is_number and found.intersection(node.all_input_nodes)):
            found.add(node)
    return found


def _use_known_sizes(graph: Graph, mode: Any) -> None:
    """Replaces symbols of sizes whose values are known. The size of `x.narrow(0, n, 2)` is one: a
    check of torch.export says that it is 2."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            continue
        sizes: list[Any] = [size for size in value.shape if isinstance(size, torch.SymInt)]
        if sizes and all(size.node.maybe_as_int() is not None for size in sizes):
            with mode:
                shape = [int(size) for size in value.shape]
                made = torch.empty(shape, dtype=value.dtype, device=value.device)
            node.meta["val"] = made


def has_static_sizes(node: Node) -> bool:
    """Whether no size of an op's tensors depends on values."""
    leaves = pytree.tree_leaves([each.meta.get("val") for each in (node, *node.all_input_nodes)])
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return all(isinstance(size, int) for tensor in tensors for size in tensor.shape)


def _replaced(
    graph: Graph, node: Node, target: torch._ops.OpOverload, numbers: Numbers, mode: Any
) -> Node | None:
    """The same op with tensors in place of numbers; None if there is none."""
    arguments, result = arguments_by_name(node, target), node.meta.get("val")
    tensors = {
        name: tensor
        for name, value in arguments.items()
        if (tensor := numbers.tensor(value)) is not None
    }
    if not tensors or not isinstance(result, torch.Tensor) or not has_static_sizes(node):
        return None
    if target in _FILLED:
        (tensor,) = tensors.values()
        scalar = _scalar(graph, node, tensor, result.dtype)
        return call(graph, node, result, aten.expand.default, scalar, list(result.shape))
    # In PyTorch, uint8 is a mask, but torch.export has the same graph for `x[i.item()]`.
    if target in INDICES and any(t.meta["val"].dtype == torch.uint8 for t in tensors.values()):
        return None
    dtype, compute = _types(target, arguments, tensors, result)
    function = _with_tensors(target, tensors, dtype) or FORMULAS.get(target)
    if function is None:
        return None
    for name, value in arguments.items():
        if name in tensors:
            arguments[name] = _scalar(graph, node, tensors[name], dtype)
        elif compute and isinstance(value, Node) and value.meta["val"].is_floating_point():
            arguments[name] = _cast(graph, node, value, compute)
    inputs = list(dict.fromkeys(each for each in arguments.values() if isinstance(each, Node)))

    def traced(*values: torch.Tensor) -> list[torch.Tensor]:
        known = dict(zip(inputs, values, strict=True))
        given = {n: known[v] if v in inputs else v for n, v in arguments.items()}
        if "result" in inspect.signature(function).parameters:
            given["result"] = result
        made = function(**given)
        return [made if made.dtype == result.dtype else made.to(result.dtype)]

    made: Node = inline(graph, node, traced, inputs, mode)[0]
    return made


def _types(
    target: torch._ops.OpOverload,
    arguments: Mapping[str, Any],
    numbers: Mapping[str, Node],
    result: torch.Tensor,
) -> tuple[torch.dtype, torch.dtype | None]:
    """The type of numbers in an op, and the type in which float tensors are computed if it is
    another one than theirs: PyTorch computes with a number in float32, where a tensor of float16
    or bfloat16 would be rounded first."""
    if target in INDICES:
        return torch.int64, None
    if target in _VALUES:
        return result.dtype, None
    # The type of an op with a number depends on its kind, and not on its width.
    values = [
        kind_of(value) if name in numbers else value.meta["val"]
        for name, value in arguments.items()
        if isinstance(value, Node)
    ]
    if not any(isinstance(each, torch.Tensor) for each in values):
        return (torch.float64 if float in map(type, values) else torch.int64), None
    compute, dtype = elementwise_dtypes(
        *values, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    )
    if compute == dtype or result.dtype != dtype:
        return dtype, None
    return compute, compute


def _with_tensors(
    target: torch._ops.OpOverload, numbers: Mapping[str, Node], dtype: torch.dtype
) -> Callable[..., torch.Tensor] | None:
    """The overload of an op that has tensors in place of numbers, called by names."""
    ours = {each.name: str(each.type) for each in target._schema.arguments}
    packet = target.overloadpacket
    for overload in (getattr(packet, name) for name in packet.overloads()):
        kinds = {each.name: str(each.type) for each in overload._schema.arguments}
        is_same = kinds.keys() == ours.keys() and all(
            kind == ours[name] or _is_tensor_for(kind, ours[name]) for name, kind in kinds.items()
        )
        if is_same and all("Tensor" in kinds[name] for name in numbers):
            return functools.partial(_called, overload, dtype)
    return None


def _is_tensor_for(kind: str, number: str) -> bool:
    return "Tensor" in kind and kind.replace("Tensor", "number") == number


def _called(
    overload: torch._ops.OpOverload, dtype: torch.dtype, /, **arguments: Any
) -> torch.Tensor:
    """Calls an overload. Its other numbers that are tensors become tensors as well."""
    args, kwargs = [], {}
    for argument in overload._schema.arguments:
        value = arguments[argument.name]
        if "Tensor" in str(argument.type) and isinstance(value, (bool, int, float)):
            value = torch.full((), value, dtype=dtype)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    result: torch.Tensor = overload(*args, **kwargs)
    return result


def _scalar(graph: Graph, place: Node, tensor: Node, dtype: torch.dtype) -> Node:
    """`tensor` without dims, in `dtype`."""
    tensor = _cast(graph, place, tensor, dtype)
    value = tensor.meta["val"]
    if not value.ndim:
        return tensor
    return call(graph, place, value.reshape([]), aten.reshape.default, tensor, [])


def _cast(graph: Graph, place: Node, tensor: Node, dtype: torch.dtype) -> Node:
    value = tensor.meta["val"]
    if value.dtype == dtype:
        return tensor
    return call(graph, place, value.to(dtype), aten._to_copy.default, tensor, dtype=dtype)
