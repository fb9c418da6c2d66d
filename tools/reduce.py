# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reduces a module that makes a command fail, with convoy-reduce and tools/interesting.py.

    python -m tools.reduce bug.mlir -o small.mlir --message "op was not bufferized" -- \\
        convoy-opt --convoy-pipeline="from=tcp to=plan"

The module's file is appended to the command. Ops are erased, or replaced by an operand or an
argument of the function, as long as the command fails in the same way.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.interesting import add_arguments, is_interesting

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "interesting.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns 1 if the module does not fail as described, or the reducer
    fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", help="the .mlir file")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the reduced module")
    parser.add_argument(
        "--reducer",
        default=str(ROOT / "build/bin/convoy-reduce"),
        metavar="FILE",
        help="convoy-reduce (default: %(default)s)",
    )
    add_arguments(parser)
    options = parser.parse_args(arguments)
    try:
        if not is_interesting(options, options.module):
            print(
                f"reduce: {shlex.join([*options.command, options.module])} does not fail as "
                "described",
                file=sys.stderr,
            )
            return 1
        return _reduce(options)
    except OSError as error:
        print(f"reduce: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1


def _reduce(options: argparse.Namespace) -> int:
    """Runs convoy-reduce. Returns its exit code."""
    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        arguments_file = Path(folder) / "arguments"
        arguments_file.write_text("\n".join(_words(options)))
        # Options of MLIR's passes are split at spaces and commas, those in the file are not.
        tester = f"test={SCRIPT} test-arg=@{arguments_file}"
        command = [options.reducer, options.module, "-o", options.output]
        return subprocess.run([*command, f"--reduce-ops={tester}"], check=False).returncode


def _words(options: argparse.Namespace) -> list[str]:
    """The arguments of the script."""
    if options.crash:
        failure = "--crash"
    elif options.exit_code is not None:
        failure = f"--exit-code={options.exit_code}"
    else:
        failure = f"--message={options.message}"
    return [failure, f"--timeout={options.timeout:g}", "--", *options.command]


if __name__ == "__main__":
    raise SystemExit(main())
