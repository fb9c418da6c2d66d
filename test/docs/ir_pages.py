# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The blocks of a page of docs/ that have IR, and what convoy-opt prints for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools.convoy_opt import convoy_opt

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    """A fenced block; `source` is the last mlir block up to and including it."""

    language: str
    command: str
    text: str
    line: int
    source: str


def read_blocks(page: str) -> list[Block]:
    """The blocks of the text of a page, except those of language `sh`."""
    found: list[Block] = []
    source = ""
    for match in re.finditer(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        source = match[3] if match[1] == "mlir" else source
        if match[1] == "sh":
            continue
        found.append(
            Block(match[1], match[2], match[3], page[: match.start()].count("\n") + 1, source)
        )
    return found


def check_printed(block: Block) -> None:
    """Asserts that the command of a text block prints its lines in this order, among others. If one
    is an error, the command fails."""
    tool, *flags = block.command.split()
    assert tool == "convoy-opt"
    done = convoy_opt(block.source, *flags, check=False)
    fails = "error: " in block.text
    assert bool(done.returncode) == fails, done.stderr
    printed = done.stderr if fails else done.stdout
    at = 0
    for line in block.text.splitlines():
        found = printed.find(line, at)
        assert found >= 0, f"not printed, or not in this order: {line}"
        at = found + len(line)
