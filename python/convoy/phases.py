# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The phases of the compiler: runs them, writes their output, and reports failures with a
reproducer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from convoy.complex_numbers import with_complex_kept
from convoy.errors import CompileError, ConvoyError, Diagnostic
from convoy.options import CompileOptions

__all__ = ["dump_phase", "lower", "phase_names", "program_target", "run_compiler"]

_T = TypeVar("_T")


def phase_names() -> tuple[str, ...]:
    """The names of the phases in order: "torch" for the frontend, then those of the pipeline."""
    from convoy import _convoy

    return ("torch", *(name for name, _ in _convoy.phases()))


def program_target(text: str, name: str, phase: str) -> str | None:
    """The target that a module determines: by `tcp.target`, by groups, or by ops that only a GPU
    runs.

    Args:
        text: The module at the end of `phase`.
        name: The name of the module, for messages.
        phase: A name from `phase_names`.

    Returns:
        "cpu", "cuda", or None if it can be compiled for both.

    Raises:
        CompileError: The text cannot be parsed.
    """
    from convoy import _convoy

    try:
        return _convoy.program_target(text, name)
    except _convoy.CompilationFailed as failure:
        _, diagnostics = failure.args
        raise CompileError(phase, [Diagnostic.at(*each) for each in diagnostics], None) from None


def lower(text: str, name: str, *, from_phase: str, to_phase: str, options: CompileOptions) -> str:
    """Runs the phases after `from_phase` up to `to_phase`.

    Args:
        text: The module at the end of `from_phase`.
        name: The name of the module, for messages.
        from_phase: A name from `phase_names`.
        to_phase: A name from `phase_names`.
        options: The options of the compilation.

    Returns:
        The module at the end of `to_phase`.

    Raises:
        CompileError: A phase fails.
    """
    from convoy import _convoy

    def keep(phase: str, after: str) -> None:
        if options.dump_phases is not None:
            dump_phase(options.dump_phases, phase_names().index(phase), phase, after)

    return run_compiler(
        text,
        from_phase,
        options,
        lambda pairs: _convoy.run_phases(text, name, from_phase, to_phase, pairs, keep),
    )


def run_compiler(
    text: str,
    from_phase: str,
    options: CompileOptions,
    action: Callable[[list[tuple[str, str]]], _T],
) -> _T:
    """Runs the compiler and converts a failure into a CompileError with a reproducer.

    Args:
        text: The module at the end of `from_phase`.
        from_phase: The phase, for the reproducer.
        options: The options of the compilation.
        action: Calls the compiler with options of `--convoy-pipeline`.

    Returns:
        The result of `action`.

    Raises:
        CompileError: The compiler reports a failure.
    """
    from convoy import _convoy

    pairs = with_complex_kept(text, options).pairs()
    try:
        return action(pairs)
    except _convoy.CompilationFailed as failure:
        phase, diagnostics = failure.args
        arguments = " ".join(f"{key}={value}" for key, value in pairs)
        end = phase if phase != "emit" else "llvm"
        command = f'// convoy-opt %s --convoy-pipeline="from={from_phase} to={end} {arguments}"'
        found = [Diagnostic.at(*each) for each in diagnostics]
        raise CompileError(phase, found, _reproducer(f"{command}\n{text}")) from None


def _reproducer(text: str) -> str | None:
    """Writes a reproducer to tempfile's folder ($TMPDIR, else /tmp), readable for this user only.
    It contains the structure of the model and scalar constants, but no weights. Returns its path,
    or None if it cannot be written."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="convoy-reproducer-", suffix=".mlir", delete=False
        ) as file:
            # A truncated file, e.g. on a full disk, is not a reproducer.
            try:
                file.write(text)
                file.flush()
            except OSError:
                Path(file.name).unlink()
                raise
    except OSError:
        return None
    return file.name


def dump_phase(folder: Path, index: int, phase: str, text: str) -> None:
    """Writes the output of a phase to `model.INDEX.PHASE.mlir`.

    Args:
        folder: The folder; created if necessary.
        index: The index of the phase.
        phase: The name of the phase.
        text: The module.

    Raises:
        ConvoyError: The file cannot be written.
    """
    from convoy_runtime.errors import ArgumentError
    from convoy_runtime.output_files import write_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / f"model.{index}.{phase}.mlir", text)
    except (ArgumentError, OSError) as error:
        message = f"cannot write the phases: {error}"
        raise ConvoyError(message) from error
