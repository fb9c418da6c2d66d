# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles a graph of aten ops with fixed shapes: its parts by Convoy, the rest by the fallback."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule, fuse_by_partitions, topo_sort

from convoy.errors import ConvoyError, UnsupportedOpsError, first_line
from convoy.torch_compile.options import BackendOptions
from convoy.torch_compile.partition import (
    Reasons,
    device_of,
    divide,
    flops_of,
    is_op,
    reason_against,
)
from convoy.torch_compile.parts import Part, PartSource, load_part
from convoy.torch_compile.report import GraphReport, PartReport, add_report
from convoy.torch_compile.returned_views import separate_returned_views
from convoy_runtime import ConvoyRuntimeError

__all__ = ["compile_graph"]

_log = logging.getLogger("convoy.torch_compile")
_PREFIX = "convoy_part_"


def compile_graph(
    module: torch.fx.GraphModule, static: frozenset[int], kind: str, options: BackendOptions
) -> torch.fx.GraphModule:
    """Compiles a graph.

    Args:
        module: A functional graph of aten ops with fixed shapes, whose nodes have `meta["val"]`.
            It is modified.
        static: The positions of the arguments that are the same tensors in each call: parameters
            and buffers.
        kind: "inference", "forward" or "backward", for the report.
        options: The options of the backend.

    Returns:
        The graph with compiled parts.
    """
    report = add_report(kind)
    views = separate_returned_views(module.graph)
    nodes = list(module.graph.nodes)
    device = device_of(module)
    report.ops = sum(is_op(node) for node in nodes)
    flops = {node.name: flops_of(node) for node in nodes if is_op(node)}
    report.flops = sum(flops.values())
    if device.type not in ("cpu", "cuda"):
        reasons: Reasons = dict.fromkeys(nodes, f"Convoy has no target for {device.type}")
    else:
        reasons = {
            node: reason for node in nodes if (reason := reason_against(node, device)) is not None
        }
        reasons |= dict.fromkeys(views, "it is a view that the graph returns")
        names = {
            node.name
            for index, node in enumerate(node for node in nodes if node.op == "placeholder")
            if index in static
        }
        names |= {node.name for node in nodes if node.op == "get_attr"}
        module = _with_parts(module, names, device, reasons, options, report, flops)
    for node in nodes:
        if is_op(node) and node in reasons:
            key = (str(node.target), reasons[node])
            report.left[key] = report.left.get(key, 0) + 1
    if options.fallback == "inductor" and report.left:
        _compile_rest(module, report)
    module.recompile()
    _log.info("%s", report)
    return module


def _with_parts(
    module: torch.fx.GraphModule,
    weights: set[str],
    device: torch.device,
    reasons: Reasons,
    options: BackendOptions,
    report: GraphReport,
    flops: Mapping[str, int],
) -> torch.fx.GraphModule:
    """Replaces each part by its loaded artifact. Nodes that turn out to be unsupported are added
    to `reasons`."""
    parts = _supported_parts(module, weights, device, reasons, options, flops)
    compiled: list[list[torch.fx.Node]] = []
    loaded: list[Part] = []
    for nodes, source in parts:
        try:
            part, cached, seconds = load_part(source)
        except (ConvoyError, ConvoyRuntimeError) as error:
            reasons |= dict.fromkeys(nodes, first_line(error))
            continue
        compiled.append(nodes)
        loaded.append(part)
        ops = [node for node in nodes if is_op(node)]
        report.parts.append(
            PartReport(
                f"part {len(report.parts)}",
                len(ops),
                sum(flops[node.name] for node in ops),
                device.type,
                cached,
                seconds,
            )
        )
    fused = fuse_by_partitions(module, [dict.fromkeys(nodes) for nodes in compiled], _PREFIX)
    for index, part in enumerate(loaded):
        fused.add_submodule(f"{_PREFIX}{index}", part)
    return fused


def _supported_parts(
    module: torch.fx.GraphModule,
    weights: set[str],
    device: torch.device,
    reasons: Reasons,
    options: BackendOptions,
    flops: Mapping[str, int],
) -> list[tuple[list[torch.fx.Node], PartSource]]:
    """Divides the graph until the frontend accepts each part. An op that it refuses leaves its
    part, with all ops of this name: a refusal names the op, not the node."""
    accepted: dict[tuple[torch.fx.Node, ...], PartSource] = {}
    while True:
        parts = []
        refused: Reasons = {}
        for nodes in divide(module, reasons):
            count = sum(is_op(node) for node in nodes)
            if count < options.min_ops and not any(flops.get(node.name) for node in nodes):
                text = f"its part has {count} ops, fewer than min_ops = {options.min_ops}"
                refused |= dict.fromkeys(nodes, text)
                continue
            source = accepted.get(tuple(nodes))
            if source is None:
                source = _extract(module, nodes, weights, device, options)
                refused |= _refused(nodes, source)
                accepted[tuple(nodes)] = source
            parts.append((nodes, source))
        if not refused:
            return parts
        reasons |= refused


def _refused(nodes: Sequence[torch.fx.Node], source: PartSource) -> Reasons:
    """The nodes of a part that the frontend refuses, with reasons. A part in the cache was accepted
    before."""
    try:
        if not source.is_cached():
            _ = source.imported
    except UnsupportedOpsError as error:
        named = {op.op: op.reason for op in error.ops}
        found = {
            node: named[name]
            for node in nodes
            if (name := str(node.target).removesuffix(".default")) in named
        }
        return found or dict.fromkeys(nodes, first_line(error))
    except ConvoyError as error:
        return dict.fromkeys(nodes, first_line(error))
    return {}


def _extract(
    module: torch.fx.GraphModule,
    nodes: Sequence[torch.fx.Node],
    weights: set[str],
    device: torch.device,
    options: BackendOptions,
) -> PartSource:
    """A copy of some nodes as a graph of its own. The arguments and results are in the order of
    `fuse_by_partitions`."""
    graph, inputs, _ = fuse_as_graphmodule(module, topo_sort(list(nodes)), "part")
    return PartSource(graph, tuple(node.name in weights for node in inputs), device, options)


def _compile_rest(module: torch.fx.GraphModule, report: GraphReport) -> None:
    """Compiles by inductor what remains of the graph."""
    from torch._inductor.compile_fx import compile_fx_inner

    rest = {
        node: "compiled"
        for node in module.graph.nodes
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload)
    }
    parts = divide(module, rest)
    prefix = "inductor_part_"
    nodes_of = [dict.fromkeys(nodes) for nodes in parts]
    fuse_by_partitions(module, nodes_of, prefix, always_return_tuple=True)
    for index in range(len(parts)):
        part = module.get_submodule(f"{prefix}{index}")
        assert isinstance(part, torch.fx.GraphModule)
        inputs = [node.meta["val"] for node in part.graph.nodes if node.op == "placeholder"]
        try:
            run = compile_fx_inner(part, inputs)
        except Exception as error:  # eager mode runs it
            _log.warning("inductor cannot compile %s: %s", report.name, first_line(error))
            continue
        module.add_submodule(f"{prefix}{index}", _Inductor(run))


class _Inductor(torch.nn.Module):
    """A function of inductor, which takes a list, as a module."""

    def __init__(self, run: Any) -> None:
        super().__init__()
        self._run = run

    def forward(self, *args: Any) -> Any:
        return self._run(list(args))
