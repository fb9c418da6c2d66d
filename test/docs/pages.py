# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the examples of a page of docs/."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

from convoy.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"


def run_page(name: str) -> None:
    """Runs the python and sh blocks of a page in order, the latter in the current folder.

    A text block is what the python block before it prints. A python block that begins with the
    comment `# NAME.py` is also written to this file. Each line of an sh block is a `convoy`
    command, which must succeed; its output is not compared.
    """
    page = DOCS / name
    text = page.read_text()
    blocks = list(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert {"python", "text"} <= {block[1] for block in blocks} <= {"python", "text", "sh"}
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for block in blocks:
        if block[1] == "text":
            assert printed.rstrip() == block[2].rstrip()
            printed = ""
            continue
        assert not printed, "the output of a block must follow it"
        if block[1] == "sh":
            for command in block[2].splitlines():
                _run_command(command)
            continue
        if file := re.match(r"# (\w+\.py)\n", block[2]):
            Path(file[1]).write_text(block[2])
        line = text[: block.start()].count("\n") + 1
        code = compile("\n" * line + block[2], page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, names)
        printed = output.getvalue()
    assert not printed, "the output of a block must follow it"


def _run_command(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "convoy"
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(arguments) == 0, command
