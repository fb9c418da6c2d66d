# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`python -m tools.ops`: samples of OpInfo are compiled, compared and listed."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
import torch

from tools.ops import measure as measuring
from tools.ops.__main__ import _run
from tools.ops.measure import Outcome, measure
from tools.ops.page import summary, write_page
from tools.ops.samples import DTYPES, database, samples_of

_OPTIONS = {"limit": 32, "seconds": 60, "folder": None}


def test_samples_of_an_op_are_right() -> None:
    outcome = measure("index_select", torch.int64, "cpu", **_OPTIONS)
    assert outcome.right == outcome.samples == 3


def test_refused_samples_have_a_reason() -> None:
    outcome = measure("linalg.eig", torch.float32, "cpu", **_OPTIONS)
    assert outcome.refused
    assert not outcome.wrong
    assert not outcome.failed


def test_wrong_results_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(op: object, dtype: torch.dtype, limit: int):
        for sample in samples_of(op, dtype, limit):
            sample.expected[0].add_(1)
            yield sample

    monkeypatch.setattr(measuring, "samples_of", wrong)
    outcome = measure("add", torch.int64, "cpu", **(_OPTIONS | {"limit": 2}))
    assert outcome.right == 0
    assert len(outcome.wrong) == 2


def test_a_process_that_dies_is_an_outcome() -> None:
    """Reading this address is a segmentation fault."""
    tasks = [(b"abc", 1), (1 << 62, 1), (b"xyz", 2)]
    found = list(_run(tasks, ctypes.string_at, 2))
    assert sorted(each for each in found if isinstance(each, bytes)) == [b"a", b"xy"]
    failed = [each.failed for each in found if isinstance(each, Outcome)]
    assert failed == [["the process died"]]


def test_an_op_that_compiles_in_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Samples of scalars are refused; the others are compiled together and stored."""
    plain = torch.add

    def partly(x: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
        y = plain(x, *args, **kwargs)
        return y if x.ndim else torch.linalg.eigvals(x.expand(2, 2)).real + y

    monkeypatch.setattr(database()["add"], "op", partly)
    outcome = measure("add", torch.float32, "cpu", **(_OPTIONS | {"folder": tmp_path}))
    assert 0 < outcome.right < outcome.samples
    assert sum(outcome.refused.values()) == outcome.samples - outcome.right
    assert list(tmp_path.glob("*.convoy"))


def test_the_page(tmp_path: Path) -> None:
    outcomes = [
        Outcome("a", "float32", right=3),
        Outcome("a", "int64", right=1, refused={"x|y": 2}),
        Outcome("b", "float32", refused={"none": 1}),
        Outcome("c", "bool", right=1, wrong=["sample 1: differs"]),
        Outcome("d", "float32"),
        Outcome("a", "float32", "cuda", right=3),
        Outcome("a", "int64", "cuda", right=3),
        Outcome("b", "float32", "cuda", refused={"none on cuda": 2}),
        Outcome("c", "bool", "cuda", right=1, failed=["an error"]),
    ]
    assert summary(outcomes).splitlines() == [
        "cpu: 1 of 3 OpInfo ops, 1 more in part, 5 samples, 1 wrong",
        "cuda: 1 of 3 OpInfo ops, 1 more in part, 7 samples compile, 1 failures of the compiler",
    ]
    write_page(tmp_path / "ops.md", outcomes)
    rows = [x for x in (tmp_path / "ops.md").read_text().splitlines() if x.startswith("| `")]
    assert rows == [
        "| `a` | all | 1 of 3 |  | all | x\\|y |",
        "| `b` | - |  |  | - | none on cuda; none |",
        "| `c` |  |  | 1 of 2 | 1 of 2 | **wrong**: sample 1: differs; **failed**: an error |",
    ]


@pytest.mark.parametrize("name", ["addmm", "argsort", "scatter_add", "where"])
def test_the_page_is_up_to_date(name: str) -> None:
    """The counts of these ops are those of docs/ops.md."""
    page = (Path(__file__).parents[2] / "docs" / "ops.md").read_text()
    row = re.search(rf"^\| `{re.escape(name)}` \| (.*)$", page, re.MULTILINE)
    assert row is not None
    cells = [cell.strip() for cell in row[1].split("|")]
    for dtype, cell in zip(DTYPES, cells, strict=False):
        if dtype in database()[name].supported_dtypes("cpu"):
            outcome = measure(name, dtype, "cpu", **(_OPTIONS | {"limit": 8}))
            expected = "all" if outcome.right == outcome.samples else f"{outcome.right} of"
            assert cell.startswith(expected), outcome
