"""The command `convoy`: errors are one message, and a traceback only with --debug.

Exit codes: 0 done, 1 failed (the message says why), 2 wrong usage, 3 results differ from the reference, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    try:
        # Here, because what the commands import takes long enough to be interrupted.
        from convoy.cli.commands import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        if "--debug" in (sys.argv[1:] if arguments is None else arguments):
            raise
        print("convoy: interrupted", file=sys.stderr)
        return 130
