# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes to views whose dims are in another order than in memory, as in
`x.view(b, n, h, d).transpose(1, 2).masked_fill_(mask, 0)`. For such a write PyTorch's
functionalization makes the tensor below the view from the result of the op without a write, by
`view`, which fails for the strides of some results."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

__all__ = ["with_copies_into_views"]

aten = torch.ops.aten


def with_copies_into_views(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Replaces a write whose op without a write returns other strides by this op and a copy into
    the view, which keeps the view's strides.

    Args:
        program: A program of torch.export, which remains as it is.

    Returns:
        The same program if it has no such write, or another one.
    """
    # Copies of nodes keep their order, and their names, which the program's signature has.
    moved = [_moved_result(node) for node in program.graph.nodes]
    if all(result is None for result in moved):
        return program
    graph = copy.deepcopy(program.graph)
    for node, result in zip(list(graph.nodes), moved, strict=True):
        if result is not None:
            with graph.inserting_before(node):
                made = graph.call_function(_without_write(node.target), node.args, node.kwargs)
                made.meta = {**node.meta, "val": result}
            node.target, node.args, node.kwargs = aten.copy_.default, (node.args[0], made), {}
    module = GraphModule(program.graph_module, graph)
    module.meta.update(program.graph_module.meta)
    updated: torch.export.ExportedProgram = program._update(module, program.graph_signature)
    return updated


def _without_write(op: Any) -> OpOverload | None:
    """`masked_fill.Scalar` of `masked_fill_.Scalar`; None if there is none."""
    if not isinstance(op, OpOverload) or op.namespace != "aten" or op is aten.copy_.default:
        return None
    name = op.overloadpacket.__name__
    written = [each.alias_info is not None for each in op._schema.arguments]
    if not name.endswith("_") or name.endswith("__") or written.count(True) != 1 or not written[0]:
        return None
    found = getattr(getattr(aten, name[:-1], None), op._overloadname, None)
    return found if isinstance(found, OpOverload) else None


def _moved_result(node: Node) -> torch.Tensor | None:
    """The result without a write if it has other strides than the view, else None."""
    if node.op != "call_function" or (op := _without_write(node.target)) is None:
        return None
    view = node.args[0].meta.get("val") if node.args and isinstance(node.args[0], Node) else None
    if not isinstance(view, torch.Tensor) or torch.Tag.nondeterministic_seeded in node.target.tags:  # type: ignore[union-attr]
        return None
    if not all(isinstance(each, int) for each in (*view.shape, *view.stride())):
        return None
    if view.is_contiguous():
        return None
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
    mode = detect_fake_mode([each.meta.get("val") for each in node.all_input_nodes])
    with mode, torch.no_grad():  # type: ignore[union-attr]
        result: torch.Tensor = op(*args, **kwargs)
    return None if result.stride() == view.stride() else result
