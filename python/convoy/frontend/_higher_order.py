# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops that run other graphs, of a number of steps that is known: the graphs take their places.

`torch.cond` computes both branches and selects: the graphs have no effects. `scan` and `map` are
unrolled. The functions of `flex_attention` are applied to all scores at once.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._higher_order_ops.flex_attention import math_attention
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from convoy.frontend._emitter import Emitter
from convoy.frontend._inline import inline

__all__ = ["MOST_NODES", "inline_higher_order"]

aten, higher_order = torch.ops.aten, torch.ops.higher_order
#: The largest number of nodes of an unrolled loop.
MOST_NODES = 20_000


def inline_higher_order(module: GraphModule, decompositions: Any) -> None:
    """Replaces higher-order ops by the graphs that they run. Others remain, for
    `check_operations`.

    Args:
        module: A decomposed graph, with the other graphs as its modules.
        decompositions: The decompositions of ops.
    """
    graphs: set[Node] = set()
    for node in list(module.graph.nodes):
        if not isinstance(node.target, HigherOrderOperator):
            continue
        inputs = [each for each in node.all_input_nodes if each.op == "get_attr"]
        for each in inputs:
            inline_higher_order(_graph_of(module, each), decompositions)
        with module.graph.inserting_before(node):
            made = _results(module, node, decompositions)
        if made is None:
            continue
        for user in list(node.users):
            assert user.target is operator.getitem
            user.replace_all_uses_with(made[user.args[1]])
            module.graph.erase_node(user)
        module.graph.erase_node(node)
        graphs.update(inputs)
    for each in graphs:
        if not each.users:
            module.graph.erase_node(each)


def _graph_of(module: GraphModule, node: Any) -> GraphModule:
    found = module.get_submodule(node.target)
    assert isinstance(found, GraphModule)
    return found


def _results(module: GraphModule, node: Node, decompositions: Any) -> Sequence[Any] | None:
    """The nodes of an op's results; None if it remains."""
    splice = _Splice(module, node)
    if node.target is higher_order.cond:
        return _cond(splice, *node.args)
    if node.target is higher_order.map_impl:
        body, xs, others = node.args
        return _loop(splice, body, [], xs, others)
    if node.target is higher_order.scan:
        return _loop(splice, *node.args)
    if node.target is higher_order.flex_attention:
        return _flex_attention(splice, decompositions)
    return None


class _Splice:
    """Copies graphs into another one, in place of a node."""

    def __init__(self, module: GraphModule, node: Node) -> None:
        self.module = module
        self.node = node
        self.call = Emitter(module.graph, node)

    def size(self, graph: Any) -> int:
        return len(_graph_of(self.module, graph).graph.nodes)

    def copies(self, graph: Any, inputs: Sequence[Any]) -> list[Any]:
        """Copies a graph. Returns its results."""
        source, values = _graph_of(self.module, graph).graph, iter(inputs)
        copied: dict[Node, Any] = {}
        for each in source.nodes:
            if each.op == "placeholder":
                copied[each] = next(values)
            elif each.op == "call_function":
                copied[each] = self.module.graph.node_copy(each, copied.__getitem__)
            else:
                assert each.op == "output"
        returned: Any = torch.fx.node.map_arg(source.output_node().args[0], copied.__getitem__)
        return list(returned) if isinstance(returned, (list, tuple)) else [returned]


def _is_spliceable(splice: _Splice, *graphs: Any) -> bool:
    """Whether graphs consist of calls of ops."""
    return all(
        each.op in ("placeholder", "call_function", "output")
        for graph in graphs
        for each in _graph_of(splice.module, graph).graph.nodes
    )


def _cond(splice: _Splice, predicate: Any, yes: Any, no: Any, inputs: Any) -> list[Any] | None:
    if isinstance(predicate, bool):
        chosen = yes if predicate else no
        return splice.copies(chosen, inputs) if _is_spliceable(splice, chosen) else None
    is_tensor = isinstance(predicate.meta["val"], torch.Tensor)
    if not is_tensor or not _is_spliceable(splice, yes, no):
        return None
    if predicate.meta["val"].ndim:
        predicate = splice.call(aten.reshape.default, predicate, [])
    pairs = zip(splice.copies(yes, inputs), splice.copies(no, inputs), strict=True)
    return [a if a is b else splice.call(aten.where.self, predicate, a, b) for a, b in pairs]


def _loop(splice: _Splice, body: Any, carried: Any, xs: Any, others: Any) -> list[Any] | None:
    """The last state, and then the outputs of all steps, stacked."""
    trips = xs[0].meta["val"].shape[0] if xs else 0
    if not trips or not _is_spliceable(splice, body) or trips * splice.size(body) > MOST_NODES:
        return None
    state, outputs = list(carried), []
    for step in range(trips):
        elements = [splice.call(aten.select.int, x, 0, step) for x in xs]
        made = splice.copies(body, [*state, *elements, *others])
        state = made[: len(state)]
        outputs.append(made[len(state) :])
    stacked = [splice.call(aten.stack.default, list(each)) for each in zip(*outputs, strict=True)]
    return [*state, *stacked]


def _flex_attention(splice: _Splice, decompositions: Any) -> list[Any]:
    inputs = list(
        dict.fromkeys(each for each in splice.node.all_input_nodes if each.op != "get_attr")
    )

    def function(*tensors: torch.Tensor) -> list[Any]:
        known: dict[Any, Any] = dict(zip(inputs, tensors, strict=True))

        def of(each: Node) -> Any:
            return known[each] if each in known else _graph_of(splice.module, each)

        arguments: Any = torch.fx.node.map_arg(splice.node.args, of)
        return list(math_attention(*arguments))

    mode = detect_fake_mode([each.meta["val"] for each in inputs])
    return inline(splice.module.graph, splice.node, function, inputs, mode, decompositions)
