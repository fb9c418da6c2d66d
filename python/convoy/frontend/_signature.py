# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads the signature of an exported program: its arguments, the names of its outputs, and the
structures of both."""

from __future__ import annotations

from collections import Counter

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument

from convoy.errors import InputError
from convoy.frontend._convert import Argument
from convoy.frontend._export import RESULT_STRIDES
from convoy.frontend._real_view import real_view
from convoy.frontend._structure import describe
from convoy.output_names import leaves_with_paths, named_leaves
from convoy_runtime.manifest_structure import Node
from convoy_runtime.strides import dense_order
from convoy_runtime.structure import is_flat, is_positional

__all__ = [
    "arguments_of",
    "drop_constants",
    "output_names",
    "output_orders",
    "structures_of",
]


def structures_of(
    program: torch.export.ExportedProgram,
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The structures of arguments and results; empty for flat ones."""
    signature = program.graph_signature
    inputs = [spec.arg for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    outputs = [spec.arg for spec in signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
    call = program.call_spec
    arguments = describe(call.in_spec, inputs) if call.in_spec is not None else ()
    results = describe(call.out_spec, outputs) if call.out_spec is not None else ()
    return (
        () if is_positional(arguments) else arguments,
        () if is_flat(results) else results,
    )


def drop_constants(program: torch.export.ExportedProgram) -> None:
    """Removes numbers, strings and None from the inputs and outputs of the graph. Their values are
    in the structures, and torch.export has compiled them in."""
    graph, signature = program.graph, program.graph_signature
    constants = {
        spec.arg.name
        for spec in signature.input_specs
        if not isinstance(spec.arg, TensorArgument) and spec.kind is InputKind.USER_INPUT
    }
    returned = next(node for node in graph.nodes if node.op == "output")
    specs = list(signature.output_specs)
    kept = [
        (value, spec)
        for value, spec in zip(returned.args[0], specs, strict=True)
        if isinstance(spec.arg, TensorArgument)
    ]
    returned.args = (tuple(value for value, _ in kept),)
    specs[:] = [spec for _, spec in kept]
    signature.output_specs[:] = specs
    for node in list(graph.nodes):
        if node.op == "placeholder" and node.name in constants and not node.users:
            graph.erase_node(node)
    signature.input_specs[:] = [
        spec
        for spec in signature.input_specs
        if isinstance(spec.arg, TensorArgument) or spec.arg.name not in constants
    ]


def arguments_of(program: torch.export.ExportedProgram) -> list[Argument]:
    """The arguments of the graph: inputs, and weights with their data. Raises InputError for a
    model without results and for inputs that are not tensors."""
    signature = program.graph_signature
    if not signature.output_specs:
        msg = "expected a model that returns tensors, got one without results"
        raise InputError(msg)
    values = {n.name: n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"}
    arguments = []
    for spec in signature.input_specs:
        if not isinstance(spec.arg, TensorArgument):
            got = getattr(spec.arg, "value", spec.arg)
            msg = f"input '{spec.arg.name}': expected a tensor or a constant, got {got!r}"
            raise InputError(msg)
        if spec.kind is InputKind.USER_INPUT:
            value = values[spec.arg.name]
            order = _order(value.shape, value.stride())
            arguments.append(Argument(spec.arg.name, order=order))
            continue
        assert spec.target is not None
        tensor = program.state_dict.get(spec.target)
        if tensor is None:
            tensor = program.constants[spec.target]
        assert isinstance(tensor, torch.Tensor)
        tensor = real_view(tensor)
        inline = spec.kind is InputKind.CONSTANT_TENSOR and tensor.numel() == 1
        # The data is read from memory, which differs from the values of views with the negative or
        # conjugate bit.
        arguments.append(
            Argument(spec.target, tensor.detach().resolve_neg().resolve_conj().contiguous(), inline)
        )
    return arguments


def output_orders(program: torch.export.ExportedProgram) -> list[tuple[int, ...] | None]:
    """The order of each result's dims in memory as PyTorch returns it, from the outermost to the
    innermost; None for a packed one, and for one that is not dense. Before `drop_constants`."""
    returned = program.graph.output_node()
    results = zip(returned.args[0], returned.meta[RESULT_STRIDES], strict=True)
    return [
        _order(value.meta["val"].shape, strides)
        for value, strides in results
        if strides is not None
    ]


def _order(shape: torch.Size, strides: tuple[int, ...]) -> tuple[int, ...] | None:
    if not all(isinstance(number, int) for number in (*shape, *strides)):
        return None  # the frontend refuses a shape that depends on data
    order = dense_order(tuple(shape), tuple(strides))
    return None if order is None or list(order) == sorted(order) else order


def output_names(program: torch.export.ExportedProgram) -> list[str]:
    """ "0", "1", ... for a tensor or a tuple of tensors; keys joined by dots for nested results.
    Raises InputError for equal names."""
    specs = [
        spec.arg
        for spec in program.graph_signature.output_specs
        if spec.kind is OutputKind.USER_OUTPUT
    ]
    spec = program.call_spec.out_spec
    if spec is None:
        return [str(index) for index in range(len(specs))]
    tree = pytree.tree_unflatten(list(range(len(specs))), spec)
    paths = [path for path, _ in leaves_with_paths(tree)]
    all_names = [name for name, _ in named_leaves(tree)]
    tensors = [
        (path, name)
        for path, name, arg in zip(paths, all_names, specs, strict=True)
        if isinstance(arg, TensorArgument)
    ]
    names = [name for _, name in tensors]
    for name, times in Counter(names).items():
        if times > 1:
            same = " and ".join(
                f"output{pytree.keystr(path)}" for path, each in tensors if each == name
            )
            msg = (
                f"expected distinct names of outputs, got {times} with the name '{name}': {same}; "
                "rename a key"
            )
            raise InputError(msg)
    return names
