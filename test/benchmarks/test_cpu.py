# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The comparison on the CPU: the table, and a run with PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.cpu.__main__ import main, ratio, table


def test_table() -> None:
    rows = {
        "a": {"convoy": {"ms": 1.0, "error": 1e-6}, "eager": {"ms": 3.0, "error": 0.0}, "openvino": {"ms": 2.0, "error": 0.0}},
        "b": {"convoy": {"ms": 2.0, "error": 1e-6}, "eager": {"ms": 1.0, "error": 0.0}, "compile": {"failure": "no compiler"}},
        "c": {"convoy": {"failure": "refused"}, "eager": {"ms": 1.0, "error": 0.0}},
    }  # fmt: skip
    assert [ratio(row) for row in rows.values()] == [2.0, 0.5, None]
    lines = table(rows).splitlines()
    assert lines[2] == "| a | 1.00 | 3.00 | - | - | 2.00 | 2.00 | 1e-06 |"
    assert lines[3] == "| b | 2.00 | 1.00 | - | - | - | **0.50** | 1e-06 |"
    assert lines[4] == "| c | - | 1.00 | - | - | - | - | - |"
    assert lines[6:] == ["Geometric mean 1.00.", "b, compile: no compiler", "c, convoy: refused"]


def test_one_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """WaveNet by Convoy and PyTorch, each in its process."""
    path = tmp_path / "cpu.json"
    options = ["--models", "wavenet", "--runners", "convoy", "eager", "--turns", "1"]
    assert main([*options, "--seconds", "0", "--threads", "1", "--json", str(path)]) == 0
    row = json.loads(path.read_text())["wavenet"]
    assert row["convoy"]["error"] < 1e-4
    assert row["eager"] == {"ms": row["eager"]["ms"], "error": 0.0}
    assert "Geometric mean" in capsys.readouterr().out
