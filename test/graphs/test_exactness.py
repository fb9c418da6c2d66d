"""Our build functions and cudnn-frontend make the same calls for the same graphs: both run on one
recording library, which forwards to the real one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from graph_cases import PAIRS
from recorded import canonical, read_calls, read_log


@pytest.fixture(scope="module")
def frontend_recordings(record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    return record_frontend({name: pair.frontend for name, pair in PAIRS.items()})


@pytest.mark.parametrize("name", PAIRS)
def test_same_descriptors(name: str, our_recordings: Path, frontend_recordings: Path) -> None:
    for folder in (our_recordings, frontend_recordings):
        error = folder / f"{name}.error"
        assert not error.exists(), error.read_text()
    ours, theirs = (
        canonical(read_calls(folder / f"{name}.calls"))
        for folder in (our_recordings, frontend_recordings)
    )
    assert ours == theirs


def test_cudnn_sees_the_same_graphs(our_recordings: Path, frontend_recordings: Path) -> None:
    """The graphs with defaults, from cuDNN's own log."""
    ours, theirs = read_log(our_recordings), read_log(frontend_recordings)
    assert list(ours) == list(theirs) == list(PAIRS)
    largest = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}
    for name in PAIRS:
        for node in theirs[name]:
            # cudnn-frontend sets the largest float where we set nothing; no float is above it.
            if node.get("upperClip") == largest["float"]:
                node["upperClip"] = largest["double"]
        assert ours[name] == theirs[name], name
