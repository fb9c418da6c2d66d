# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Replaces a node of an exported graph by the aten ops that a function of tensors consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

__all__ = ["arguments_by_name", "inline"]


def inline(
    graph: torch.fx.Graph,
    node: torch.fx.Node,
    function: Callable[..., list[Any]],
    inputs: Sequence[torch.fx.Node],
    mode: Any,
    decompositions: Mapping[Any, Any] | None = None,
) -> list[Any]:
    """Traces a function, and copies the nodes into the graph.

    Args:
        graph: The graph, whose insertion point is used.
        node: The node whose location and metadata the copies have.
        function: The function; returns a list of tensors.
        inputs: The nodes of its arguments.
        mode: The fake mode of their values.
        decompositions: The decompositions of ops.

    Returns:
        The nodes of its results.
    """
    with mode, torch.no_grad():
        traced = make_fx(function, decomposition_table=decompositions or {})(
            *(each.meta["val"] for each in inputs)
        )
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    placeholders = iter(inputs)
    returned: list[Any] = []
    for each in traced.graph.nodes:
        if each.op == "placeholder":
            copies[each] = next(placeholders)
        elif each.op == "output":
            returned = list(torch.fx.node.map_arg(each.args[0], copies.__getitem__))
        else:
            copy = graph.node_copy(each, copies.__getitem__)
            copy.meta = {**node.meta, "val": each.meta["val"]}
            copy.meta.pop("tensor_meta", None)
            copies[each] = copy
    return returned


def arguments_by_name(node: torch.fx.Node, target: torch._ops.OpOverload) -> dict[str, Any]:
    """The arguments of a call by their names in the schema, including defaults."""
    found: dict[str, Any] = {}
    for index, argument in enumerate(target._schema.arguments):
        if index < len(node.args):
            found[argument.name] = node.args[index]
        else:
            found[argument.name] = node.kwargs.get(argument.name, argument.default_value)
    return found
