#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The interestingness script of convoy-reduce: whether a command still fails in the same way.

    convoy-reduce bug.mlir -o small.mlir --reduce-ops="test=tools/interesting.py test-arg=@words"

where the file `words` has one argument per line:

    --message=op was not bufferized
    --
    convoy-opt
    --convoy-pipeline=from=tcp to=plan

convoy-reduce appends the module's file to the arguments. The exit code follows MLIR's reducer: 1 if
the module is interesting, 0 if not; a wrong use ends with a signal. `python -m tools.reduce` writes
the file and runs convoy-reduce.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["is_interesting", "main"]

#: MLIR's convention.
INTERESTING, NOT_INTERESTING = 1, 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns the exit code of an interestingness script."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        fromfile_prefix_chars="@",
    )
    add_arguments(parser)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser.parse_args(given[:-1])
        found = is_interesting(options, given[-1])
    except OSError as error:
        _stop(f"{options.command[0]}: {error.strerror}")
    except SystemExit as error:
        if not error.code:
            raise
        _stop("invalid arguments")
    return INTERESTING if found else NOT_INTERESTING


def _stop(problem: str) -> NoReturn:
    """Ends with a signal, which the reducer reports: any exit code is an answer."""
    print(f"interesting.py: {problem}", file=sys.stderr, flush=True)
    os.abort()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the description of the failure and the command."""
    failure = parser.add_mutually_exclusive_group(required=True)
    failure.add_argument("--message", metavar="TEXT", help="the command fails and prints TEXT")
    failure.add_argument("--exit-code", type=int, metavar="N", help="its exit code is N")
    failure.add_argument("--crash", action="store_true", help="it ends with a signal")
    parser.add_argument(
        "--timeout", type=float, default=60, metavar="SECONDS",
        help="a longer run is not interesting (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("command", nargs="+", help="the command, without the module's file")


def is_interesting(options: argparse.Namespace, file: str) -> bool:
    """Whether `options.command` fails with `file` as described.

    Args:
        options: The arguments of `add_arguments`.
        file: The module.

    Returns:
        Whether it fails in this way.

    Raises:
        OSError: The command cannot be run.
    """
    try:
        done = subprocess.run(
            [*options.command, file],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=options.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    if options.crash:
        # A shell reports a signal as 128 and its number.
        return done.returncode < 0 or done.returncode > 128
    if options.exit_code is not None:
        return bool(done.returncode == options.exit_code)
    message: str = options.message
    return done.returncode != 0 and message.encode() in done.stdout + done.stderr


if __name__ == "__main__":
    raise SystemExit(main())
