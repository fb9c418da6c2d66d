"""Compiles the models of Inputs/tiny.py with the command line."""

from __future__ import annotations

from pathlib import Path

from convoy.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TINY = f"{ROOT}/test/cli/Inputs/tiny.py"


def compile_tiny(out: Path, *flags: str, function: str = "tiny") -> None:
    """Runs `convoy compile` and checks its exit code.

    Args:
        out: The output file.
        *flags: Further arguments of the command.
        function: The function in Inputs/tiny.py.
    """
    assert main(["compile", f"{TINY}:{function}", "-o", str(out), *flags]) == 0
