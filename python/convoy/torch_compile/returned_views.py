# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Results of a graph that are views."""

from __future__ import annotations

import operator
from collections import defaultdict

import torch

__all__ = ["separate_returned_views"]


def separate_returned_views(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """Gives results that are views of arguments or of other results, or whose elements share
    memory, ops of their own.

    A part writes each of its results into memory of its own. So these views are taken outside of
    the parts, where a later write to one of them is seen in the others, as without compilation.
    Views inside of the parts stay.

    Args:
        graph: A functional graph of aten ops. It is modified.

    Returns:
        The new ops, which no part may contain.
    """
    output = graph.output_node()
    sharing: dict[torch.fx.Node, dict[torch.fx.Node, None]] = defaultdict(dict)
    for result in output.all_input_nodes:
        sharing[_base_of(result)[0]][result] = None
    made: set[torch.fx.Node] = set()
    for base, results in sharing.items():
        if base.op != "placeholder" and len(results) < 2 and not any(map(_overlaps, results)):
            continue
        copies = {base: base}
        for result in results:
            for node in _base_of(result)[1]:
                if node not in copies:
                    inputs = {each: copies.get(each, each) for each in node.all_input_nodes}
                    with graph.inserting_before(output):
                        copies[node] = graph.node_copy(node, inputs.__getitem__)
            output.replace_input_with(result, copies[result])
        del copies[base]
        made.update(copies.values())
        for node in reversed(copies):
            if not node.users:
                graph.erase_node(node)
    return made


def _base_of(node: torch.fx.Node) -> tuple[torch.fx.Node, list[torch.fx.Node]]:
    """The node of which a node is a view, and the ops from there to the node."""
    ops: list[torch.fx.Node] = []
    while node.op == "call_function" and (
        (isinstance(node.target, torch._ops.OpOverload) and node.target.is_view)
        or (node.target is operator.getitem and _is_list_of_views(node.all_input_nodes[0]))
    ):
        ops.insert(0, node)
        node = node.all_input_nodes[0]
    return node, ops


def _overlaps(node: torch.fx.Node) -> bool:
    """Whether elements of a result share memory, as in `expand`."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return False
    sizes, strides = tuple(value.shape), value.stride()
    if not all(isinstance(each, int) for each in (*sizes, *strides)) or 0 in sizes:
        return False
    end = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if size > 1 and stride <= end:
            return True
        end += (size - 1) * stride
    return False


def _is_list_of_views(node: torch.fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view
