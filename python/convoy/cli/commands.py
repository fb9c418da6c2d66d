# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The subcommands of `convoy`, one per module, and the parser of the command line."""

from __future__ import annotations

import argparse
import errno
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from convoy import __version__
from convoy.cli import (
    bench,
    bisect,
    compile,
    explain,
    export_triton,
    import_,
    inspect,
    merge,
    run,
    tune,
)

__all__ = ["run_command"]

_COMMANDS = (compile, run, inspect, explain, tune, merge, export_triton, bench, bisect, import_)

_EPILOG = """\
a first session:
  convoy compile examples/resnet.py:resnet18 -o resnet18.convoy
  convoy run resnet18.convoy --check examples/resnet.py:resnet18
  convoy explain resnet18.convoy
  convoy bench resnet18.convoy --peer examples/resnet.py:resnet18

exit codes: 0 success, 1 failure, 2 wrong usage, 3 results differ from the reference,
130 interrupted, 141 output closed by its reader
"""


class _CommandParser(argparse.ArgumentParser):
    """The parser of a command. It adds the command's arguments on use, because those of `convoy
    compile` load the compiler, which takes 20 ms.

    Args:
        command: The module of the command.
        options: The arguments of ArgumentParser.
    """

    def __init__(self, *, command: ModuleType, **options: Any) -> None:
        super().__init__(description=command.__doc__, **options)
        self._command: ModuleType | None = command
        self.set_defaults(action=command.main, parser=self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._command is not None:
            self._command.populate_parser(self)
            self._command = None
            self.add_argument(
                "--debug",
                action="store_true",
                default=argparse.SUPPRESS,
                help="show the traceback of an error",
            )
        return super().parse_known_args(args, namespace)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="convoy",
        description=(
            "Compiles PyTorch models ahead of time for NVIDIA GPUs and CPUs, and runs the compiled "
            "models."
        ),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"convoy {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for command in _COMMANDS:
        commands.add_parser(
            command.__name__.rpartition(".")[2].rstrip("_").replace("_", "-"),
            help=(command.__doc__ or "").partition("\n")[0],
            command=command,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
    return parser


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Shows Convoy's warnings like errors, without a source line. Other warnings are unchanged."""
    from convoy_runtime.errors import ConvoyRuntimeWarning

    form = warnings.formatwarning

    def plain(message: Warning | str, category: type[Warning], *where: Any, **line: Any) -> str:
        ours = issubclass(category, ConvoyRuntimeWarning)
        return f"convoy: warning: {message}\n" if ours else form(message, category, *where, **line)

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = form


def _is_of_output(error: Exception) -> bool:
    """Whether an error is from writing to standard output: such errors have no file name."""
    return (
        isinstance(error, OSError)
        and error.filename is None
        and error.errno in (errno.EPIPE, errno.ENOSPC, errno.EIO)
    )


def run_command(arguments: Sequence[str] | None) -> int:
    """Runs a command.

    Args:
        arguments: The command line; None for that of the process.

    Returns:
        The exit code. An error is one message on stderr; with --debug it is raised.

    Raises:
        OSError: Standard output cannot be written.
    """
    from convoy.errors import ConvoyError
    from convoy_runtime import ConvoyRuntimeError

    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        with _plain_warnings():
            return int(options.action(options))
    except (ConvoyError, ConvoyRuntimeError, OSError, ValueError) as error:
        if options.debug or _is_of_output(error):
            raise
        print(f"convoy: error: {error}", file=sys.stderr)
        return 1
