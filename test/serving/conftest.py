"""Fixtures of the tests of serving. They run in `.venv-serving`, without the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def artifacts() -> Path:
    """The folder that `build_artifacts.py` has filled: NAME.convoy and NAME.safetensors of each
    model of `models.py`."""
    folder = ROOT / "build" / "serving"
    if not (folder / "cnn.convoy").is_file():
        pytest.fail(f"no artifacts in {folder}: run `make test-serving`")
    return folder
