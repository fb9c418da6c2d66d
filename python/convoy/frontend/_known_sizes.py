# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sizes and numbers that depend on the values of constants, as those of `x[mask]` with a constant
mask. torch.export has symbols for them."""

from __future__ import annotations

from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

__all__ = ["use_known_sizes"]

aten = torch.ops.aten
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_CHECKS = (aten._assert_scalar.default, aten.sym_constrain_range_for_size.default)


def use_known_sizes(graph: torch.fx.Graph, known: dict[torch.fx.Node, Any]) -> None:
    """Replaces symbols in the metadata of known nodes and of the nodes that depend on them, and
    numbers that are known then by constants. Reads at known masks become reads at indices.

    Args:
        graph: An exported graph.
        known: The values of nodes that depend only on constants. Receives those of new nodes.
    """
    if not any(_has_symbols(node.meta.get("val")) for node in graph.nodes):
        return
    mode: Any = detect_fake_mode([node.meta.get("val") for node in graph.nodes])
    changed: set[torch.fx.Node] = set()
    for node in list(graph.nodes):
        with graph.inserting_before(node):
            changed.update(_without_masks(graph, node, known, mode))
        if node in known:
            if _has_symbols(node.meta.get("val")):
                _describe(node, _fake(mode, known[node]))
                changed.add(node)
        elif node.op == "call_function" and changed.intersection(node.all_input_nodes):
            args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
            if node.target in _CHECKS:
                if not isinstance(args[0], _SYMBOLS):
                    graph.erase_node(node)
                continue
            with mode, torch.no_grad():
                _describe(node, node.target(*args, **kwargs))
            changed.add(node)
    for node in reversed(list(graph.nodes)):
        if node in changed and isinstance(node.meta["val"], (bool, int, float)):
            _use_number(node)
            if node not in known:
                graph.erase_node(node)


def _without_masks(
    graph: torch.fx.Graph, node: torch.fx.Node, known: dict[torch.fx.Node, Any], mode: Any
) -> list[torch.fx.Node]:
    """Replaces known masks of aten.index and aten.masked_select by indices; returns these."""
    made: list[torch.fx.Node] = []

    def emit(op: Any, *args: Any) -> torch.fx.Node:
        new = graph.call_function(op, args)
        new.meta = dict(node.meta)
        values = map_arg(args, lambda each: known[each])
        known[new] = op(*values)
        _describe(new, _fake(mode, known[new]))
        made.append(new)
        return new

    def indices_of(mask: Any) -> list[Any]:
        if mask not in known or known[mask].dtype != torch.bool:
            return [mask]
        places = emit(aten.nonzero.default, mask)
        return [emit(aten.select.int, places, 1, dim) for dim in range(known[mask].ndim)]

    arguments: Any = node.args
    if node.target is aten.masked_select.default and arguments[1] in known:
        x, mask = arguments
        shape = torch.broadcast_shapes(x.meta["val"].shape, known[mask].shape)  # type: ignore[no-untyped-call]
        mask = emit(aten.expand.default, mask, list(shape))
        wide = graph.call_function(aten.expand.default, (x, list(shape)))
        wide.meta = dict(node.meta)
        _describe(wide, x.meta["val"].expand(shape))
        node.target, node.args = aten.index.Tensor, (wide, indices_of(mask))
    elif node.target is aten.index.Tensor and _has_symbols(node.meta["val"]):
        x, indices = arguments
        node.args = (x, [new for each in indices for new in indices_of(each)])
    return made


def _use_number(node: torch.fx.Node) -> None:
    number = node.meta["val"]
    for user in list(node.users):
        user.args, user.kwargs = map_arg(
            (user.args, user.kwargs), lambda each: number if each is node else each
        )


def _describe(node: torch.fx.Node, value: Any) -> None:
    node.meta["val"] = value
    node.meta.pop("tensor_meta", None)


def _fake(mode: Any, value: Any) -> Any:
    """A value for metadata. A parameter would become one there."""
    return pytree.tree_map_only(
        torch.Tensor, lambda each: mode.from_tensor(each.detach(), static_shapes=True), value
    )


def _has_symbols(value: Any) -> bool:
    return any(
        isinstance(leaf, _SYMBOLS)
        or (isinstance(leaf, torch.Tensor) and any(isinstance(n, _SYMBOLS) for n in leaf.shape))
        for leaf in pytree.tree_leaves(value)
    )
