# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Replaces a node of an exported graph by the aten ops that a function of tensors consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

__all__ = ["arguments_by_name", "inline", "splice", "trace"]


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
    values = [each.meta["val"] for each in inputs]
    return splice(graph, node, trace(function, values, mode, decompositions), inputs, mode)


def trace(
    function: Callable[..., list[Any]],
    values: Sequence[torch.Tensor],
    mode: Any,
    decompositions: Mapping[Any, Any] | None = None,
) -> torch.fx.GraphModule:
    """Traces a function.

    Args:
        function: The function; returns a list of tensors.
        values: Its arguments.
        mode: The fake mode of these.
        decompositions: The decompositions of ops.

    Returns:
        The graph of the function.
    """
    if mode.shape_env is not None:
        # Numbers that were read from tensors before, which are not results of the function.
        mode.shape_env.pending_fresh_unbacked_symbols.clear()
    with mode, torch.no_grad():
        # make_fx tells arguments apart by their identity, and nodes of one traced graph that was
        # copied twice have the same value.
        own = [each.detach() for each in values]
        traced: torch.fx.GraphModule = make_fx(function, decomposition_table=decompositions or {})(
            *own
        )
    return traced


def splice(
    graph: torch.fx.Graph,
    node: torch.fx.Node,
    traced: torch.fx.GraphModule,
    inputs: Sequence[torch.fx.Node],
    mode: Any,
) -> list[Any]:
    """Copies the nodes of the graph of a function into another graph.

    Args:
        graph: The other graph, whose insertion point is used.
        node: The node whose location and metadata the copies have.
        traced: The graph of the function.
        inputs: The nodes of its arguments.
        mode: The fake mode of their values.

    Returns:
        The nodes of its results.
    """
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    placeholders = iter(inputs)
    returned: list[Any] = []
    for each in traced.graph.nodes:
        if each.op == "placeholder":
            copies[each] = next(placeholders)
        elif each.op == "output":
            returned = list(torch.fx.node.map_arg(each.args[0], copies.__getitem__))
        else:
            if each.op == "get_attr":
                number = _number(getattr(traced, each.target))
                kind: Any = {"dtype": number.dtype}
                copy = graph.call_function(torch.ops.aten.full.default, ([], number.item()), kind)
                with mode:
                    value: Any = torch.full([], number.item(), dtype=number.dtype)
            else:
                copy, value = graph.node_copy(each, copies.__getitem__), each.meta["val"]
            copy.meta = {**node.meta, "val": value}
            copy.meta.pop("tensor_meta", None)
            copies[each] = copy
    return returned


def _number(constant: torch.Tensor) -> torch.Tensor:
    """The value of a constant that a function makes of a number, as by `torch.tensor(0.5)`."""
    value = constant.constant if isinstance(constant, FakeTensor) else constant
    assert value is not None
    assert not value.ndim
    return value


def arguments_by_name(node: torch.fx.Node, target: torch._ops.OpOverload) -> dict[str, Any]:
    """The arguments of a call by their names in the schema, including defaults."""
    found: dict[str, Any] = {}
    for index, argument in enumerate(target._schema.arguments):
        if index < len(node.args):
            found[argument.name] = node.args[index]
        else:
            found[argument.name] = node.kwargs.get(argument.name, argument.default_value)
    return found
