"""The output of `make coverage` matches the code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.coverage import Row, closing_line, coverage
from tools.cudnn_ops import lowered_operations, operations
from tools.descriptors import ROOT, find_header, read_header, read_table


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    header = find_header()
    if header is None:
        pytest.skip("no header of cuDNN: pip install --no-deps nvidia-cudnn-cu13==9.19.0.56")
    return {row.name: row for row in coverage(read_table(), read_header(header))}


def test_list_has_everything_of_the_header(rows: dict[str, Row]) -> None:
    for row in rows.values():
        assert row.in_table + len(row.left_out) == row.total, row
        for count in (row.lowered, row.runtime):
            assert count is None or count <= row.in_table
    # The figures for cuDNN 9.19; a newer header has more, and the list must grow with it.
    line = closing_line(list(rows.values()))
    assert line == "coverage: 44/44 kinds, 293/293 attributes, 51/51 pointwise modes"


def test_every_mode_of_the_table_exists_in_cudnn(rows: dict[str, Row]) -> None:
    for name in (
        "pointwise modes",
        "reductions",
        "resample modes",
        "padding modes",
        "convolution modes",
    ):
        assert rows[name].only_backend == (), name


def test_every_operation_has_a_lowering() -> None:
    # Canonicalization turns pointwise_relu into pointwise. A constant is a tensor by value, not an
    # operation of cuDNN.
    assert set(operations().values()) - {"pointwise_relu", "constant"} == set(lowered_operations())


def test_command() -> None:
    if find_header() is None:
        pytest.skip("no header of cuDNN: pip install --no-deps nvidia-cudnn-cu13==9.19.0.56")
    done = subprocess.run(
        [sys.executable, "-m", "tools.coverage"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert re.fullmatch(
        r"coverage: (\d+)/\1 kinds, (\d+)/\2 attributes, (\d+)/\3 pointwise modes",
        done.stdout.splitlines()[-1],
    )
    assert "CUDNN_DATA_INT8x4: deprecated" in done.stdout


def test_missing_header(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import tools.coverage as module

    none: Callable[[], Path | None] = lambda: None  # noqa: E731
    monkeypatch.setattr(module, "find_header", none)
    assert module.main() == 1
    assert "expected cudnn_graph.h" in capsys.readouterr().err
