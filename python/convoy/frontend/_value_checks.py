# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The checks of values that a model makes when it runs, such as `assert (x > 0).all()`,
`torch._check`, and a branch that raises an error. The compiled model does not have them, so each
gets a warning with its line."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from convoy.errors import ConvoyWarning
from convoy.frontend._source_lines import innermost, is_own, own_lines

__all__ = ["record_check", "recorded_checks", "warn_of_checks"]

aten = torch.ops.aten
_ASSERTIONS = (aten._assert_async.default, aten._assert_async.msg)

_lines: ContextVar[list[str] | None] = ContextVar("_lines", default=None)


def record_check(line: str) -> None:
    """Records a check, where checks are recorded. `line` is `FILE:LINE`."""
    if (lines := _lines.get()) is not None:
        lines.append(line)


@contextlib.contextmanager
def recorded_checks() -> Iterator[list[str]]:
    """Records the lines of the user's calls of `torch._check` and its variants with conditions on
    values of tensors, of which torch.export makes ops that it also makes for the bounds of indices,
    and those of `record_check`.

    Yields:
        The lines so far.
    """
    lines: list[str] = []
    token = _lines.set(lines)
    original = torch._check_with

    def check(error: Any, condition: Any, message: Any) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == torch.__file__:
            frame = frame.f_back
        is_known = isinstance(condition, bool) or not free_unbacked_symbols(condition)
        if not is_known and is_own(frame.f_code.co_filename):
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        original(error, condition, message)

    torch._check_with = check  # type: ignore[assignment]
    try:
        yield lines
    finally:
        torch._check_with = original
        _lines.reset(token)


def warn_of_checks(program: torch.export.ExportedProgram, lines: list[str]) -> None:
    """Warns of the checks of a program.

    Args:
        program: The result of torch.export.
        lines: Those of `recorded_checks`.
    """
    found = list(lines)
    for graph in program.graph_module.modules():
        nodes = graph.graph.nodes if isinstance(graph, torch.fx.GraphModule) else ()
        for node in nodes:
            if node.target in _ASSERTIONS:
                found.append(str(innermost(own_lines(node.stack_trace))))
    if found:
        places = ", ".join(dict.fromkeys(found))
        warnings.warn(
            f"the compiled model does not check values of tensors, got checks at {places}; check "
            "them outside of the model, or return the conditions",
            ConvoyWarning,
            stacklevel=2,
        )
