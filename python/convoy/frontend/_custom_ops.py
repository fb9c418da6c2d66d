# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of other libraries, such as those of `torch.library.custom_op`, whose kernel for all devices
calls other ops: these take its place. So do decompositions that torch.export does not use."""

from __future__ import annotations

import functools
import operator
from typing import Any

import torch
from torch._C import DispatchKey
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from convoy.frontend._inline import inline, trace
from convoy.frontend._tensor_numbers import has_static_sizes

__all__ = ["inline_custom_ops"]

_KEYS = (DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd)


def inline_custom_ops(graph: Graph, decompositions: Any) -> None:
    """Replaces the ops of other libraries. Those remain whose kernels write to their arguments, or
    use the values of tensors.

    Also replaces the ops of PyTorch that have a kernel of their own next to one for all devices,
    such as silu_backward, which torch.export does not decompose.

    Args:
        graph: A decomposed graph.
        decompositions: The decompositions of ops.
    """
    remaining: set[Node] = set()
    # A kernel may call other such ops.
    while node := next(
        (n for n in graph.nodes if n not in remaining and _is_replaced(n, decompositions)), None
    ):
        with graph.inserting_before(node):
            made = _results(graph, node, decompositions)
        if made is None:
            remaining.add(node)
            continue
        if isinstance(made, list):
            for user in list(node.users):
                assert user.target is operator.getitem
                user.replace_all_uses_with(made[user.args[1]])
                graph.erase_node(user)
        else:
            node.replace_all_uses_with(made)
        graph.erase_node(node)


def _is_replaced(node: Node, decompositions: Any) -> bool:
    """Whether a node calls an op that has a decomposition, on tensors with known sizes, or an op of
    another library that has a kernel for all devices."""
    op = node.target
    if not isinstance(op, OpOverload):
        return False
    # Sizes that depend on values are symbols until later, and tracing would record their bounds.
    return (op in decompositions and has_static_sizes(node)) or (
        op.namespace not in ("aten", "prims") and not op._schema.is_mutable and _key(op) is not None
    )


def _key(op: OpOverload) -> DispatchKey | None:
    """The key of a kernel for all devices."""
    has_kernel, name = torch._C._dispatch_has_kernel_for_dispatch_key, op._schema.name
    name += f".{op._schema.overload_name}" if op._schema.overload_name else ""
    return next((key for key in _KEYS if has_kernel(name, key)), None)


def _results(graph: Graph, node: Node, decompositions: Any) -> Any:
    """The nodes of an op's results; None if its kernel cannot be traced."""
    op = node.target
    assert isinstance(op, OpOverload)
    inputs = list(dict.fromkeys(node.all_input_nodes))
    if not all(isinstance(each.meta["val"], torch.Tensor) for each in inputs):
        return None
    structure: list[pytree.TreeSpec] = []

    def function(*tensors: torch.Tensor) -> list[Any]:
        known = dict(zip(inputs, tensors, strict=True))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
        flat, made = pytree.tree_flatten(op(*args, **kwargs))
        structure.append(made)
        return flat

    mode = detect_fake_mode([each.meta.get("val") for each in graph.nodes])
    try:
        # Kernels may write to tensors that they make. Their ops are recorded first: an op that is
        # functionalized is recorded itself.
        rule = decompositions.get(op) or functools.partial(op._op_dk, _key(op))  # type: ignore[arg-type]
        table: Any = {op: rule}
        kernel = trace(function, [each.meta["val"] for each in inputs], mode, table)
        if any(each.target is op for each in kernel.graph.nodes):
            return None  # its decomposition does not apply
        functional = torch.func.functionalize(kernel)
        made = inline(graph, node, functional, inputs, mode, decompositions)
    except Exception:
        return None
    value = pytree.tree_unflatten(made, structure[-1])
    return list(value) if isinstance(value, (list, tuple)) else value
