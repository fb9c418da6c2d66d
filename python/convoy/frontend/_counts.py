# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.bincount, where the model uses a known number of counts: `torch.bincount(x, minlength=9)`
that becomes a matrix of 3 rows, or whose first counts are read."""

from __future__ import annotations

from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx import Graph, Node

from convoy.frontend._export import decompositions
from convoy.frontend._inline import arguments_by_name, inline

__all__ = ["use_known_counts"]

aten = torch.ops.aten


def use_known_counts(graph: Graph) -> None:
    """Replaces each torch.bincount of a known size by a sum of ones or weights.

    Args:
        graph: A decomposed graph.
    """
    for node in list(graph.nodes):
        if node.target is aten.bincount.default:
            arguments = arguments_by_name(node, node.target)
            if (size := _size(node, arguments["minlength"])) is not None:
                with graph.inserting_before(node):
                    _replace(graph, node, arguments, size)


def _size(node: Node, least: int) -> int | None:
    """The number of counts that the model uses; None if it is not known. Slices of a known size are
    among the least number of counts."""
    size = node.meta["val"].shape[0]
    # A symbol that other ops have made a number, such as a reshape.
    if isinstance(size, int) or size.node.expr.is_number:
        return int(size)
    parts = [user for user in node.users if not _is_check(user)]
    are_known = all(
        user.target is aten.slice.Tensor and isinstance(user.meta["val"].shape[0], int)
        for user in parts
    )
    return least if parts and are_known else None


def _is_check(node: Node) -> bool:
    """Whether a size is used by nothing but the assertions of torch.export."""
    if node.target in (
        aten._assert_scalar.default,
        aten.sym_constrain_range_for_size.default,
    ):
        return True
    is_number = not isinstance(node.meta.get("val"), (torch.Tensor, list, tuple))
    return is_number and node.op == "call_function" and all(map(_is_check, node.users))


def _replace(graph: Graph, node: Node, arguments: dict[str, Any], size: int) -> None:
    x, weights = arguments["self"], arguments["weights"]
    dtype = node.meta["val"].dtype

    def function(values: torch.Tensor, *given: torch.Tensor) -> list[torch.Tensor]:
        places = values.to(torch.int64)
        counted = given[0].to(dtype) if given else torch.ones_like(places)
        # PyTorch has an error for the numbers that are no counts; they are written to one more.
        inside = (places >= 0) & (places < size)
        places = torch.where(inside, places, size)
        counts = torch.zeros(size + 1, dtype=dtype)
        return [torch.scatter_add(counts, 0, places, counted)[:size]]

    inputs = [x] if weights is None else [x, weights]
    mode = detect_fake_mode([each.meta["val"] for each in inputs])
    (made,) = inline(graph, node, function, inputs, mode, decompositions())
    for user in list(node.users):
        if _is_check(user):
            _erase(graph, user)
    node.replace_all_uses_with(made)
    graph.erase_node(node)


def _erase(graph: Graph, node: Node) -> None:
    for user in list(node.users):
        _erase(graph, user)
    graph.erase_node(node)
