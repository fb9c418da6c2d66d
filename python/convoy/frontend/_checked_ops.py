# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Refuses exported ops that no converter sees: those that run other graphs or have effects, take
objects that are no tensors, write by other strides, and numbers of tensors."""

from __future__ import annotations

import torch
from torch._ops import HigherOrderOperator
from torch.export.graph_signature import CustomObjArgument

from convoy.errors import SourceLine, UnsupportedOp, UnsupportedOpsError
from convoy.frontend._higher_order import MOST_NODES
from convoy.frontend._refused import reason_of
from convoy.frontend._source_lines import line_of
from convoy.frontend._tensor_numbers import has_static_sizes, read_numbers

__all__ = [
    "check_effects",
    "check_numbers",
    "check_objects",
    "check_operations",
    "check_results",
]

_NUMBER = (
    "it takes a number that is read from a tensor, and no form of it takes a tensor there; "
    "expected a constant, or an op on the tensor itself, such as torch.where or an index"
)
_GRAPHS = (
    "expected a model without control flow, got an op that runs other graphs; torch.where selects "
    "between values"
)
_STEPS = (
    "the number of its steps depends on the values of a tensor; expected a loop of Python with a "
    "number of steps that depends on shapes only, whose body selects by torch.where"
)
_UNROLLED = (
    f"it is unrolled; expected at least one step, and at most {MOST_NODES} ops in all steps "
    "together"
)
_WRITES = (
    "it writes to its arguments; expected an op that returns new tensors, with a kernel that "
    "consists of PyTorch's ops"
)
_GENERATOR = (
    "it makes random numbers of a torch.Generator, and a compiled model is deterministic; expected "
    "random tensors as inputs"
)
_OBJECT = "it takes an object of {kind}, which tcp does not have; expected an op on tensors"
_RESULT = (
    "the model returns a number that is read from a tensor; expected the tensor, without item()"
)


def check_effects(graph: torch.fx.Graph) -> None:
    """Raises UnsupportedOpsError for ops that do more than to compute their results, which
    torch.export orders by tokens."""
    found: dict[str, list[SourceLine]] = {}
    for node in graph.nodes:
        if node.target is not torch.ops.higher_order.with_effects:
            continue
        op = node.args[1]
        found.setdefault(str(op).removesuffix(".default"), []).append(line_of(node))
    if found:
        raise UnsupportedOpsError(
            UnsupportedOp(op, reason_of(op), tuple(lines)) for op, lines in found.items()
        )


def check_objects(program: torch.export.ExportedProgram) -> None:
    """Raises UnsupportedOpsError for ops that take objects that are no tensors, such as a
    torch.Generator. torch.export makes inputs of them."""
    kinds = {
        spec.arg.name: spec.arg.class_fqn
        for spec in program.graph_signature.input_specs
        if isinstance(spec.arg, CustomObjArgument)
    }
    found: dict[tuple[str, str], list[SourceLine]] = {}
    for node in program.graph.nodes:
        for kind in {kinds[each.name] for each in node.all_input_nodes if each.name in kinds}:
            op = str(node.target).removesuffix(".default")
            is_random = kind == "torch._C.Generator"
            reason = _GENERATOR if is_random else _OBJECT.format(kind=kind)
            found.setdefault((op, reason), []).append(line_of(node))
    if found:
        raise UnsupportedOpsError(
            UnsupportedOp(op, reason, tuple(lines)) for (op, reason), lines in found.items()
        )


def check_operations(graph: torch.fx.Graph) -> None:
    """Raises UnsupportedOpsError for ops that depend on what `tcp` does not have: higher-order ops
    such as torch.cond and torch.while_loop, which run other graphs, and writes by the strides of a
    tensor that is not contiguous."""
    found: dict[tuple[str, str], list[SourceLine]] = {}
    strided: dict[str, list[SourceLine]] = {}
    for node in graph.nodes:
        if node.op == "call_function" and isinstance(node.target, HigherOrderOperator):
            found.setdefault(_higher_order(node), []).append(line_of(node))
        if node.target is torch.ops.aten.as_strided_scatter.default:
            value = node.args[0].meta["val"]
            if not value.is_contiguous() or value.storage_offset() != 0:
                strided.setdefault("aten.as_strided_scatter", []).append(line_of(node))
    if strided:
        reason = "expected a contiguous tensor, got other strides; call contiguous() on it"
        raise UnsupportedOpsError(
            UnsupportedOp(op, reason, tuple(lines)) for op, lines in strided.items()
        )
    if found:
        raise UnsupportedOpsError(
            UnsupportedOp(op, reason, tuple(lines)) for (op, reason), lines in found.items()
        )


def _higher_order(node: torch.fx.Node) -> tuple[str, str]:
    """The name of an op that runs other graphs or an op that writes, and why it is refused."""
    name = str(node.target)
    if name.startswith("auto_functionalized"):
        return str(node.args[0]).removesuffix(".default"), _WRITES
    if name == "while_loop":
        return name, _STEPS
    if name in ("scan", "map_impl"):
        return name, _UNROLLED
    return name, _GRAPHS


def check_results(graph: torch.fx.Graph) -> None:
    """Raises UnsupportedOpsError for results that are numbers of tensors."""
    read = read_numbers(graph)
    lines = [line_of(node) for node in graph.output_node().all_input_nodes if node in read]
    if lines:
        raise UnsupportedOpsError([UnsupportedOp("output", _RESULT, tuple(lines))])


def check_numbers(graph: torch.fx.Graph) -> None:
    """Raises UnsupportedOpsError for ops that have a number of a tensor after
    `use_tensors_for_numbers`."""
    read = read_numbers(graph)
    found: dict[tuple[str, str], list[SourceLine]] = {}
    for node in graph.nodes:
        taken = [each for each in node.all_input_nodes if each in read]
        if not taken or node in read:
            continue
        op = str(node.target).removesuffix(".default")
        reason = _NUMBER if has_static_sizes(node) else reason_of("aten.item")
        found.setdefault((op, reason), []).append(line_of(node))
    if found:
        raise UnsupportedOpsError(
            UnsupportedOp(op, reason, tuple(lines)) for (op, reason), lines in found.items()
        )
