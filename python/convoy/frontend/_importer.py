# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports `nn.Module`s: torch.export, torch-mlir's FX importer, and conversion to `tcp`.

torch.export makes parameters, buffers and lifted constants inputs of its graph. Importing that
graph unchanged keeps them as function arguments, so that no weight becomes an attribute, which
would take seconds and hundreds of megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export.graph_signature import ExportGraphSignature, InputKind
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from convoy.errors import UnsupportedOp, UnsupportedOpsError
from convoy.frontend._bounded_sizes import bound_sizes
from convoy.frontend._checked_ops import (
    check_effects,
    check_numbers,
    check_objects,
    check_operations,
    check_results,
)
from convoy.frontend._complex import lower_complex
from convoy.frontend._constants import fold_constants
from convoy.frontend._convert import Argument, Converted, convert_function
from convoy.frontend._export import (
    decompose,
    export_module,
)
from convoy.frontend._inputs import check_exported, check_module
from convoy.frontend._literals import Literals
from convoy.frontend._real_view import real_view
from convoy.frontend._run_export import COMPILED_IN
from convoy.frontend._signature import (
    arguments_of,
    drop_constants,
    output_names,
    output_orders,
    structures_of,
)
from convoy.frontend._source_lines import keep_user_lines, line_of
from convoy.frontend._tensor_numbers import drop_size_checks
from convoy.frontend._writes import check_written, drop_returned_writes, drop_unread_writes
from convoy_runtime.manifest_structure import Node

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
        compiled_in: Name in the `state_dict` to the buffer, of those that the model branches on.
        arguments: The structure of a call's arguments; empty if they are the inputs.
        results: The structure of the results; empty for a tensor and for a tuple of several.
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
    compiled_in: Mapping[str, torch.Tensor] = field(default_factory=dict)
    arguments: tuple[Node, ...] = ()
    results: tuple[Node, ...] = ()


def import_module(
    module: torch.nn.Module,
    example_inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str = "model",
    merges: bool = True,
) -> ImportedModule:
    """Imports a module for inputs of fixed shapes and dtypes.

    Inputs and results may be nested in tuples, lists, dicts, named tuples and dataclasses. The
    compiled model has flat lists of them, in the order of torch.utils._pytree, and the structures.
    Numbers, strings, bools and None among the inputs are compiled in.

    Args:
        module: The module in evaluation mode.
        example_inputs: One value for each positional argument of `module.forward`.
        kwargs: One value for each keyword argument.
        name: The name of the model.
        merges: Whether equal constants become one. Otherwise their number does not depend on sizes.

    Returns:
        The model in `tcp`.

    Raises:
        InputError: The module is in training mode, inputs or outputs are not dense tensors, a dtype
            has no `tcp` type, or outputs have equal names.
        ExportError: torch.export failed.
        UnsupportedOpsError: Ops have no conversion; lists all of them.
    """
    check_module(module, example_inputs, kwargs)
    program = export_module(module, example_inputs, kwargs)
    keep_user_lines(program.graph)
    return import_program(program, module, name=name, merges=merges)


def import_exported(
    program: torch.export.ExportedProgram, *, name: str = "model"
) -> ImportedModule:
    """Imports the result of `torch.export.export`, for the shapes that it was exported for.

    Args:
        program: The exported program, of a module in evaluation mode.
        name: The name of the model.

    Returns:
        The model in `tcp`.

    Raises:
        InputError: The program has symbolic sizes, or as `import_module`.
        ExportError: The decomposition of an op failed.
        UnsupportedOpsError: Ops have no conversion; lists all of them.
    """
    check_exported(program)
    program = decompose(program)
    keep_user_lines(program.graph)
    return import_program(program, None, name=name)


def import_program(
    program: torch.export.ExportedProgram,
    module: torch.nn.Module | None,
    *,
    name: str = "model",
    merges: bool = True,
) -> ImportedModule:
    """Imports the result of `export_module`. The stack traces of its nodes become locations.

    Args:
        program: The exported program.
        module: The module that was exported, if it is known.
        name: The name of the model.
        merges: As of `import_module`.

    Returns:
        The model in `tcp`.

    Raises:
        InputError, UnsupportedOpsError: As `import_module`.
    """
    drop_unread_writes(program, module)
    drop_returned_writes(program)
    check_written(program, module)
    check_effects(program.graph)
    check_objects(program)
    check_results(program.graph)
    structures, outputs = structures_of(program), output_names(program)
    orders = output_orders(program)
    drop_constants(program)
    fold_constants(program, merges=merges)
    drop_size_checks(program.graph)
    if bound_sizes(program.graph):
        fold_constants(program, merges=merges)
    check_numbers(program.graph)
    if lower_complex(program):
        # The matrices of Fourier transforms.
        fold_constants(program, merges=merges)
    arguments = arguments_of(program)
    check_operations(program.graph)
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    function = _torch_function(importer, program.graph)
    torch_text = importer.module.operation.get_asm(enable_debug_info=True)
    # torch-mlir makes literals of the indices that it replaces aten.as_strided by.
    literals = Literals(torch_text)
    converted = convert_function(function, arguments, outputs, literals, orders, merges=merges)
    return _imported(
        name,
        converted,
        torch_text,
        arguments,
        outputs,
        _shared(_named_tensors(program, module), converted),
        program.graph_signature,
        structures,
        program.graph.output_node().meta.get(COMPILED_IN, {}),
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


def _named_tensors(
    program: torch.export.ExportedProgram, module: torch.nn.Module | None
) -> list[tuple[str, torch.Tensor]]:
    """All parameters and buffers, shared ones under each of their names."""
    if module is None:
        named = [(name, t) for name, t in program.state_dict.items() if torch.is_tensor(t)]
    else:
        named = [
            *module.named_parameters(remove_duplicate=False),
            *module.named_buffers(remove_duplicate=False),
        ]
    return [(name, real_view(tensor)) for name, tensor in named]


def _shared(named: list[tuple[str, torch.Tensor]], converted: Converted) -> dict[str, str]:
    """Other names of shared tensors to the used name."""
    used = {_identity(tensor): name for name, tensor in converted.weights.items()}
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
    structures: tuple[tuple[Node, ...], tuple[Node, ...]],
    compiled_in: Mapping[str, torch.Tensor],
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
        compiled_in=compiled_in,
        arguments=structures[0],
        results=structures[1],
    )
