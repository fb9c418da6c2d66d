# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The command `convoy`. An error is one message, with a traceback only with --debug.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 results differ from the reference, 130
interrupted, 141 standard output closed by its reader.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: The command line; None for that of the process.

    Returns:
        The exit code.
    """
    try:
        # Imported here, because the imports take long enough to be interrupted.
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
        # An error of standard output: run_command handles all others.
        _discard_output()
        print(f"convoy: error: standard output: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if "--debug" in (sys.argv[1:] if arguments is None else arguments):
            raise
        print("convoy: interrupted", file=sys.stderr)
        return 130


def _discard_output() -> None:
    """Redirects standard output to /dev/null, so that the interpreter does not fail to flush it at
    exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
