"""Our build functions and cudnn-frontend say the same to cuDNN about the same graphs: one recorder,
the real library behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from graph_cases import PAIRS
from recorded import canonical, read_calls, read_log


@pytest.fixture(scope="module")
def said_by_frontend(frontend_says: Callable[[Mapping[str, str]], Path]) -> Path:
    return frontend_says({name: pair.frontend for name, pair in PAIRS.items()})


@pytest.mark.parametrize("name", PAIRS)
def test_same_descriptors(name: str, said_by_us: Path, said_by_frontend: Path) -> None:
    for folder in (said_by_us, said_by_frontend):
        error = folder / f"{name}.error"
        assert not error.exists(), error.read_text()
    ours, theirs = (
        canonical(read_calls(folder / f"{name}.calls")) for folder in (said_by_us, said_by_frontend)
    )
    assert ours == theirs


def test_cudnn_sees_the_same_graphs(said_by_us: Path, said_by_frontend: Path) -> None:
    """What the library made of the calls, defaults filled in, from its own log."""
    ours, theirs = read_log(said_by_us), read_log(said_by_frontend)
    assert list(ours) == list(theirs) == list(PAIRS)
    largest = {"double": 1.7976931348623157e308, "float": 3.4028234663852886e38}
    for name in PAIRS:
        for node in theirs[name]:
            # cudnn-frontend says the largest float where we say nothing: no float is above either.
            if node.get("upperClip") == largest["float"]:
                node["upperClip"] = largest["double"]
        assert ours[name] == theirs[name], name
