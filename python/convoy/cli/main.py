"""The command `convoy`: errors are one message, and a traceback only with --debug.

Exit codes: 0 done, 1 failed (the message says why), 2 wrong usage, 3 results differ from the
reference, 130 interrupted, 141 standard output was closed by its reader.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    try:
        # Here, because what the commands import takes long enough to be interrupted.
        from convoy.cli.commands import run_command

        code = run_command(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _discard_output()
        return 141
    except OSError as error:
        if "--debug" in (sys.argv[1:] if arguments is None else arguments):
            raise
        # Of standard output: run_command has caught the others.
        _discard_output()
        print(f"convoy: error: standard output: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if "--debug" in (sys.argv[1:] if arguments is None else arguments):
            raise
        print("convoy: interrupted", file=sys.stderr)
        return 130


def _discard_output() -> None:
    """Leaves nothing that the interpreter would try to write once more when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
