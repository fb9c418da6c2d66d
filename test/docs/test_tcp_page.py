# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The examples of docs/tcp.md: the IR is valid, and the commands print the shown lines."""

from __future__ import annotations

import pytest
from ir_pages import ROOT, Block, check_printed, read_blocks

from convoy import _convoy

BLOCKS = read_blocks((ROOT / "docs/tcp.md").read_text())
MODULES = [block for block in BLOCKS if block.language == "mlir"]
PRINTED = [block for block in BLOCKS if block.language == "text"]


def _name(block: Block) -> str:
    return f"line{block.line}"


def test_page_has_blocks() -> None:
    assert len(MODULES) >= 2
    assert len(PRINTED) >= 5
    assert len(MODULES) + len(PRINTED) == len(BLOCKS)


@pytest.mark.parametrize("block", MODULES, ids=_name)
def test_module_is_valid(block: Block) -> None:
    _convoy.verify(block.text, f"docs/tcp.md, line {block.line}")


@pytest.mark.parametrize("block", PRINTED, ids=_name)
def test_text_block_is_printed(block: Block) -> None:
    check_printed(block)
