# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Binds the inputs of a module with symbols, and replaces its constants that depend on sizes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dynamic.correspondence import Correspondence
from convoy.dynamic.emit_symbolic import SymbolicEmitter
from convoy.dynamic.ops import described
from convoy.dynamic.rewrites import indices
from convoy.dynamic.tables import read_table, table_end
from convoy.errors import SymbolicSizesError
from convoy.frontend import ImportedModule
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import parse_size

__all__ = ["generalize_arguments"]


def generalize_arguments(
    functions: Sequence[ir.Operation],
    modules: Sequence[ImportedModule],
    symbols: Sequence[Symbol],
    inputs: Sequence[DynamicTensor],
    found: Correspondence,
    emitter: SymbolicEmitter,
) -> dict[str, torch.Tensor]:
    """Changes the arguments of the first function.

    Args:
        functions: The function of each sample.
        modules: The model at each sample; equal constants have equal names.
        symbols: The symbols.
        inputs: The inputs, with their sizes.
        found: Receives the arguments.
        emitter: Creates ops at the start of the function.

    Returns:
        Name of a constant to the one of the largest sizes, of which the function reads the first
        elements.

    Raises:
        SymbolicSizesError: A constant depends on the sizes in another way.
    """
    blocks = [function.regions[0].blocks[0] for function in functions]
    roles = [list(function.attributes["arg_attrs"]) for function in functions]
    _check_equal(functions, blocks, roles, found)
    names, sizes = [symbol.name for symbol in symbols], {each.name: each.sizes for each in inputs}
    has_largest = all(
        found.samples[-1][symbol.name] + symbol.multiple_of > symbol.maximum for symbol in symbols
    )
    tables: dict[str, torch.Tensor] = {}
    computed, changed = [], set()
    for index, values in enumerate(zip(*(list(block.arguments) for block in blocks), strict=True)):
        role = roles[0][index]
        found.add(values)
        if "tcp.input" in role:
            given = sizes[role["tcp.input"].value]
            if not all(text.isdecimal() for text in given):
                emitter.bind(values[0], [_expression(text, names) for text in given])
            continue
        each = [own[index]["tcp.weight"].value for own in roles]
        if len(set(each)) == 1:
            continue
        changed.add(index)
        tensors = [module.weights[name] for module, name in zip(modules, each, strict=True)]
        kind = ir.RankedTensorType(values[0].type)
        emitter.location = _reader(values[0]).location
        made = indices(emitter, tensors, kind.element_type)
        if made is not None:
            computed.append(index)
            found.replace(values[0], made)
        elif has_largest and _read_table(values[0], tensors, found, emitter):
            tables[each[0]] = tensors[-1]
        else:
            shapes = found.differing([list(tensor.shape) for tensor in tensors])
            message = (
                f"{described(_reader(values[0]))}: reads the constant '{each[0]}', whose values "
                f"depend on the sizes; its shape is {shapes}"
            )
            raise SymbolicSizesError(message)
    for index in reversed(computed):
        blocks[0].erase_argument(index)
    functions[0].attributes["arg_attrs"] = ir.ArrayAttr.get(
        [
            _of_any_size(role) if index in changed else role
            for index, role in enumerate(roles[0])
            if index not in computed
        ]
    )
    return tables


def _of_any_size(role: ir.DictAttr) -> ir.DictAttr:
    """The attributes of a constant that are those of all sizes: `tcp.steps` tells the elements for
    one of them."""
    return ir.DictAttr.get({each.name: each.attr for each in role if each.name != "tcp.steps"})


def _check_equal(
    functions: Sequence[ir.Operation],
    blocks: Sequence[ir.Block],
    roles: Sequence[Sequence[ir.Attribute]],
    found: Correspondence,
) -> None:
    """Refuses inputs and results that differ in more than sizes, and constants that only some
    samples have, e.g. because two are equal there."""
    texts = [[str(role) for role in own] for own in roles]
    inputs = [[text for text in own if "tcp.input" in text] for own in texts]
    results = [str(function.attributes["res_attrs"]) for function in functions]
    for kind, each in (("inputs", list(map(str, inputs))), ("results", results)):
        if len(set(each)) > 1:
            message = f"the {kind} are {found.differing(each)}"
            raise SymbolicSizesError(message)
    if len({len(own) for own in texts}) == 1:
        return
    for sample, (block, own) in enumerate(zip(blocks, texts, strict=True)):
        for argument, role, text in zip(block.arguments, roles[sample], own, strict=True):
            if any(text not in other for other in texts):
                message = (
                    f"{described(_reader(argument))}: reads the constant "
                    f"'{role['tcp.weight'].value}' for {found.sample(sample)}, which other sizes "
                    "do not have"
                )
                raise SymbolicSizesError(message)


def _read_table(
    value: ir.Value,
    tensors: Sequence[torch.Tensor],
    found: Correspondence,
    emitter: SymbolicEmitter,
) -> bool:
    """Makes a constant the one of the largest sizes, of which ops read the first elements. Returns
    whether that is possible."""
    end = table_end(tensors)
    if end is None:
        return False
    block = value.owner
    kind = ir.RankedTensorType(value.type)
    shape = list(tensors[-1].shape)
    table = block.add_argument(ir.RankedTensorType.get(shape, kind.element_type), value.location)
    made = read_table(emitter, table, tensors, end)
    if made is None:
        return False
    found.replace(value, made)
    value.set_type(table.type)
    table.replace_all_uses_with(value)
    block.erase_argument(len(block.arguments) - 1)
    return True


def _reader(value: ir.Value) -> ir.Operation:
    """The first op that reads a constant; one without readers is no argument."""
    readers = [use.owner.operation for use in value.uses]
    order = {op.operation: index for index, op in enumerate(value.owner.operations)}
    return min(readers, key=lambda op: order.get(op, len(order)))


def _expression(text: str, names: Sequence[str]) -> str:
    """The expression of an input's size, whose symbols are numbered."""
    size = parse_size(text)
    assert size is not None
    if not size.symbol:
        return text
    return f"s{names.index(size.symbol)} * {size.factor} + {size.offset}"
