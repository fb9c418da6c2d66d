# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    """Imports the function of a torch-dialect file. Its arguments become inputs with their names in
    the file. Its `torch.vtensor.literal`s become weights, named by their locations
    (`loc("conv1.weight")`) or `literal0`, `literal1`, ...

    Args:
        path: The file.
        name: The name of the model. Default: the file name without its suffix.

    Returns:
        The model in `tcp`.

    Raises:
        MlirSyntaxError: The file cannot be parsed, or does not have exactly one function.
        InputError: An argument has a type without a `tcp` type.
        UnsupportedOpsError: Ops have no conversion; lists all of them.
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
    """The names of arguments from the text, because parsing drops them."""
    count = len(function.regions[0].blocks[0].arguments)
    match = _SIGNATURE.search(text)
    names = _ARGUMENT.findall(match[1]) if match else []
    return names if len(names) == count else [f"arg{index}" for index in range(count)]


def _diagnostics(error: ir.MLIRError) -> str:
    """`FILE:LINE:COLUMN: MESSAGE`, one line per diagnostic."""
    lines = []
    for diagnostic in error.error_diagnostics:
        match = re.match(r'loc\("(.*)":(\d+):(\d+)\)', str(diagnostic.location))
        place = f"{match[1]}:{match[2]}:{match[3]}: " if match else ""
        lines.append(place + diagnostic.message)
    return "\n".join(lines)
