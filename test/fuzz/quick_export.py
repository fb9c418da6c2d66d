"""Makes repeated exports cheaper. torch.export overrides the decompositions of about 900 ops twice
per program, and each time determines these ops again. This is more than half of the export time of
a small model. Here the same overrides are cached and restored.

Only for processes that export many models with one decomposition table. torch behaves the same,
without the repeated work.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from torch._subclasses import fake_impls
from torch.export import exported_program

__all__ = ["install"]

_Table = dict[Any, Callable[..., Any]]


def install() -> None:
    """Replaces the two functions of torch.export in this process."""
    split = exported_program._split_decomp_table_to_cia_and_python_decomp
    override = exported_program._override_composite_implicit_decomp

    @functools.cache
    def split_once(items: frozenset[tuple[Any, Callable[..., Any]]]) -> tuple[_Table, _Table]:
        return split(dict(items))  # type: ignore[return-value]

    def split_again(table: _Table) -> tuple[_Table, _Table]:
        overridden, rest = split_once(frozenset(table.items()))
        return overridden, dict(rest)

    kept: dict[int, tuple[_Table, dict[Any, Any], dict[Any, Any]]] = {}

    @contextlib.contextmanager
    def override_again(table: _Table) -> Iterator[None]:
        if id(table) not in kept:
            with override(table):
                kernels = {op: dict(op.py_kernels) for op in table}
                kept[id(table)] = (
                    table,
                    kernels,
                    {op: fake_impls.op_implementations_dict[op] for op in table},
                )
        _, kernels, rules = kept[id(table)]
        saved = {op: dict(op.py_kernels) for op in table}
        try:
            _put(kernels)
            fake_impls.op_implementations_dict.update(rules)
            yield
        finally:
            _put(saved)
            for op in table:
                fake_impls.op_implementations_dict.pop(op, None)

    exported_program._split_decomp_table_to_cia_and_python_decomp = split_again
    exported_program._override_composite_implicit_decomp = override_again


def _put(kernels: dict[Any, Any]) -> None:
    for op, table in kernels.items():
        op.py_kernels.clear()
        op.py_kernels.update(table)
        op._dispatch_cache.clear()
