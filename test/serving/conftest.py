"""Fixtures of the tests of serving. They run in `.venv-serving`, without the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import ray_cluster

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def artifacts() -> Path:
    """The folder that `build_artifacts.py` has filled: NAME.convoy and NAME.safetensors of each
    model of `models.py`."""
    folder = ROOT / "build" / "serving"
    if not (folder / "cnn.convoy").is_file():
        pytest.fail(f"no artifacts in {folder}: run `make test-serving`")
    return folder


@pytest.fixture(scope="session")
def nodes() -> Iterator[ray_cluster.Nodes]:
    """A Ray cluster. There is one for all tests: a process that has used gRPC cannot always start
    another one."""
    import ray_cluster

    with ray_cluster.nodes() as nodes:
        yield nodes
