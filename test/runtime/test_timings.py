"""The timing of `load`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from runtime_fixtures import PREPARED, affine_manifest

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import timings
from convoy_runtime.timings import collect, part


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock of the timing."""
    now = [100.0]

    def move(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(timings.time, "perf_counter", lambda: now[0])
    return move


def test_time_counts_for_the_innermost_part(clock: Callable[[float], None]) -> None:
    with collect() as seconds:
        clock(1)
        with part("plans"):
            clock(2)
            with part("cuDNN"):
                clock(4)
            clock(8)
        with part("cuDNN"):
            clock(16)
        clock(32)
    assert seconds == {"rest": 33, "plans": 10, "cuDNN": 20}


def test_part_that_raises_ends(clock: Callable[[float], None]) -> None:
    with collect() as seconds:
        with suppress(KeyError), part("plans"):
            clock(2)
            raise KeyError
        clock(1)
    assert seconds == {"rest": 1, "plans": 2}


def test_part_without_a_measurement_has_no_effect() -> None:
    with part("plans"):
        pass
    with collect() as seconds:
        pass
    assert seconds.keys() == {"rest"}


def test_program_has_the_timings_of_its_load(tmp_path: Path, affine_so: bytes) -> None:
    write_artifact(tmp_path / "model", affine_manifest(), {"native.so": affine_so}, PREPARED)
    start = time.perf_counter()
    with convoy_runtime.load(tmp_path / "model") as program:
        taken = time.perf_counter() - start
    assert program.timings.keys() == {"rest", "opening", "hashing", "native library", "weights"}
    assert 0 < sum(program.timings.values()) <= taken
