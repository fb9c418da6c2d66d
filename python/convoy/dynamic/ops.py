# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The function of a `tcp` module, and the text of its ops in messages."""

from __future__ import annotations

from torch_mlir import ir

from convoy.errors import InputError
from convoy.frontend import source_line

__all__ = ["described", "main_function"]


def main_function(module: ir.Module, name: str) -> ir.Operation:
    """`@main`, or the only function with a body. Raises InputError, which begins with `name`, for a
    module that has neither."""
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    functions = [each for each in functions if len(each.regions[0].blocks)]
    named = [each for each in functions if each.attributes["sym_name"].value == "main"]
    if not named and len(functions) != 1:
        message = f"{name}: expected a function @main, or one function, got {len(functions)}"
        raise InputError(message)
    return (named or functions)[0]


def described(op: ir.Operation) -> str:
    """The name of an op and its line in the source, if that is known."""
    place = source_line(op.location)
    return f"'{op.name}'" + (f" at {place}" if place.line else "")
