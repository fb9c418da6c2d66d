# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The examples of docs/dynamic-shapes.md run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import run_page


def test_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page("dynamic-shapes.md")
    assert (tmp_path / "dynamic.convoy").is_file()
