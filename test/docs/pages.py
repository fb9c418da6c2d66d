# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the examples of a page of docs/."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"


def run_page(name: str) -> None:
    """Runs the python blocks of a page in order. A text block is what the python blocks before it
    print."""
    page = DOCS / name
    text = page.read_text()
    blocks = list(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert {block[1] for block in blocks} == {"python", "text"}
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for block in blocks:
        if block[1] == "text":
            assert printed.rstrip() == block[2].rstrip()
            printed = ""
            continue
        assert not printed, "the output of a block must follow it"
        line = text[: block.start()].count("\n") + 1
        code = compile("\n" * line + block[2], page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, names)
        printed = output.getvalue()
    assert not printed, "the output of a block must follow it"
