# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""docs/torch-compile.md: its examples run, and its table has every option."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from pages import DOCS, run_page

from convoy.torch_compile import BackendOptions


def test_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path))
    torch._dynamo.reset()
    run_page("torch-compile.md")
    assert list(tmp_path.glob("torch_compile/*.convoy"))


def test_table_has_every_option() -> None:
    text = (DOCS / "torch-compile.md").read_text()
    assert re.findall(r"^\| `(\w+)`", text, re.MULTILINE) == [
        x.name for x in fields(BackendOptions)
    ]
