# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which symbols of a model are padded to the next point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from convoy.dynamic.padding import why_not_padded
from convoy.errors import CompileError, FrontendError
from convoy.frontend import ImportedModule
from convoy_runtime.dynamic.manifest import DynamicTensor, Symbol
from convoy_runtime.dynamic.sizes import parse_size

__all__ = ["reason_of_tensors", "with_padding"]

#: The number of values of a symbol whose modules are compared.
_VALUES = 3


def with_padding(
    symbols: Sequence[Symbol],
    points: Sequence[Mapping[str, int]],
    modules: Sequence[ImportedModule],
    import_at: Callable[[Mapping[str, int]], ImportedModule],
    reason_of_sizes: Callable[[str], str],
) -> tuple[Symbol, ...]:
    """Finds why calls between points cannot be padded.

    Args:
        symbols: The symbols of a model.
        points: The value of each symbol at each point.
        modules: The model at each point.
        import_at: Imports the model at other values.
        reason_of_sizes: Name of a symbol to why the sizes of the model prevent padding; empty if
            each size is a multiple of the symbol, or does not depend on it.

    Returns:
        The symbols with the reasons in `unpadded`.
    """
    found = []
    for symbol in symbols:
        reason = reason_of_sizes(symbol.name)
        groups: defaultdict[tuple[Any, ...], dict[int, ImportedModule]] = defaultdict(dict)
        for point, module in zip(points, modules, strict=True):
            others = tuple(item for item in point.items() if item[0] != symbol.name)
            groups[others][point[symbol.name]] = module
        for others, group in groups.items():
            reason = reason or _reason_of_group(symbol, dict(others), group, import_at)
        found.append(replace(symbol, unpadded=reason))
    return tuple(found)


def reason_of_tensors(tensors: Sequence[DynamicTensor], name: str) -> str:
    """Why the sizes of inputs and outputs prevent padding. Empty if they are multiples of the
    symbol `name`, or do not depend on it."""
    for tensor in tensors:
        for text in tensor.sizes:
            size = parse_size(text)
            if size is None or (size.symbol == name and size.offset):
                return f"the size {text} of '{tensor.name}' is no multiple of {name}"
    return ""


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
            except (FrontendError, CompileError) as error:
                reason = error.diagnostics[0] if isinstance(error, CompileError) else error
                return f"the model cannot be imported for {symbol.name}={value}: {reason}"
        value += step
    if len(compared) < 2:
        return f"{symbol.name} has too few values to compare"
    return why_not_padded(compared, symbol.minimum)
