"""Reads a torch-dialect `.mlir` file, as torch-mlir prints it, and converts it to `tcp`."""

from __future__ import annotations

import re
from pathlib import Path

from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

from convoy.errors import MlirSyntaxError
from convoy.frontend._convert import Argument, convert_function
from convoy.frontend._importer import ImportedModule
from convoy.frontend._literals import Literals

__all__ = ["import_mlir"]

_SIGNATURE = re.compile(
    r"func\.func\b[^@]*@[\w$.\"-]+\(([^{]*?)\)\s*(?:->|\{|attributes)", re.DOTALL
)
_ARGUMENT = re.compile(r"%([\w$.-]+)\s*:")


def import_mlir(path: str | Path, *, name: str | None = None) -> ImportedModule:
    """Imports the one function of the torch dialect in `path`. Its arguments become inputs, under
    their names in the file; its `torch.vtensor.literal`s become weights, named by their locations
    (`loc("conv1.weight")`) or `literal0`, `literal1`, ...

    Raises MlirSyntaxError (the file cannot be read as MLIR, or has no such function), InputError
    (an argument of a type that `tcp` lacks) and UnsupportedOpsError.
    """
    path = Path(path)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot read the file: {error}"
        raise MlirSyntaxError(msg) from error
    context = ir.Context()
    torch_dialect.register_dialect(context)
    with context:
        try:
            module = ir.Module.parseFile(str(path))
        except ir.MLIRError as error:
            raise MlirSyntaxError(_diagnostics(error)) from error
    function = _only_function(module, path)
    inputs = _input_names(text, function)
    outputs = [
        str(index) for index in range(len(function.attributes["function_type"].value.results))
    ]
    converted = convert_function(
        function, [Argument(argument) for argument in inputs], outputs, Literals(text)
    )
    return ImportedModule(
        name=name or path.stem,
        text=converted.text,
        torch_text=text,
        weights=converted.weights,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        constants=converted.made_here,
    )


def _only_function(module: ir.Module, path: Path) -> ir.Operation:
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    bodies = [function for function in functions if len(function.regions[0].blocks)]
    if len(bodies) != 1:
        msg = f"{path}: expected one func.func with a body, got {len(bodies)}"
        raise MlirSyntaxError(msg)
    if len(bodies[0].regions[0].blocks) != 1:
        msg = f"{path}: expected a function of one block, got {len(bodies[0].regions[0].blocks)}"
        raise MlirSyntaxError(msg)
    return bodies[0]


def _input_names(text: str, function: ir.Operation) -> list[str]:
    """Parsing drops the names of arguments, so they are looked up in the text."""
    count = len(function.regions[0].blocks[0].arguments)
    match = _SIGNATURE.search(text)
    names = _ARGUMENT.findall(match[1]) if match else []
    return names if len(names) == count else [f"arg{index}" for index in range(count)]


def _diagnostics(error: ir.MLIRError) -> str:
    """`FILE:LINE:COLUMN: MESSAGE`, a line a diagnostic."""
    lines = []
    for diagnostic in error.error_diagnostics:
        match = re.match(r'loc\("(.*)":(\d+):(\d+)\)', str(diagnostic.location))
        place = f"{match[1]}:{match[2]}:{match[3]}: " if match else ""
        lines.append(place + diagnostic.message)
    return "\n".join(lines)
