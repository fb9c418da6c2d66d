# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Python bindings of Convoy's dialects for the MLIR of torch-mlir. `tcp`, `cudnn` and
`cudnn_backend` have a class for each op and enum, which the build generates from ODS.

That MLIR is a different library from the compiler's, so a context must allow unregistered dialects.
`verify` and `convoy.passes` pass the module to the compiler as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch_mlir import ir
from torch_mlir.dialects._ods_common import _cext

from convoy.errors import CompileError, Diagnostic

__all__ = ["compiler_errors", "parse", "to_text", "verify"]

# Ops of a parsed module get the classes of this package, imported or not.
_cext.globals.append_dialect_search_prefix(__name__)


def verify(module: ir.Module) -> None:
    """Runs the compiler's verifiers.

    Args:
        module: A module in a context that allows unregistered dialects. It is not changed.

    Raises:
        CompileError: The module is invalid. Has all diagnostics with locations.
    """
    from convoy import _convoy

    with compiler_errors():
        _convoy.verify(to_text(module), "module")


def parse(text: str, context: ir.Context) -> ir.Module:
    """Parses a module in the compiler's generic or custom form.

    `ir.Module.parse` cannot parse the custom form of unregistered ops. For the generic form, it
    keeps attributes in `<{...}>` where they can be neither listed nor removed.

    Args:
        text: The text of a module, e.g. of a `.mlir` file.
        context: A context that allows unregistered dialects.

    Returns:
        The module.

    Raises:
        CompileError: The text cannot be parsed, or the module is invalid.
    """
    from convoy import _convoy

    with compiler_errors():
        generic = _convoy.run_pipeline(text, "module", "builtin.module()")
    return ir.Module.parse(generic, context=context)


def to_text(module: ir.Module) -> str:
    """Prints a module for the compiler, in generic form with locations.

    Args:
        module: A module in any context.

    Returns:
        The text.
    """
    text: str = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return text


@contextmanager
def compiler_errors() -> Iterator[None]:
    """Converts a failure of the extension into a CompileError."""
    from convoy import _convoy

    try:
        yield
    except _convoy.CompilationFailed as failure:
        phase, found = failure.args
        raise CompileError(phase, [Diagnostic.at(*each) for each in found]) from None
