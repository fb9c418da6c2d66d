# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes of a model to its inputs and buffers."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec
from torch.fx import Node

from convoy.errors import ConvoyWarning, InputError
from convoy.frontend._source_lines import line_of

__all__ = ["check_written", "drop_returned_writes", "drop_unread_writes"]

aten = torch.ops.aten
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.TOKEN)
#: Ops that return their operand.
_COPIES = (aten.alias.default, aten.clone.default, aten.detach.default)


def drop_unread_writes(
    program: torch.export.ExportedProgram, module: torch.nn.Module | None
) -> None:
    """Removes the writes to buffers that no result depends on, such as the frequencies of rotary
    embeddings that each call computes again, or a counter of calls, and those of what the buffer
    has already. The statistics of submodules in training mode remain, for `check_written`.

    Args:
        program: A decomposed program.
        module: The module that was exported. Without it, writes remain.
    """
    graph, signature = program.graph, program.graph_signature
    returned = graph.output_node()
    pairs = zip(returned.args[0], signature.output_specs, strict=True)
    read = _read_by([value for value, spec in pairs if spec.kind in _RETURNED])
    inputs = zip(graph.find_nodes(op="placeholder"), signature.input_specs, strict=True)
    buffers = {spec.target: node for node, spec in inputs if spec.kind is InputKind.BUFFER}

    def is_kept(value: Node, spec: OutputSpec) -> bool:
        if spec.kind is not OutputKind.BUFFER_MUTATION or module is None:
            return True
        if module.get_submodule(str(spec.target).rpartition(".")[0]).training:
            return True
        buffer = buffers[spec.target]
        return buffer in read and _copied(value) is not buffer

    if _drop(program, is_kept):
        graph.eliminate_dead_code()


def drop_returned_writes(program: torch.export.ExportedProgram) -> None:
    """Removes the writes to inputs whose values are results, as those to the state of a cache that
    the model takes and returns. A ConvoyWarning has the inputs and lines.

    Args:
        program: A decomposed program.
    """
    pairs = zip(
        program.graph.output_node().args[0], program.graph_signature.output_specs, strict=True
    )
    results = {
        _copied(value)
        for value, spec in pairs
        if spec.kind is OutputKind.USER_OUTPUT and isinstance(value, Node)
    }
    found = []

    def is_kept(value: Node, spec: OutputSpec) -> bool:
        if spec.kind is not OutputKind.USER_INPUT_MUTATION or _copied(value) not in results:
            return True
        found.append(f"'{spec.target}'{_place(value)}")
        return False

    if _drop(program, is_kept):
        warnings.warn(
            "the compiled model leaves its inputs as they are, got a model that writes to "
            f"{'; '.join(found)}; the new values are in its results",
            ConvoyWarning,
            stacklevel=2,
        )


def _drop(
    program: torch.export.ExportedProgram, is_kept: Callable[[Node, OutputSpec], bool]
) -> bool:
    """Removes results of the graph; returns whether there were any."""
    returned, specs = program.graph.output_node(), program.graph_signature.output_specs
    pairs = [pair for pair in zip(returned.args[0], specs, strict=True) if is_kept(*pair)]
    if len(pairs) == len(specs):
        return False
    returned.args = (tuple(value for value, _ in pairs),)
    specs[:] = [spec for _, spec in pairs]
    return True


def _read_by(results: list[Node]) -> set[Node]:
    """The nodes that results depend on."""
    found: set[Node] = set()
    rest = [each for each in results if isinstance(each, Node)]
    while rest:
        node = rest.pop()
        if node not in found:
            found.add(node)
            rest += node.all_input_nodes
    return found


def _copied(node: Node) -> Node:
    """What a node is a copy of."""
    while node.target in _COPIES or _keeps_type(node):
        node = node.all_input_nodes[0]
    return node


def _keeps_type(node: Node) -> bool:
    if node.target is not aten._to_copy.default:
        return False
    own, given = node.meta["val"], node.all_input_nodes[0].meta["val"]
    return bool(own.dtype == given.dtype)


def check_written(program: torch.export.ExportedProgram, module: torch.nn.Module | None) -> None:
    """Raises InputError for a model that writes to its inputs or buffers."""
    nodes = {node.name: node for node in program.graph.nodes}
    for output in program.graph_signature.output_specs:
        # A token orders ops with effects, which `check_effects` refuses.
        if output.kind in _RETURNED:
            continue
        owner = (output.target or "").rpartition(".")[0]
        if (
            module is not None
            and output.kind is OutputKind.BUFFER_MUTATION
            and owner
            and module.get_submodule(owner).training
        ):
            kind = type(module.get_submodule(owner)).__name__
            msg = (
                f"expected a module in evaluation mode, got '{owner}' ({kind}) in training "
                "mode; call eval() on it"
            )
            raise InputError(msg)
        msg = (
            "expected a model without in-place writes, got one that writes to "
            f"'{output.target}'{_place(nodes.get(output.arg.name))}; return the value instead"
        )
        raise InputError(msg)


def _place(node: Node | None) -> str:
    return f", at {line_of(node)}" if node is not None and line_of(node).line else ""
