# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The comparison with copies: its cases, its artifacts and its table."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from benchmarks.bandwidth import build
from benchmarks.bandwidth.__main__ import table
from benchmarks.bandwidth.cases import CASES, COPIES, INDEX, copy_key
from convoy_runtime.opening import open_artifact


@pytest.mark.parametrize("name", CASES)
def test_arguments(name: str) -> None:
    elements = 8 << 19
    arguments = CASES[name].arguments(elements, torch.float16)
    # Rows and images may leave a rest.
    assert 0.98 * elements < math.prod(arguments[0].shape) <= elements
    with torch.device("meta"):
        result = CASES[name].module()(*(torch.empty_like(each) for each in arguments))
    assert result.numel() > 0


def test_build(tmp_path: Path) -> None:
    assert build.main([str(tmp_path), "--cases", "relu, concat", "cast", "--megabytes", "1"]) == 0
    index = json.loads((tmp_path / INDEX).read_text())
    assert {key: case["bytes"] for key, case in index.items()} == {
        "relu_concat-float16-1": 4 << 20,
        "cast-float16-1": 3 << 20,
    }
    for key in (*index, *map(copy_key, COPIES)):
        assert open_artifact(tmp_path / f"{key}.convoy").manifest.target == "cuda"


def test_table() -> None:
    case = {"dtype": "float16", "copy": 8.0, "calls": 1}
    rows = [
        {**case, "name": "a", "megabytes": 8, "microseconds": 9.0},
        {**case, "name": "a", "megabytes": 64, "microseconds": 8.0},
        {**case, "name": "b", "megabytes": 8, "microseconds": 16.0, "calls": 2},
        {**case, "name": "c", "megabytes": 8, "failure": "no memory"},
    ]
    assert table(rows).splitlines() == [
        "| function | dtype | 8 MB, us | copy / function | 64 MB, us | copy / function | calls |",
        "|---|---|---|---|---|---|---|",
        "| b | float16 | 16.0 | **0.50** | - | - | 2 |",
        "| a | float16 | 9.0 | 0.89 | 8.0 | 1.00 | 1 |",
        "c, float16, 8 MB: no memory",
    ]
