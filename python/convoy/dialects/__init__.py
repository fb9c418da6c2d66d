"""Convoy's dialects over the MLIR that torch-mlir brings: `tcp`, `cudnn` and `cudnn_backend` have a
class for each op and each enum, which the build makes from the dialects' ODS definitions.

That MLIR is another library than the compiler's, so a context has to allow unregistered dialects.
What a class cannot know is checked by `verify`, and run by `convoy.passes`: both hand the module to
the compiler as text.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects._ods_common import _cext

from convoy.errors import CompileError, Diagnostic

__all__ = ["to_text", "verify"]

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

    try:
        _convoy.verify(to_text(module), "module")
    except _convoy.CompilationFailed as failure:
        phase, found = failure.args
        raise CompileError(phase, [Diagnostic.at(*each) for each in found]) from None


def to_text(module: ir.Module) -> str:
    """The text of a module for the compiler: generic form, with locations.

    Args:
        module: A module in any context.
    """
    text: str = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return text
