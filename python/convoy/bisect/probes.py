# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which value of the tcp module each node of the exported graph became, and modules that return
these values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch_mlir import ir

from convoy.errors import ConvoyError, SourceLine
from convoy.frontend import ImportedModule
from convoy.frontend._complex import lower_complex
from convoy.frontend._constants import fold_constants
from convoy.frontend._convert import source_line
from convoy.frontend._export import export_module
from convoy.frontend._importer import import_program
from convoy.frontend._source_lines import keep_user_lines, line_of
from convoy.frontend._types import TensorType

__all__ = ["Probe", "Traced", "returning", "shown", "trace"]

_PROBE = "probe."


@dataclass(frozen=True)
class Probe:
    """A node of the graph and its value in tcp.

    Attributes:
        node: The node.
        op: The index of the tcp op that computes the value, in `@main`.
        names: The types of the tcp ops that the node became, e.g. "tcp.conv2d" and "tcp.add".
        line: The line of the model.
        module: The path of the module whose forward has the node, e.g. "layer1.0.conv1".
        weighted: Whether the node reads a parameter of that module.
    """

    node: torch.fx.Node
    op: int
    names: tuple[str, ...]
    line: SourceLine
    module: str
    weighted: bool


@dataclass(frozen=True)
class Traced:
    """A model as PyTorch's graph and as tcp.

    Attributes:
        program: The exported program.
        imported: The tcp module to compile.
        probes: The nodes whose values depend on an input, in order.
    """

    program: torch.export.ExportedProgram
    imported: ImportedModule
    probes: tuple[Probe, ...]


def trace(
    module: torch.nn.Module, inputs: tuple[Any, ...], imported: ImportedModule, text: str | None
) -> Traced:
    """Matches the nodes of a module with the ops of its tcp module.

    Args:
        module: The module.
        inputs: Its example inputs.
        imported: The result of importing it.
        text: A tcp module to compile instead, in which ops may be inserted, removed and changed.
            None for that of `imported`.

    Returns:
        The matched model.

    Raises:
        ConvoyError: `text` is no tcp module, or no op is left of the model's.
    """
    program = export_module(module, inputs)
    keep_user_lines(program.graph)
    # As in the import: the ops on the parts of complex numbers are nodes too.
    fold_constants(program)
    lower_complex(program)
    lines = {node.name: line_of(node) for node in program.graph.nodes}
    for node in program.graph.nodes:
        node.meta["stack_trace"] = f'File "{node.name}", line 1, in forward'
    # All texts are printed by the compiler, so that equal ops have equal texts.
    names = _ops(_generic(import_program(program, module).text))
    imported = replace(imported, text=_generic(imported.text if text is None else text))
    places = _matches([op.key for op in names], [op.key for op in _ops(imported.text)])
    types = {node.name: _type(node) for node in program.graph.nodes}
    last: dict[str, int] = {}
    made: dict[str, dict[str, None]] = {}
    for index, op in enumerate(names):
        if op.depends:
            made.setdefault(op.place, {})[op.name] = None
        is_value = op.type is not None and op.type == types.get(op.place)
        if index in places and op.depends and is_value:
            last[op.place] = places[index]
    probes = tuple(
        Probe(
            node,
            last[node.name],
            tuple(made[node.name]),
            lines[node.name],
            *_owner(program, node),
        )
        for node in program.graph.nodes
        if node.name in last
    )
    if not probes:
        message = "expected a tcp module with ops of the model, got one without"
        raise ConvoyError(message)
    return Traced(program, imported, probes)


def returning(
    imported: ImportedModule, probes: Sequence[Probe], *, only: bool = False
) -> tuple[ImportedModule, list[int]]:
    """Makes a module return values of ops.

    Args:
        imported: The module.
        probes: The values.
        only: Whether to return nothing else.

    Returns:
        The module, and for each probe the index of its output.
    """
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        parsed = ir.Module.parse(imported.text)
        function = _main(parsed)
        block = function.regions[0].blocks[0]
        ops = [view.operation for view in block.operations]
        end = ops[-1]
        values = [] if only else list(end.operands)
        described = [] if only else list(function.attributes["res_attrs"])
        indices = []
        for probe in probes:
            value = ops[probe.op].results[0]
            if value not in values:
                values.append(value)
                name = ir.StringAttr.get(f"{_PROBE}{probe.node.name}")
                described.append(ir.DictAttr.get({"tcp.output": name}))
            indices.append(values.index(value))
        ir.Operation.create("func.return", operands=values, loc=end.location,
                            ip=ir.InsertionPoint(end))  # fmt: skip
        end.erase()
        kind = ir.FunctionType.get(
            [argument.type for argument in block.arguments], [value.type for value in values]
        )
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        function.attributes["res_attrs"] = ir.ArrayAttr.get(described)
        names = [each["tcp.output"].value for each in described]
        text = parsed.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    # The values are a flat list, whatever the model returns.
    return replace(imported, text=text, outputs=tuple(names), results=()), indices


@dataclass(frozen=True)
class _Op:
    """An op of @main: what identifies it, the file of its location, whether it depends on an input,
    its name and, if it has one result, the type."""

    key: str
    place: str
    depends: bool
    name: str
    type: str | None


def _ops(text: str) -> list[_Op]:
    found = []
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        parsed = ir.Module.parse(text)
        function = _main(parsed)
        block = function.regions[0].blocks[0]
        data = {
            argument
            for argument, attributes in zip(
                block.arguments, function.attributes["arg_attrs"], strict=True
            )
            if "tcp.input" in attributes
        }
        for view in block.operations:
            op = view.operation
            depends = any(operand in data for operand in op.operands)
            if depends:
                data.update(op.results)
            types = [str(result.type) for result in op.results]
            key = re.sub(
                r"%\w+", "%", op.get_asm(print_generic_op_form=True, large_elements_limit=8)
            )
            found.append(
                _Op(key, source_line(op.location).file, depends, op.name,
                    types[0] if len(types) == 1 else None)
            )  # fmt: skip
    return found


def _main(module: ir.Module) -> ir.Operation:
    for view in module.body.operations:
        if (
            view.operation.name == "func.func"
            and view.operation.attributes["sym_name"].value == "main"
        ):
            return view.operation
    message = "expected a tcp module with a function @main, got none"
    raise ConvoyError(message)


def _generic(text: str) -> str:
    """The generic form of a tcp module, which may be in pretty form."""
    from convoy.dialects import parse, to_text

    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        return to_text(parse(text, context))


def _matches(original: Sequence[str], changed: Sequence[str]) -> Mapping[int, int]:
    """Index of an op to that of the same op in the changed module."""
    matcher = difflib.SequenceMatcher(None, original, changed, autojunk=False)
    return {
        block.a + offset: block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


def _type(node: torch.fx.Node) -> str | None:
    """The tcp type of a node's value, None if it is not a tensor."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return None
    with ir.Context(), ir.Location.unknown():
        try:
            return str(TensorType(tuple(value.shape), value.dtype).mlir())
        except KeyError:
            return None


def _owner(program: torch.export.ExportedProgram, node: torch.fx.Node) -> tuple[str, bool]:
    """The path of the module that has a node, and whether the node reads a parameter of it."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    targets = {
        spec.arg.name: spec.target for spec in program.graph_signature.input_specs if spec.target
    }
    read = (targets.get(each.name) for each in node.all_input_nodes)
    return path, bool(path) and any(
        each is not None and each.startswith(f"{path}.") for each in read
    )


def shown(line: SourceLine) -> str:
    """`FILE:LINE`, relative to the current folder if the file is below it."""
    path = Path(line.file)
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return f"{path}:{line.line}"
