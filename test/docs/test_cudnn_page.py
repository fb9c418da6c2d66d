"""The examples of docs/cudnn.md are correct: the IR compiles, cuDNN finalizes the graphs, and the
commands print the shown lines."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from cudnn_library import finalize_graph
from ir_pages import ROOT, Block, check_printed, read_blocks

from convoy import _convoy
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.errors import DeviceError

PAGE = (ROOT / "docs/cudnn.md").read_text()
BLOCKS = read_blocks(PAGE)
GOOD = [block for block in BLOCKS if block.language == "mlir" and "// error:" not in block.text]
BAD = [block for block in BLOCKS if block.language == "mlir" and "// error:" in block.text]
PRINTED = [block for block in BLOCKS if block.language == "text"]


def _name(block: Block) -> str:
    return f"line{block.line}"


def test_page_has_blocks() -> None:
    questions = re.findall(r"^## ", PAGE, re.MULTILINE)
    assert len(questions) >= 12
    assert len(GOOD) >= 8
    assert len(BAD) >= 1
    assert len(PRINTED) >= 7
    assert len(GOOD) + len(BAD) + len(PRINTED) == len(BLOCKS)


@pytest.mark.parametrize("block", GOOD, ids=_name)
def test_cudnn_finalizes_the_graphs(block: Block) -> None:
    try:
        cudnn = open_cudnn()
    except DeviceError as error:
        pytest.skip(f"no cuDNN: {error}")
    native, manifest = _convoy.compile_graphs(block.text, f"docs/cudnn.md, line {block.line}")
    graphs = json.loads(manifest)["graphs"]
    written = re.findall(r"cudnn\.graph @|cudnn\.build_and_exec_graph", block.text)
    assert len(graphs) == len(written)
    for graph in graphs:
        finalize_graph(cudnn, native, SimpleNamespace(name=graph["name"], symbol=graph["symbol"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("block", BAD, ids=_name)
def test_error_block_is_refused_with_its_message(block: Block) -> None:
    expected = re.findall(r"// error: (.*)", block.text)
    with pytest.raises(_convoy.CompilationFailed) as caught:
        _convoy.compile_graphs(block.text, "page")
    _, diagnostics = caught.value.args
    assert [message.partition(" op ")[2] for *_, message in diagnostics] == expected


@pytest.mark.parametrize("block", PRINTED, ids=_name)
def test_text_block_is_printed(block: Block) -> None:
    check_printed(block)
