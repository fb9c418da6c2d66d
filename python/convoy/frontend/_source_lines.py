# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The lines of the model's source that ops and errors have."""

from __future__ import annotations

import contextlib
import re
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch.fx.proxy import TracerBase

from convoy.errors import SourceLine

__all__ = [
    "add_place",
    "innermost",
    "is_own",
    "keep_user_lines",
    "line_of",
    "own_frames",
    "own_lines",
    "own_lines_of",
]

#: A frame in a trace as text.
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARY = sysconfig.get_path("stdlib") + "/"
_HERE = str(Path(__file__).parent) + "/"
_TORCH = str(Path(torch.__file__).parent) + "/"


@contextlib.contextmanager
def own_frames() -> Iterator[None]:
    """Replaces the tracer's hook for selecting stack frames, to keep all frames of the user's
    files. torch.export records only frames of functions named `forward`, so that ops in a helper
    method would get the line of its call."""
    original = TracerBase._filter_traceback_frames

    def keep(tracer: TracerBase, stack: traceback.StackSummary) -> traceback.StackSummary:
        names = [frame.name for frame in stack]
        inside = stack[names.index("forward") :] if "forward" in names else []
        return traceback.StackSummary.from_list(
            [frame for frame in inside if frame.name == "forward" or is_own(frame.filename)]
        )

    TracerBase._filter_traceback_frames = keep  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = original  # type: ignore[method-assign]


def is_own(filename: str) -> bool:
    """Whether a file belongs neither to torch or sympy, which torch uses for shapes, nor to the
    standard library or this package."""
    library = filename.startswith(_LIBRARY) and "site-packages" not in filename
    return not library and not filename.startswith(
        (_TORCH, "<", str(Path(_TORCH).parent / "sympy"), _HERE)
    )


def own_lines(trace: str | None) -> list[tuple[str, int]]:
    """File and line of the frames of the user's files in a trace as text, outermost first."""
    frames = _FRAME.findall(trace or "")
    return [(file, int(line)) for file, line in frames if is_own(file)]


def keep_user_lines(graph: torch.fx.Graph) -> None:
    """Reduces each stack trace to the innermost frame outside torch, the line of the user's source
    for later errors."""
    for node in graph.nodes:
        trace = node.meta.get("stack_trace") or ""
        own = own_lines(trace) or _FRAME.findall(trace)
        if own:
            node.meta["stack_trace"] = f'File "{own[-1][0]}", line {own[-1][1]}, in forward'


def own_lines_of(error: BaseException) -> list[tuple[str, int]]:
    """File and line of the frames of the user's files in the stack of an error, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.filename, frame.lineno or 0) for frame in frames if is_own(frame.filename)]


def innermost(lines: Sequence[tuple[str, int]]) -> SourceLine:
    """The last of the lines; an unknown line if there are none."""
    return SourceLine(*lines[-1]) if lines else SourceLine("", 0)


def line_of(node: torch.fx.Node) -> SourceLine:
    """The source line of an op, after `keep_user_lines`."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    return SourceLine(found[-1][0], int(found[-1][1])) if found else SourceLine("", 0)


def add_place(node: torch.fx.Node, place: str) -> None:
    """Adds a name to the source line of an op, as if it were the line's caller: the locations of
    the ops that it becomes have both."""
    line = node.meta.get("stack_trace") or ""
    node.meta["stack_trace"] = f'File "{place}", line 1, in forward\n{line}'
