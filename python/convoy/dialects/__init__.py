"""Convoy's dialects over the MLIR that torch-mlir brings: `tcp`, `cudnn` and `cudnn_backend` have a
class for each op and each enum, which the build makes from the dialects' ODS definitions.

That MLIR is another library than the compiler's, so a context has to allow unregistered dialects.
What a class cannot know is checked by `verify`, and run by `convoy.passes`: both hand the module to
the compiler as text.
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
    """Checks `module` with the verifiers of the compiler.

    Args:
        module: A module in a context that allows unregistered dialects. It is not changed.

    Raises:
        CompileError: The module is not valid; it holds every diagnostic, with the location of the
            op concerned.
    """
    from convoy import _convoy

    with compiler_errors():
        _convoy.verify(to_text(module), "module")


def parse(text: str, context: ir.Context) -> ir.Module:
    """Reads a module as the compiler writes it, in generic or in custom form.

    `ir.Module.parse` does not read the custom form of ops that it does not know. Of the generic
    form it keeps attributes in `<{...}>` where they are neither listed nor removed.

    Args:
        text: The text of a module, as of a `.mlir` file.
        context: A context that allows unregistered dialects.

    Raises:
        CompileError: The text cannot be read, or the module is not valid.
    """
    from convoy import _convoy

    with compiler_errors():
        generic = _convoy.run_pipeline(text, "module", "builtin.module()")
    return ir.Module.parse(generic, context=context)


def to_text(module: ir.Module) -> str:
    """The text of a module for the compiler: generic form, with locations.

    Args:
        module: A module in any context.
    """
    text: str = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return text


@contextmanager
def compiler_errors() -> Iterator[None]:
    """Turns a failure of the extension into a CompileError."""
    from convoy import _convoy

    try:
        yield
    except _convoy.CompilationFailed as failure:
        phase, found = failure.args
        raise CompileError(phase, [Diagnostic.at(*each) for each in found]) from None
