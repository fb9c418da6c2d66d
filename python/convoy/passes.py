"""Runs passes of the compiler on modules of `torch_mlir.ir`."""

from __future__ import annotations

from torch_mlir import ir

from convoy.dialects import compiler_errors, to_text

__all__ = ["run"]


def run(module: ir.Module, pipeline: str) -> ir.Module:
    """Runs a pipeline and gives the resulting module, in the context of `module`.

    Args:
        module: A module in a context that allows unregistered dialects. It is verified first, and
            not changed.
        pipeline: A pipeline as `convoy-opt --pass-pipeline` takes it, such as
            `builtin.module(canonicalize)`: passes of Convoy, `convoy-pipeline{from=... to=...}`,
            `canonicalize` and `cse`.

    Raises:
        CompileError: The module is not valid, there is no such pass, or a pass failed; it holds
            every diagnostic, with the location of the op concerned.
    """
    from convoy import _convoy

    with compiler_errors():
        text = _convoy.run_pipeline(to_text(module), "module", pipeline)
    return ir.Module.parse(text, context=module.context)
