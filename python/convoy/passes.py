# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs passes of the compiler on modules of `torch_mlir.ir`."""

from __future__ import annotations

from torch_mlir import ir

from convoy.dialects import compiler_errors, to_text

__all__ = ["run"]


def run(module: ir.Module, pipeline: str) -> ir.Module:
    """Runs a pass pipeline on a copy of a module.

    Args:
        module: A module in a context that allows unregistered dialects. It is verified first, and
            not changed.
        pipeline: A pipeline in the syntax of `convoy-opt --pass-pipeline`, e.g.
            `builtin.module(canonicalize)`: passes of Convoy, `convoy-pipeline{from=... to=...}`,
            `canonicalize` and `cse`.

    Returns:
        The resulting module, in the context of `module`.

    Raises:
        CompileError: The module is invalid, a pass is unknown, or a pass failed. Has all
            diagnostics with locations.
    """
    from convoy import _convoy

    with compiler_errors():
        text = _convoy.run_pipeline(to_text(module), "module", pipeline)
    return ir.Module.parse(text, context=module.context)
