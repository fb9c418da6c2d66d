# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which sizes of an exported program are no multiples of a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
import torch

from convoy.dynamic.padded import reason_of_tensors
from convoy.dynamic.shapes import DynamicInterface, symbol_names
from convoy_runtime.dynamic.manifest import DynamicTensor

__all__ = ["reason_of_exported_sizes"]


def reason_of_exported_sizes(
    interface: DynamicInterface, outputs: Sequence[DynamicTensor], name: str
) -> str:
    """Why the sizes of a model prevent padding: those of inputs and outputs must be multiples of
    the symbol, and no size may depend on it by other functions, which few values do not tell from
    multiples.

    Args:
        interface: The interface of the model.
        outputs: Its outputs.
        name: The name of the symbol.

    Returns:
        The reason; empty if there is none.
    """
    if reason := reason_of_tensors((*interface.inputs, *outputs), name):
        return reason
    symbols = {symbol for symbol, each in symbol_names(interface).items() if each == name}
    for node in interface.program.graph.nodes:
        for expression in _expressions(node.meta.get("val")):
            for function in expression.atoms(sympy.Function):
                if function.free_symbols & symbols:
                    return f"the size {expression} of '{node.name}' is no multiple of {name}"
    return ""


def _expressions(value: Any) -> list[Any]:
    """The symbolic sizes and numbers of a node's value."""
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in _expressions(item)]
    if isinstance(value, torch.Tensor):
        return _expressions(list(value.shape))
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return [value.node.expr]
    return []
