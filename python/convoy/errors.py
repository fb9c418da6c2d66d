"""Every error that Convoy raises on purpose, in one tree, so that a caller can catch all of them or
one kind.

Messages are plain text of the form "expected X, got Y" and name the thing concerned (an argument, a
file, a line of the model). The command line prints `str(error)` alone and shows a traceback with
`--debug` only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ArtifactWriteError",
    "CompileError",
    "ConvoyError",
    "Diagnostic",
    "ExportError",
    "FrontendError",
    "InputError",
    "MlirSyntaxError",
    "SourceLine",
    "UnsupportedOp",
    "UnsupportedOpsError",
]


class ConvoyError(Exception):
    """Base of every error that Convoy raises on purpose."""


class FrontendError(ConvoyError):
    """The model could not be turned into `tcp`."""


class InputError(FrontendError):
    """What was passed to the frontend cannot be compiled: a module in training mode, an example
    input that is no tensor, a dtype with no `tcp` element type."""


class ExportError(FrontendError):
    """`torch.export` refused the module; `__cause__` is torch's own error."""


class MlirSyntaxError(FrontendError):
    """A `.mlir` file does not parse, or holds no function of the torch dialect; the message has
    file and line."""


@dataclass(frozen=True, order=True)
class SourceLine:
    """A line of the user's source; `line` counts from 1, and 0 means that the line is not known."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or "an unknown line"


@dataclass(frozen=True)
class UnsupportedOp:
    """One kind of failure: an op, why it has no conversion, and every line that made it (one entry
    an occurrence)."""

    op: str
    reason: str
    lines: tuple[SourceLine, ...]


class UnsupportedOpsError(FrontendError):
    """The model uses ops, or forms of ops, that have no conversion to `tcp`. `ops` lists every one
    of them."""

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
    """One message of the compiler: `severity` is "error", "warning", "remark" or "note"."""

    severity: str
    message: str
    location: str = ""

    @classmethod
    def at(cls, severity: str, file: str, line: int, column: int, message: str) -> Diagnostic:
        """One as the extension gives it; `file` is empty where the location has none."""
        return cls(severity, message, f"{file}:{line}:{column}" if file else "")

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity}: {self.message}"


class CompileError(ConvoyError):
    """A phase of the compiler failed, or what `convoy.dialects` ("verify") and `convoy.passes`
    ("pipeline") ask of it. `reproducer` is the path of a file that fails in the same way with
    `convoy-opt`, if one was written."""

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
    """The artifact could not be written; a file that was there before is untouched."""
