"""Runners that time out, fail, abort or stop: each gives its reason, and the others continue."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.costs import Cost, Costs, identity
from benchmarks.processes import Child, RunnerError, environment, medians

STUB = Path(__file__).parent / "stub_runner.py"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    children: list[Child] = []

    def make(behavior: str) -> Child:
        child = Child([sys.executable, str(STUB), behavior], log=tmp_path / f"{behavior}.log")
        children.append(child)
        child.loaded()
        return child

    yield make
    for child in children:
        child.close()


def test_working_contender_is_timed(start: Callable[[str], Child]) -> None:
    child = start("well")
    assert child.prepare(60) == {"seconds": 1.5, "details": {"versions": {"behavior": "well"}}}
    # The first answer, to 3 runs, only says how many runs make a round: 10 ms / 0.5 ms.
    assert medians({"well": child}, rounds=3, target_ms=10.0) == ({"well": 0.25}, {})


def test_contender_that_times_out_is_ended(start: Callable[[str], Child]) -> None:
    child = start("late")
    begin = time.perf_counter()
    with pytest.raises(RunnerError, match="not compiled after 1 s"):
        child.prepare(1)
    assert time.perf_counter() - begin < 30


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("raises", "RuntimeError: CUDA out of memory"),
        ("dies", "ended with SIGABRT: no such engine"),
    ],
)
def test_the_reason_of_one_that_fails(
    start: Callable[[str], Child], behavior: str, reason: str
) -> None:
    with pytest.raises(RunnerError) as error:
        start(behavior).prepare(60)
    assert str(error.value) == reason


def test_one_that_stops_does_not_stop_the_others(start: Callable[[str], Child]) -> None:
    children = {behavior: start(behavior) for behavior in ("lame", "well")}
    for child in children.values():
        child.prepare(60)
    assert medians(children, rounds=2, target_ms=10.0) == (
        {"well": 0.25},
        {"lame": "ended with exit code 0"},
    )


def test_child_compiles_into_the_cache(tmp_path: Path) -> None:
    variables = environment(tmp_path, threads=4)
    assert variables["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "inductor")
    assert variables["JAX_COMPILATION_CACHE_DIR"] == str(tmp_path / "jax")
    assert variables["TORCHINDUCTOR_COMPILE_THREADS"] == "4"


def test_cost_is_summed_up_to_the_first_complete_attempt(tmp_path: Path) -> None:
    costs, key = Costs(tmp_path / "costs"), "resnet50-float16-1"
    assert costs.add(key, "compile", 200.0, complete=False, of="torch 2") == Cost(
        "torch 2", 200.0, complete=False
    )
    known = costs.add(key, "compile", 30.0, complete=True, of="torch 2", at_once=4)
    assert known == Cost("torch 2", 230.0, complete=True, at_once=4)
    # Later attempts use the compiled result.
    assert Costs(tmp_path / "costs").add(key, "compile", 5.0, complete=True, of="torch 2") == known
    # Another version starts from zero.
    assert costs.add(key, "compile", 70.0, complete=True, of="torch 3") == Cost(
        "torch 3", 70.0, complete=True
    )
    assert costs.add(key, "jax", 4.0, complete=True, of="jax 1").seconds == 4.0
    path = tmp_path / f"costs/{key}.jax.json"
    assert json.loads(path.read_text()) == {
        "of": "jax 1",
        "seconds": 4.0,
        "complete": True,
        "at_once": 1,
    }
    path.write_text("{")
    assert costs.add(key, "jax", 3.0, complete=True, of="jax 1").seconds == 3.0


def test_cost_identity_depends_on_artifact_or_version(tmp_path: Path) -> None:
    artifact = tmp_path / "resnet50-float16-1.convoy"
    artifact.write_bytes(b"one")
    one = identity("convoy", artifact)
    artifact.write_bytes(b"other")
    assert identity("convoy", artifact) != one
    assert identity("max-autotune", artifact).startswith("torch ")
    assert identity("jax-graphs", artifact) == identity("jax", artifact)
