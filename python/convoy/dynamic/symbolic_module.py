# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles a `.mlir` module of phase `tcp` whose shapes have symbols: one static program for each
point, as of a PyTorch model. The module declares the symbols and their ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from convoy.compiler import CompiledModel, compile_imported
from convoy.dialects import compiler_errors, parse, tcp
from convoy.dynamic.model import DynamicModel, check_equal_interfaces
from convoy.dynamic.point_models import compile_points
from convoy.dynamic.points import Points, choose_points
from convoy.errors import InputError
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import Size, size_text
from convoy_runtime.manifest import Manifest

__all__ = ["compile_symbolic", "declares_symbols"]

#: The roles of arguments that are no inputs.
_WEIGHTS = ("tcp.weight", "tcp.prepared")
#: Calls are not padded: the proof that rows are independent starts with torch.export's sizes.
_UNPADDED = "compiled from a .mlir file"
#: The sizes of a tensor. None is a size that does not have the form `factor * symbol + offset`.
_Sizes = list[Size | None]


@dataclass(frozen=True)
class _Interface:
    """The symbols of a module, and the sizes of its inputs and results."""

    symbols: tuple[Symbol, ...]
    inputs: tuple[_Sizes, ...]
    outputs: tuple[_Sizes, ...]


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
    text: str,
    name: str,
    options: CompileOptions,
    *,
    points: Points | None = None,
    progress: Callable[[str], None] | None = None,
    seconds: dict[str, float] | None = None,
) -> DynamicModel:
    """Compiles a module for each point.

    Args:
        text: The module at the end of phase `tcp`, with `tcp.symbolic_int`.
        name: The name of the module, for messages.
        options: The options of the compilation.
        points: As of `convoy.compile`.
        progress: Called at the start of each step with the step's name.
        seconds: Receives the time of each step.

    Returns:
        The compiled model in memory. Its programs run at the points only.

    Raises:
        CompileError: The module is invalid, its shapes contradict each other, or a phase fails.
        InputError: `points` does not match the symbols, or the sizes of inputs do not determine
            these.
    """
    interface = _interface(text, name)
    chosen = choose_points(interface.symbols, points)
    seconds = {} if seconds is None else seconds

    def import_at(values: Mapping[str, int]) -> ImportedModule:
        return _at(text, name, values)

    _, models = compile_points(chosen, import_at, options, progress, seconds)
    first = models[0].manifest

    def compile_at(values: Mapping[str, int]) -> CompiledModel:
        model = compile_imported(import_at(values), replace(options, dump_phases=None))
        check_equal_interfaces([first, model.manifest], [chosen[0], values])
        return model

    return DynamicModel(
        interface.symbols,
        _tensors(first, "inputs", interface.inputs),
        _tensors(first, "outputs", interface.outputs),
        tuple(chosen),
        tuple(models),
        seconds,
        compile_at,
    )


def _at(text: str, name: str, values: Mapping[str, int]) -> ImportedModule:
    """The module with numbers as sizes."""
    from convoy import _convoy

    given = ",".join(f"{symbol}={value}" for symbol, value in values.items())
    with compiler_errors():
        static = _convoy.run_pipeline(
            text, name, f"builtin.module(tcp-specialize-symbols{{values={given}}})"
        )
    return ImportedModule(name, static, "", weights={}, inputs=(), outputs=())


def _tensors(manifest: Manifest, kind: str, sizes: Sequence[_Sizes]) -> tuple[DynamicTensor, ...]:
    """The inputs or outputs of a point's program with these sizes."""
    return tuple(
        DynamicTensor(
            spec.name,
            tuple("?" if size is None else size_text(size) for size in each),
            spec.dtype,
        )
        for spec, each in zip(getattr(manifest, kind), sizes, strict=True)
    )


def _interface(text: str, name: str) -> _Interface:
    """Infers the shapes of a module's inputs and results."""
    from convoy import _convoy

    with compiler_errors():
        inferred = _convoy.run_pipeline(text, name, "builtin.module(tcp-infer-symbolic-shapes)")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(inferred)
        return _interface_of(_main(module, name))


def _main(module: ir.Module, name: str) -> ir.Operation:
    """`@main`, or the only function with a body."""
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    functions = [each for each in functions if len(each.regions[0].blocks)]
    named = [each for each in functions if each.attributes["sym_name"].value == "main"]
    if not named and len(functions) != 1:
        message = f"{name}: expected a function @main, or one function, got {len(functions)}"
        raise InputError(message)
    return (named or functions)[0]


def _interface_of(function: ir.Operation) -> _Interface:
    block = function.regions[0].blocks[0]
    symbols: dict[ir.Value, Symbol] = {}
    shapes: dict[ir.Value, _Sizes] = {}
    for op in block.operations:
        if isinstance(op, tcp.SymbolicIntOp):
            symbols[op.result] = Symbol(
                op.symbol_name.value,
                max(1, op.min_val.value),
                op.max_val.value,
                op.divisor.value,
                _UNPADDED,
            )
        elif isinstance(op, tcp.BindSymbolicShapeOp):
            names = [symbols[symbol].name for symbol in op.shape_symbols]
            results = ir.AffineMapAttr(op.shape_expressions).value.results
            shapes[op.operand] = [_size(each, names) for each in results]
    arguments = _inputs(function, block)
    inputs = [shapes.get(value) or _static(value) for value in arguments]
    outputs = [
        shapes.get(value) or _static(value)
        for value in list(block.operations)[-1].operation.operands
    ]
    for index, each in enumerate(inputs):
        if None in each:
            message = (
                f"input {index}: expected sizes such as 2*name+1 of one symbol, got another "
                f"expression for dim {each.index(None)}"
            )
            raise InputError(message)
    seen = {size.symbol for each in inputs for size in each if size is not None}
    for symbol in symbols.values():
        if symbol.name not in seen:
            message = (
                f"expected an input with a size such as 2*{symbol.name}+1, from which each call "
                f"reads the symbol '{symbol.name}', got none"
            )
            raise InputError(message)
    return _Interface(tuple(symbols.values()), tuple(inputs), tuple(outputs))


def _inputs(function: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The arguments that are no weights."""
    if "arg_attrs" not in function.attributes:
        return list(block.arguments)
    return [
        argument
        for argument, attributes in zip(
            block.arguments, function.attributes["arg_attrs"], strict=True
        )
        if not any(role in attributes for role in _WEIGHTS)
    ]


def _static(value: ir.Value) -> _Sizes:
    """The sizes of a tensor; None for each `?`."""
    kind = ir.RankedTensorType(value.type)
    return [
        None if kind.is_dynamic_dim(dim) else Size("", 0, kind.get_dim_size(dim))
        for dim in range(kind.rank)
    ]


def _size(expression: ir.AffineExpr, names: Sequence[str]) -> Size | None:
    """An expression as a factor of one symbol and an offset, or None."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Size("", 0, expression.value)
    if isinstance(expression, ir.AffineSymbolExpr):
        return Size(names[expression.position], 1, 0)
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    symbol, number = _size(expression.lhs, names), _size(expression.rhs, names)
    if symbol is None or number is None or not symbol.symbol or number.symbol:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return Size(symbol.symbol, symbol.factor, symbol.offset + number.offset)
    if number.offset < 1:
        return None
    return Size(symbol.symbol, symbol.factor * number.offset, symbol.offset * number.offset)
