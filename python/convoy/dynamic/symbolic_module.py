# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles a module of phase `tcp` whose shapes have symbols: one static program for each point, as
of a PyTorch model. The module, e.g. a `.mlir` file, declares the symbols and their ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from torch_mlir import ir

from convoy.compiled_model import CompiledModel
from convoy.compiler import compile_imported
from convoy.dialects import compiler_errors, parse, tcp
from convoy.dynamic.model import DynamicModel, check_equal_interfaces
from convoy.dynamic.padded import reason_of_tensors, with_padding
from convoy.dynamic.point_models import compile_points
from convoy.dynamic.points import Points, choose_points
from convoy.dynamic.symbolic_interface import Sizes, symbolic_interface
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions
from convoy_runtime.dynamic.manifest import DynamicTensor
from convoy_runtime.dynamic.sizes import size_text
from convoy_runtime.manifest import Manifest

__all__ = ["compile_symbolic", "declares_symbols"]


def declares_symbols(text: str) -> bool:
    """Whether a module declares symbols. Raises CompileError if it cannot be parsed."""
    name = tcp.SymbolicIntOp.OPERATION_NAME
    if name not in text:
        return False
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = parse(text, context)
        return any(
            op.operation.name == name
            for function in module.body.operations
            for region in function.regions
            for block in region
            for op in block.operations
        )


def compile_symbolic(
    module: ImportedModule,
    options: CompileOptions,
    *,
    points: Points | None = None,
    progress: Callable[[str], None] | None = None,
    seconds: dict[str, float] | None = None,
) -> DynamicModel:
    """Compiles a module for each point.

    Args:
        module: The module at the end of phase `tcp`, with `tcp.symbolic_int`.
        options: The options of the compilation.
        points: As of `convoy.compile`.
        progress: Called at the start of each step with the step's name.
        seconds: Receives the time of each step.

    Returns:
        The compiled model in memory.

    Raises:
        CompileError: The module is invalid, its shapes contradict each other, or a phase fails.
        InputError: `points` does not match the symbols, or the sizes of inputs do not determine
            these.
    """
    interface = symbolic_interface(module.text, module.name)
    chosen = choose_points(interface.symbols, points)
    seconds = {} if seconds is None else seconds

    def import_at(values: Mapping[str, int]) -> ImportedModule:
        return _at(module, values)

    imported, models = compile_points(chosen, import_at, options, progress, seconds)
    first = models[0].manifest
    inputs = _tensors(first, "inputs", interface.inputs)
    outputs = _tensors(first, "outputs", interface.outputs)
    if progress is not None:
        progress("padding")
    symbols = with_padding(
        interface.symbols,
        chosen,
        imported,
        import_at,
        lambda symbol: interface.unpadded[symbol] or reason_of_tensors((*inputs, *outputs), symbol),
    )

    def compile_at(values: Mapping[str, int]) -> CompiledModel:
        model = compile_imported(import_at(values), replace(options, dump_phases=None))
        check_equal_interfaces([first, model.manifest], [chosen[0], values])
        return model

    return DynamicModel(
        symbols,
        inputs,
        outputs,
        tuple(chosen),
        tuple(models),
        seconds,
        compile_at,
    )


def _at(module: ImportedModule, values: Mapping[str, int]) -> ImportedModule:
    """The module with numbers as sizes."""
    from convoy import _convoy

    given = ",".join(f"{symbol}={value}" for symbol, value in values.items())
    with compiler_errors():
        static = _convoy.run_pipeline(
            module.text, module.name, f"builtin.module(tcp-specialize-symbols{{values={given}}})"
        )
    return replace(module, text=static)


def _tensors(manifest: Manifest, kind: str, sizes: Sequence[Sizes]) -> tuple[DynamicTensor, ...]:
    """The inputs or outputs of a point's program with these sizes."""
    return tuple(
        DynamicTensor(
            spec.name,
            tuple("?" if size is None else size_text(size) for size in each),
            spec.dtype,
        )
        for spec, each in zip(getattr(manifest, kind), sizes, strict=True)
    )
