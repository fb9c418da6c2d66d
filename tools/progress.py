# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs a command of the Makefile and shows its progress.

    python tools/progress.py LABEL [--all] -- COMMAND...

The output of the command goes to `build/logs/LABEL.log`. On a terminal one line shows the time and
the last line of the output, with a percentage for lines such as `[3/20]`. Otherwise a line is
printed every few seconds. Warnings are shown as they are. If the command fails, the end of the log
is printed. `--all` shows the whole output, and adds a line only if there is none for some seconds.

Only the standard library is used: `.venv` may not exist yet.
"""

from __future__ import annotations

import argparse
import codecs
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["main"]

LOGS = Path(__file__).parents[1] / "build" / "logs"

#: The most seconds without a line.
INTERVAL_SECONDS = 8.0

#: The lines of the log that are printed when a command fails.
TAIL_LINES = 60

_COUNT = re.compile(r"^\[(\d+)/(\d+)\]")
_WARNING = re.compile(r"\bwarning:|^CMake (Deprecation )?Warning", re.IGNORECASE)


class _Display:
    """Shows the output of one command.

    Args:
        label: The name of the step.
        everything: Whether the whole output is shown.
    """

    def __init__(self, label: str, everything: bool) -> None:
        self.label, self.everything = label, everything
        self.terminal = sys.stdout.isatty()
        self.start = self.shown = time.monotonic()
        self.last = ""
        self.line_end = True

    def output(self, text: str) -> None:
        """Takes a part of the command's output."""
        if not text:
            return
        if self.everything:
            sys.stdout.write(text)
            sys.stdout.flush()
            self.shown, self.line_end = time.monotonic(), text.endswith("\n")
            return
        for line in filter(None, map(str.strip, re.split(r"[\r\n]", text))):
            self.last = line
            if _WARNING.search(line):
                self.print(line)

    def tick(self) -> None:
        """Shows the state if it is due."""
        now = time.monotonic()
        if self.terminal and not self.everything:
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write("\r\x1b[K" + self.state()[:width])
            sys.stdout.flush()
        elif now - self.shown >= INTERVAL_SECONDS:
            self.print(self.state())

    def print(self, text: str) -> None:
        """Prints whole lines."""
        before = "" if self.line_end else "\n"
        if self.terminal and not self.everything:
            before = "\r\x1b[K"
        print(before + text, flush=True)
        self.shown, self.line_end = time.monotonic(), True

    def state(self) -> str:
        """The name of the step, how far it is, and the last line of the output."""
        seconds = f"{time.monotonic() - self.start:.0f} s"
        if self.everything:
            return f"convoy: {self.label}: still running after {seconds}"
        count = _COUNT.match(self.last)
        percent = f"{100 * int(count[1]) // max(int(count[2]), 1)}%, " if count else ""
        return f"convoy: {self.label}: {percent}{seconds} {self.last}".rstrip()


def _run(command: list[str], display: _Display, log: Path) -> int:
    """Runs a command. Returns its exit code, or 128 plus the number of the signal that ended it."""
    environment = os.environ | {"NINJA_STATUS": "[%f/%t] ", "PYTHONUNBUFFERED": "1"}
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        # The command has the terminal's interrupt as well, and ends by itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        selector.register(process.stdout, selectors.EVENT_READ)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        pending = ""
        while True:
            if selector.select(0.5):
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    break
                file.write(data)
                file.flush()
                pending += decode(data)
                end = len(pending) if display.everything else pending.rfind("\n") + 1
                display.output(pending[:end])
                pending = pending[end:]
            display.tick()
        display.output(pending)
        code = process.wait()
    return code if code >= 0 else 128 - code


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: The arguments; default: those of the process.

    Returns:
        The exit code of the command, 127 if it does not exist.
    """
    parser = argparse.ArgumentParser(description="run a command and show its progress")
    parser.add_argument("label", help="the name of the step")
    parser.add_argument("--all", action="store_true", help="show the whole output")
    parser.add_argument("--logs", type=Path, default=LOGS, help="the folder of the log")
    parser.add_argument("command", nargs="+", help="the command, after --")
    options = parser.parse_args(arguments)
    if shutil.which(options.command[0]) is None:
        print(f"convoy: {options.label}: {options.command[0]} is not installed", file=sys.stderr)
        return 127
    options.logs.mkdir(parents=True, exist_ok=True)
    log = options.logs / f"{re.sub(r'[^A-Za-z0-9.]+', '-', options.label)}.log"
    display = _Display(options.label, options.all)
    display.print(f"convoy: {options.label}")
    code = _run(options.command, display, log)
    seconds = f"{time.monotonic() - display.start:.0f} s"
    if code:
        if not options.all:
            lines = log.read_text(errors="replace").splitlines()
            display.print("\n".join(lines[-TAIL_LINES:]))
        display.print(f"convoy: {options.label}: failed after {seconds}; the output is in {log}")
    else:
        display.print(f"convoy: {options.label}: done in {seconds}")
    return code


if __name__ == "__main__":
    sys.exit(main())
