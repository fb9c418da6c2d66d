# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Divides a graph of aten ops into parts that Convoy compiles and the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry

from convoy.frontend import has_conversion
from convoy.frontend._types import unsupported_dtype

__all__ = ["Reasons", "device_of", "divide", "flops_of", "is_op", "reason_against", "tensors_of"]

#: Node to the reason for which Convoy does not compile it.
Reasons = dict[torch.fx.Node, str]


class _Support(OperatorSupportBase):
    def __init__(self, reasons: Mapping[torch.fx.Node, str]) -> None:
        self._reasons = reasons

    def is_node_supported(self, submodules: Mapping[str, Any], node: torch.fx.Node) -> bool:
        return node.op == "call_function" and node not in self._reasons


def divide(
    module: torch.fx.GraphModule, reasons: Mapping[torch.fx.Node, str]
) -> list[list[torch.fx.Node]]:
    """Groups the nodes without a reason into as few parts as possible, so that no part depends on
    itself through another node.

    Args:
        module: A graph of aten ops, whose nodes have `meta["val"]`.
        reasons: The nodes that belong to no part.

    Returns:
        The nodes of each part in the order of the graph.
    """
    partitioner = CapabilityBasedPartitioner(
        module, _Support(reasons), allows_single_node_partition=True
    )
    order = {node: index for index, node in enumerate(module.graph.nodes)}
    return [
        sorted(part.nodes, key=order.__getitem__)
        for part in partitioner.propose_partitions()
        if part.nodes
    ]


def is_op(node: torch.fx.Node) -> bool:
    """Whether a node computes; elements of tuples are not ops."""
    return node.op == "call_function" and node.target is not operator.getitem


def tensors_of(node: torch.fx.Node) -> list[torch.Tensor]:
    """The fake tensors among the results of a node."""
    leaves = pytree.tree_leaves(node.meta.get("val"))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def device_of(module: torch.fx.GraphModule) -> torch.device:
    """The device of a graph: a GPU if any tensor is on one, else that of the first tensor."""
    found = [tensor.device for node in module.graph.nodes for tensor in tensors_of(node)]
    gpus = [device for device in found if device.type == "cuda"]
    return (gpus or found or [torch.device("cpu")])[0]


def reason_against(node: torch.fx.Node, device: torch.device) -> str | None:
    """Why a node cannot be part of a compiled graph, as far as this is known before its conversion.

    Args:
        node: A node of an aten graph.
        device: The device of the graph.

    Returns:
        The reason; None if there is none.
    """
    if node.op != "call_function":
        return None
    if node.target is operator.getitem:
        source = node.args[0]
        assert isinstance(source, torch.fx.Node)
        return reason_against(source, device)
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return "it is not an aten op"
    if target._schema.is_mutable:
        return "it writes to its argument"
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "its result is random"
    for value in (
        *tensors_of(node),
        *(x for each in node.all_input_nodes for x in tensors_of(each)),
    ):
        if value.layout != torch.strided or value.is_quantized:
            return "a tensor is not dense"
        if unsupported_dtype(value.dtype):
            return f"it has a tensor of {str(value.dtype).removeprefix('torch.')}"
        if any(not isinstance(size, int) for size in value.shape):
            return "its shape depends on the values of a tensor"
    if any(value.device != device for value in tensors_of(node)):
        return f"its result is not on {device}"
    if not has_conversion(target):
        return "it has no conversion to tcp"
    return None


def flops_of(node: torch.fx.Node) -> int:
    """The floating-point operations of a node, as `torch.utils.flop_counter` counts them; 0 for
    ops without a formula."""
    count: Callable[..., int] | None = flop_registry.get(
        getattr(node.target, "overloadpacket", None)
    )
    if count is None:
        return 0
    args, kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda each: each.meta.get("val")
    )
    return int(count(*args, **kwargs, out_val=node.meta.get("val")))
