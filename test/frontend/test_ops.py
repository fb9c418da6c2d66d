"""Every converter: the torch ops that it gets and the ops and attributes that it emits (golden.txt), its numbers by the reference against PyTorch in float64, and that
the C++ dialect parses and verifies the text.

`CONVOY_UPDATE_GOLDEN=1 pytest test/frontend/test_ops.py` rewrites golden.txt; read the difference before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from frontend_checks import compare, ops, torch_ops
from op_cases import CASES, build

from convoy.frontend import import_module

_GOLDEN = Path(__file__).with_name("golden.txt")
_ROUNDED = {"exp_half", "add_half_float", "conv2d_half", "batch_norm2d_half", "to_half", "to_bfloat16"}


def _read() -> dict[str, list[str]]:
    golden: dict[str, list[str]] = {}
    name = ""
    if _GOLDEN.exists():
        for line in _GOLDEN.read_text().splitlines():
            if line.startswith("  "):
                golden[name].append(line.strip())
            else:
                name, _, torch_ops = line.partition(": ")
                golden[name] = [torch_ops]
    return golden


@pytest.fixture(scope="module")
def golden() -> Iterator[dict[str, list[str]]]:
    lines = _read()
    yield lines
    if os.environ.get("CONVOY_UPDATE_GOLDEN"):
        _GOLDEN.write_text(
            "".join(f"{name}: {lines[name][0]}\n" + "".join(f"  {op}\n" for op in lines[name][1:]) for name in CASES if name in lines)
        )


@pytest.mark.parametrize("name", CASES)
def test_op(name: str, golden: dict[str, list[str]], request: pytest.FixtureRequest) -> None:
    module, inputs = build(name)
    imported = import_module(module, inputs)
    emitted = [" ".join(torch_ops(imported.torch_text)), *ops(imported.text)]
    if os.environ.get("CONVOY_UPDATE_GOLDEN"):
        golden[name] = emitted
    assert emitted == golden[name]
    compare(imported, module, inputs, tolerance=2e-3 if name in _ROUNDED else 1e-6)
    convoy_opt = request.getfixturevalue("convoy_opt")  # last, because it skips the test where the tool is not built
    assert convoy_opt(imported.text).count("tcp.") >= len(emitted) - 1


def test_golden_has_no_other_names(golden: dict[str, list[str]]) -> None:
    assert golden.keys() == CASES.keys()
