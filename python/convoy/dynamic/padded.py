# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which symbols of a model are padded to the next point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
import torch

from convoy.dynamic.padding import why_not_padded
from convoy.dynamic.shapes import DynamicInterface, symbol_names
from convoy.errors import FrontendError
from convoy.frontend import ImportedModule
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import parse_size

__all__ = ["padding_reasons"]

#: The number of values of a symbol whose modules are compared.
_VALUES = 3


def padding_reasons(
    interface: DynamicInterface,
    symbols: Sequence[Symbol],
    outputs: Sequence[DynamicTensor],
    points: Sequence[Mapping[str, int]],
    modules: Sequence[ImportedModule],
    import_at: Callable[[Mapping[str, int]], ImportedModule],
) -> dict[str, str]:
    """Why calls between points cannot be padded.

    Args:
        interface: The interface of the model.
        symbols: Its symbols.
        outputs: Its outputs.
        points: The value of each symbol at each point.
        modules: The model at each point.
        import_at: Imports the model at other values.

    Returns:
        Name of a symbol to the reason; empty if calls are padded.
    """
    found = {}
    for symbol in symbols:
        reason = _reason_of_sizes(interface, outputs, symbol.name)
        groups: defaultdict[tuple[Any, ...], dict[int, ImportedModule]] = defaultdict(dict)
        for point, module in zip(points, modules, strict=True):
            others = tuple(item for item in point.items() if item[0] != symbol.name)
            groups[others][point[symbol.name]] = module
        for others, group in groups.items():
            reason = reason or _reason_of_group(symbol, dict(others), group, import_at)
        found[symbol.name] = reason
    return found


def _reason_of_group(
    symbol: Symbol,
    others: Mapping[str, int],
    group: Mapping[int, ImportedModule],
    import_at: Callable[[Mapping[str, int]], ImportedModule],
) -> str:
    """The reason for points that differ in one symbol."""
    # A size of 1 broadcasts.
    compared = {value: module for value, module in group.items() if value > 1}
    step, value = symbol.multiple_of, max(2, symbol.minimum)
    value += -value % step
    while len(compared) < _VALUES and value <= symbol.maximum:
        if value not in compared:
            try:
                compared[value] = import_at({**others, symbol.name: value})
            except FrontendError as error:
                return f"the model cannot be imported for {symbol.name}={value}: {error}"
        value += step
    if len(compared) < 2:
        return f"{symbol.name} has too few values to compare"
    return why_not_padded(compared, symbol.minimum)


def _reason_of_sizes(
    interface: DynamicInterface, outputs: Sequence[DynamicTensor], name: str
) -> str:
    """The reason in the sizes of the model: those of inputs and outputs must be multiples of the
    symbol, and no size may depend on it by other functions, which few values do not tell from
    multiples."""
    for tensor in (*interface.inputs, *outputs):
        for text in tensor.sizes:
            size = parse_size(text)
            if size is None or (size.symbol == name and size.offset):
                return f"the size {text} of '{tensor.name}' is no multiple of {name}"
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
