# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The errors of the compiler, with `ConvoyError` as their base.

Messages have the form "expected X, got Y" and name an argument, a file or a line of the model. The
command line prints `str(error)`, and a traceback with `--debug`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ArtifactWriteError",
    "CompileError",
    "ConvoyError",
    "ConvoyWarning",
    "Diagnostic",
    "ExportError",
    "FrontendError",
    "InputError",
    "MlirSyntaxError",
    "SourceLine",
    "SymbolicSizesError",
    "UnsupportedOp",
    "UnsupportedOpsError",
    "first_line",
]


def first_line(error: BaseException) -> str:
    """The first line of an error's message; the name of its class if there is no message."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class ConvoyError(Exception):
    """Base of all errors of the compiler."""


class ConvoyWarning(UserWarning):
    """A part of a model that the compiled model does not have, with its source line."""


class FrontendError(ConvoyError):
    """The model cannot be converted to `tcp`."""


class InputError(FrontendError):
    """An argument of the frontend cannot be compiled: a module in training mode, an example input
    that is not a tensor, a dtype without a `tcp` element type."""


class ExportError(FrontendError):
    """`torch.export` failed; `__cause__` is torch's error."""


class MlirSyntaxError(FrontendError):
    """A `.mlir` file does not parse, or has no function of the torch dialect. The message has file
    and line."""


class SymbolicSizesError(FrontendError):
    """A model has no `tcp` module with symbols for its sizes: an op, an attribute or a constant
    needs their numbers. The message names it with the line of the model."""


@dataclass(frozen=True, order=True)
class SourceLine:
    """A line of the user's source; `line` counts from 1, and 0 is an unknown line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or "an unknown line"


@dataclass(frozen=True)
class UnsupportedOp:
    """An op without a conversion.

    Attributes:
        op: The name of the op.
        reason: Why it has no conversion.
        lines: The source line of each occurrence.
    """

    op: str
    reason: str
    lines: tuple[SourceLine, ...]


class UnsupportedOpsError(FrontendError):
    """The model uses ops, or forms of ops, without a conversion to `tcp`. `ops` lists all of
    them."""

    def __init__(self, ops: Iterable[UnsupportedOp]) -> None:
        self.ops = tuple(ops)
        total = sum(len(op.lines) for op in self.ops)
        head = (
            "1 operation of the model is not supported:"
            if total == 1
            else f"{total} operations of the model are not supported:"
        )
        text = [head]
        for op in self.ops:
            times = "once" if len(op.lines) == 1 else f"{len(op.lines)} times"
            text.append(f"  {op.op} ({times}): {op.reason}")
            text += [f"    {line}" for line in dict.fromkeys(op.lines)]
        super().__init__("\n".join(text))


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler. `severity` is "error", "warning", "remark" or "note"."""

    severity: str
    message: str
    location: str = ""

    @classmethod
    def at(cls, severity: str, file: str, line: int, column: int, message: str) -> Diagnostic:
        """Creates a diagnostic from a location; `file` is empty if the location has no file."""
        return cls(severity, message, f"{file}:{line}:{column}" if file else "")

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity}: {self.message}"


class CompileError(ConvoyError):
    """A phase of the compiler failed.

    Attributes:
        phase: The phase; "verify" for `convoy.dialects` and "pipeline" for `convoy.passes`.
        diagnostics: The messages of the compiler.
        reproducer: A file that fails in the same way with `convoy-opt`, if one was written.
    """

    def __init__(
        self, phase: str, diagnostics: Iterable[Diagnostic], reproducer: str | None = None
    ) -> None:
        self.phase = phase
        self.diagnostics = tuple(diagnostics)
        self.reproducer = reproducer
        text = [f"phase '{phase}' failed"]
        text += [f"  {diagnostic}" for diagnostic in self.diagnostics]
        if reproducer is not None:
            text.append(f"  reproducer: {reproducer}")
        super().__init__("\n".join(text))


class ArtifactWriteError(ConvoyError):
    """The artifact cannot be written; an existing file is unchanged."""
