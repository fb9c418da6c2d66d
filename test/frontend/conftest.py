"""Fixture that runs `convoy-opt` in the frontend's tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def convoy_opt() -> Callable[[str], str]:
    """Runs `convoy-opt` (CONVOY_OPT, or build/bin/convoy-opt) on text and returns its output; skips
    if it is not built."""
    tool = Path(os.environ.get("CONVOY_OPT", _ROOT / "build/bin/convoy-opt"))
    if not tool.exists():
        pytest.skip(f"{tool} is not built")

    def run(text: str) -> str:
        done = subprocess.run([tool], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
