"""The examples of docs/cudnn.md are correct: the IR compiles, cuDNN finalizes the graphs, and the
commands print the shown lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from cudnn_library import finalize_graph

from convoy import _convoy
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.errors import DeviceError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cudnn.md").read_text()


@dataclass(frozen=True)
class Block:
    """A fenced block; `source` is the last mlir block up to and including it."""

    language: str
    command: str
    text: str
    line: int
    source: str


def _blocks() -> list[Block]:
    found: list[Block] = []
    source = ""
    for match in re.finditer(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        source = match[3] if match[1] == "mlir" else source
        if match[1] == "sh":
            continue
        found.append(
            Block(match[1], match[2], match[3], PAGE[: match.start()].count("\n") + 1, source)
        )
    return found


BLOCKS = _blocks()
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
def test_text_block_is_printed(block: Block, convoy_opt: Callable[..., str]) -> None:
    tool, *flags = block.command.split()
    assert tool == "convoy-opt"
    output = convoy_opt(block.source, *flags)
    at = 0
    for line in block.text.splitlines():
        found = output.find(line, at)
        assert found >= 0, f"not printed, or not in this order: {line}"
        at = found + len(line)
