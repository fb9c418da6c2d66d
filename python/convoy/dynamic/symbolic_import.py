# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports a model with dynamic sizes as one `tcp` module with symbols.

The frontend converts ops with numbers as sizes. So the model is imported for several values of its
symbols, and what these modules have in common is the module with symbols. It is specialized again
for each of these values, which must result in the same types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch_mlir import ir

from convoy.dialects import compiler_errors
from convoy.dynamic.generalize import Generalized, generalized
from convoy.dynamic.importer import importer_of
from convoy.dynamic.ops import described, main_function
from convoy.dynamic.samples import sample_values
from convoy.dynamic.size_expressions import SizeExpressions
from convoy.errors import CompileError, FrontendError, SymbolicSizesError
from convoy.frontend import ImportedModule

__all__ = ["import_symbolic"]


def import_symbolic(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    progress: Callable[[str], None] | None = None,
) -> ImportedModule:
    """Imports a model as one module, whose dims with dynamic sizes are `?`.

    Args:
        module: The module, or an exported program with symbolic sizes.
        inputs: The example inputs of a module.
        kwargs: The example keyword arguments of a module.
        dynamic_shapes: For a module, as of `torch.export.export`.
        progress: Called at the start of each step with the step's name.

    Returns:
        The model in `tcp`. `tcp-specialize-symbols` makes its text a module of numbers.

    Raises:
        SymbolicSizesError: Ops, attributes or constants depend on the sizes.
        FrontendError: The model cannot be imported.
    """
    importer = importer_of(module, inputs, kwargs, dynamic_shapes)
    interface = importer.interface
    samples = sample_values(interface.symbols, interface.inputs)
    modules = []
    for number, values in enumerate(samples):
        text = " ".join(f"{name}={value}" for name, value in values.items())
        if progress is not None:
            progress(f"{text} ({number + 1} of {len(samples)}): import")
        try:
            modules.append(importer.at(values, merges=False))
        except FrontendError as error:
            message = f"the model cannot be imported for {text}: {error}"
            raise SymbolicSizesError(message) from error
    if progress is not None:
        progress("symbols")
    sizes = SizeExpressions(interface, samples)
    made = generalized(samples, modules, interface.symbols, interface.inputs, sizes)
    _check(made, samples, modules)
    used = {
        name: made.tables.get(name, tensor)
        for name, tensor in modules[0].weights.items()
        if name in made.tables or all(name in module.weights for module in modules)
    }
    return replace(
        modules[0],
        text=made.text,
        torch_text="",
        weights=used,
        constants=modules[0].constants & used.keys(),
    )


def _check(
    made: Generalized, samples: Sequence[Mapping[str, int]], modules: Sequence[ImportedModule]
) -> None:
    """Raises SymbolicSizesError unless the module has the ops of each sample for its values."""
    from convoy import _convoy

    for values, module, rewritten in zip(samples, modules, made.rewritten, strict=True):
        given = ",".join(f"{symbol}={value}" for symbol, value in values.items())
        pipeline = f"builtin.module(tcp-specialize-symbols{{values={given}}})"
        try:
            with compiler_errors():
                static = _convoy.run_pipeline(made.text, module.name, pipeline)
        except CompileError as error:
            message = f"the module with symbols is invalid for {given}: {error.diagnostics[0]}"
            raise SymbolicSizesError(message) from error
        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            parsed = [ir.Module.parse(each) for each in (static, module.text)]
            found, wanted = (_operations(main_function(each, module.name)) for each in parsed)
            kept = [op for index, op in enumerate(wanted) if index not in rewritten]
            # New ops are between those of the sample.
            rest = iter([_text(op) for op in found])
            for op in kept:
                if _text(op) not in rest:
                    message = f"{described(op)}: has another type with symbols for {given}"
                    raise SymbolicSizesError(message)


def _operations(op: ir.Operation) -> list[ir.Operation]:
    """The ops inside of an op, each one before those inside of it."""
    return [
        each
        for region in op.regions
        for block in region
        for view in block.operations
        for each in (view.operation, *_operations(view.operation))
    ]


def _text(op: ir.Operation) -> tuple[Any, ...]:
    """The name, attributes and types of an op."""
    attributes = sorted((name, str(op.attributes[name])) for name in op.attributes)
    types = [str(value.type) for value in (*op.operands, *op.results)]
    return op.name, attributes, types
