# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports `nn.Module`s: torch.export, torch-mlir's FX importer, and conversion to `tcp`.

torch.export makes parameters, buffers and lifted constants inputs of its graph. Importing that
graph unchanged keeps them as function arguments, so that no weight becomes an attribute, which
would take seconds and hundreds of megabytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind, TensorArgument
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from convoy.errors import InputError, UnsupportedOp, UnsupportedOpsError
from convoy.frontend._constants import fold_constants
from convoy.frontend._convert import Argument, Converted, convert_function
from convoy.frontend._export import check_operations, export_module, keep_user_lines, line_of
from convoy.frontend._inputs import check_module
from convoy.frontend._literals import Literals
from convoy.output_names import named_leaves

__all__ = ["ImportedModule", "import_module", "import_program"]


@dataclass(frozen=True)
class ImportedModule:
    """A model in the `tcp` phase.

    Attributes:
        name: The name of the model.
        text: The `tcp` module: generic-form MLIR with locations.
        torch_text: The torch-dialect module that it was converted from.
        weights: Name to used tensor, in argument order. Contiguous; shares memory with the module
            if contiguous there.
        inputs: The names of the inputs.
        outputs: The names of the outputs.
        constants: The weights that are not in the `state_dict`: lifted constants, non-persistent
            buffers, and tensors made by the conversion.
        aliases: Other names of shared tensors to their names in `weights`.
        unused: Parameters and buffers that no output depends on.
    """

    name: str
    text: str
    torch_text: str
    weights: Mapping[str, torch.Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


def import_module(
    module: torch.nn.Module, example_inputs: tuple[Any, ...], *, name: str = "model"
) -> ImportedModule:
    """Imports a module for inputs of fixed shapes and dtypes.

    Inputs and results may be tuples, lists, dicts and named tuples of tensors. The compiled model
    has flat lists of them, in the order of torch.utils._pytree.

    Args:
        module: The module in evaluation mode.
        example_inputs: One value for each argument of `module.forward`.
        name: The name of the model.

    Returns:
        The model in `tcp`.

    Raises:
        InputError: The module is in training mode, inputs or outputs are not dense tensors, a dtype
            has no `tcp` type, or outputs have equal names.
        ExportError: torch.export failed.
        UnsupportedOpsError: Ops have no conversion; lists all of them.
    """
    check_module(module, example_inputs)
    program = export_module(module, example_inputs)
    keep_user_lines(program.graph)
    return import_program(program, module, name=name)


def import_program(
    program: torch.export.ExportedProgram, module: torch.nn.Module, *, name: str = "model"
) -> ImportedModule:
    """Imports the result of `export_module`. The stack traces of its nodes become locations.

    Args:
        program: The exported program.
        module: The module.
        name: The name of the model.

    Returns:
        The model in `tcp`.

    Raises:
        InputError, UnsupportedOpsError: As `import_module`.
    """
    _check_written(program, module)
    fold_constants(program)
    arguments = _arguments(program)
    outputs = _output_names(program)
    check_operations(program.graph)
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    function = _torch_function(importer, program.graph)
    torch_text = importer.module.operation.get_asm(enable_debug_info=True)
    converted = convert_function(function, arguments, outputs, Literals(torch_text))
    return _imported(
        name,
        converted,
        torch_text,
        arguments,
        outputs,
        _shared(module, converted),
        program.graph_signature,
    )


def _torch_function(importer: FxImporter, graph: torch.fx.Graph) -> ir.Operation:
    """Imports the graph to the torch dialect. An error of torch-mlir becomes an UnsupportedOpsError
    for the op that caused it."""
    try:
        return importer.import_stateless_graph(graph, func_name="main").operation
    except Exception as error:
        node, trace = None, error.__traceback__
        while trace is not None:
            found = trace.tb_frame.f_locals.get("node")
            node = found if isinstance(found, torch.fx.Node) else node
            trace = trace.tb_next
        if node is None:
            raise
        reason = (
            f"torch-mlir cannot import it: {type(error).__name__}: "
            f"{str(error).partition(chr(10))[0]}"
        )
        raise UnsupportedOpsError(
            [UnsupportedOp(str(node.target), reason, (line_of(node),))]
        ) from error


def _check_written(program: torch.export.ExportedProgram, module: torch.nn.Module) -> None:
    """Raises InputError for a model that writes to its inputs or buffers."""
    nodes = {node.name: node for node in program.graph.nodes}
    for output in program.graph_signature.output_specs:
        if output.kind is OutputKind.USER_OUTPUT:
            continue
        owner = (output.target or "").rpartition(".")[0]
        if (
            output.kind is OutputKind.BUFFER_MUTATION
            and owner
            and module.get_submodule(owner).training
        ):
            kind = type(module.get_submodule(owner)).__name__
            msg = (
                f"expected a module in evaluation mode, got '{owner}' ({kind}) in training "
                "mode; call eval() on it"
            )
            raise InputError(msg)
        node = nodes.get(output.arg.name)
        place = f", at {line_of(node)}" if node is not None and line_of(node).line else ""
        msg = (
            "expected a model without in-place writes, got one that writes to "
            f"'{output.target}'{place}; return the value instead"
        )
        raise InputError(msg)


def _arguments(program: torch.export.ExportedProgram) -> list[Argument]:
    signature = program.graph_signature
    if not signature.output_specs:
        msg = "expected a model that returns tensors, got one without results"
        raise InputError(msg)
    for output in signature.output_specs:
        if not isinstance(output.arg, TensorArgument):
            msg = (
                "expected outputs that are tensors, got "
                f"{getattr(output.arg, 'value', output.arg)!r}"
            )
            raise InputError(msg)
    arguments = []
    for spec in signature.input_specs:
        if not isinstance(spec.arg, TensorArgument):
            got = getattr(spec.arg, "value", spec.arg)
            msg = f"input '{spec.arg.name}': expected a tensor, got {got!r}"
            raise InputError(msg)
        if spec.kind is InputKind.USER_INPUT:
            arguments.append(Argument(spec.arg.name))
            continue
        assert spec.target is not None
        tensor = program.state_dict.get(spec.target)
        if tensor is None:
            tensor = program.constants[spec.target]
        assert isinstance(tensor, torch.Tensor)
        inline = spec.kind is InputKind.CONSTANT_TENSOR and tensor.numel() == 1
        # The data is read from memory, which differs from the values of views with the negative or
        # conjugate bit.
        arguments.append(
            Argument(spec.target, tensor.detach().resolve_neg().resolve_conj().contiguous(), inline)
        )
    return arguments


def _output_names(program: torch.export.ExportedProgram) -> list[str]:
    """ "0", "1", ... for a tensor or a tuple of tensors; keys joined by dots for nested results."""
    spec = program.call_spec.out_spec
    count = len(program.graph_signature.output_specs)
    if spec is None:
        return [str(index) for index in range(count)]
    tree = pytree.tree_unflatten(list(range(count)), spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    names = [name for name, _ in named_leaves(tree)]
    for name, times in Counter(names).items():
        if times > 1:
            same = " and ".join(
                f"output{pytree.keystr(path)}"
                for path, each in zip(paths, names, strict=True)
                if each == name
            )
            msg = (
                f"expected distinct names of outputs, got {times} with the name '{name}': {same}; "
                "rename a key"
            )
            raise InputError(msg)
    return names


def _shared(module: torch.nn.Module, converted: Converted) -> dict[str, str]:
    """Other names of shared tensors to the used name."""
    used = {_identity(tensor): name for name, tensor in converted.weights.items()}
    named = [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]
    return {
        name: used[_identity(tensor)]
        for name, tensor in named
        if name not in converted.weights and tensor.numel() and _identity(tensor) in used
    }


def _identity(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.is_neg())


def _imported(
    name: str,
    converted: Converted,
    torch_text: str,
    arguments: list[Argument],
    outputs: list[str],
    aliases: dict[str, str],
    signature: ExportGraphSignature,
) -> ImportedModule:
    kept = {
        spec.target
        for spec in signature.input_specs
        if spec.kind is InputKind.PARAMETER or (spec.persistent and spec.target)
    }
    unused = [
        argument.name
        for argument in arguments
        if argument.tensor is not None
        and not argument.inline
        and argument.name not in {*converted.weights, *aliases}
    ]
    return ImportedModule(
        name=name,
        text=converted.text,
        torch_text=torch_text,
        weights=converted.weights,
        inputs=tuple(argument.name for argument in arguments if argument.tensor is None),
        outputs=tuple(outputs),
        constants=frozenset(converted.weights.keys() - kept),
        aliases=aliases,
        unused=tuple(unused),
    )
