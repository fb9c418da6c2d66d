"""Requests of Triton that run in one call of a program; without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convoy_runtime
from convoy_runtime.errors import ArgumentError, ExecutionError
from convoy_runtime.integrations.triton.calls import Calls, Outcome
from convoy_runtime.integrations.triton.served import served_model


class Recorded:
    """The calls of an artifact.

    Attributes:
        arrays: The first input of each call.
        marked: The number with which a call has to begin to fail.
    """

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.program: Any = convoy_runtime.load(path)
        self.arrays: list[np.ndarray] = []
        self.marked = 1234.5
        model = served_model(
            self.program.inputs,
            self.program.outputs,
            getattr(self.program, "symbols", ()),
            getattr(self.program, "points", ()),
        )
        self._calls = Calls(self.program, model)
        self._run = self.program.run_numpy
        monkeypatch.setattr(self.program, "run_numpy", self._record)

    def run(self, *arrays: np.ndarray) -> list[Outcome]:
        return self._calls.run([[array] for array in arrays])

    def shapes(self) -> list[tuple[int, ...]]:
        return [array.shape for array in self.arrays]

    def _record(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        self.arrays.append(x)
        if x.flat[0] == self.marked:
            raise ExecutionError(entry="convoy_main", status=1)
        results: tuple[np.ndarray, ...] = self._run(x)
        return results


@pytest.fixture
def lengths(artifacts: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    made = Recorded(artifacts / "lengths.convoy", monkeypatch)
    with made.program:
        yield made


def rows(count: int, length: int = 8, first: float = 1) -> np.ndarray:
    return np.arange(count * length, dtype=np.float32).reshape(count, length) + first


def check(outcome: Outcome, x: np.ndarray) -> None:
    assert isinstance(outcome, tuple)
    np.testing.assert_array_equal(outcome[0], x.sum(axis=1))
    np.testing.assert_array_equal(outcome[1], x * 2)


def test_requests_run_in_one_call_of_the_next_point(lengths: Recorded) -> None:
    given = [rows(count, first=count) for count in (1, 3, 2)]
    for outcome, x in zip(lengths.run(*given), given, strict=True):
        check(outcome, x)
    assert lengths.shapes() == [(16, 8)]


def test_a_single_request_is_not_copied(lengths: Recorded) -> None:
    x = rows(3)
    (outcome,) = lengths.run(x)
    check(outcome, x)
    assert [array is x for array in lengths.arrays] == [True]


def test_requests_beyond_the_largest_point_run_in_further_calls(lengths: Recorded) -> None:
    given = [rows(10), rows(8), rows(8), rows(1)]
    for outcome, x in zip(lengths.run(*given), given, strict=True):
        check(outcome, x)
    assert lengths.shapes() == [(10, 8), (16, 8), (1, 8)]


def test_only_equal_other_sizes_are_joined(lengths: Recorded) -> None:
    given = [rows(1), rows(1, 512), rows(2), rows(2, 512)]
    for outcome, x in zip(lengths.run(*given), given, strict=True):
        check(outcome, x)
    assert lengths.shapes() == [(4, 8), (4, 512)]


def test_a_wrong_request_does_not_affect_others(lengths: Recorded) -> None:
    wrong = [rows(1).astype(np.float64), rows(17), rows(1, 9), rows(1)[0]]
    first, *found, last = lengths.run(rows(1), *wrong, rows(2))
    check(first, rows(1))
    check(last, rows(2))
    messages = [
        "input 'x': wrong dtype: expected float32, got float64",
        "the value of batch is not in its range: expected 1 to 16, got 17",
        "has no point for them",
        "input 'x': wrong shape: expected [batch, length], got [8]",
    ]
    for outcome, message in zip(found, messages, strict=True):
        assert isinstance(outcome, ArgumentError)
        assert message in str(outcome)


def test_a_failed_call_fails_the_requests_that_it_joined(lengths: Recorded) -> None:
    given = [rows(9, first=lengths.marked), rows(7), rows(7)]
    *failed, last = lengths.run(*given)
    assert [str(each) for each in failed] == ["convoy_main returned status 1"] * 2
    check(last, rows(7))
    assert lengths.shapes() == [(16, 8), (7, 8)]


@pytest.mark.parametrize("artifact", ["mlp", "centered"])
def test_requests_without_batches_run_alone(
    artifact: str, artifacts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Recorded(artifacts / f"{artifact}.convoy", monkeypatch)
    count = 2 if artifact == "mlp" else 1
    with made.program:
        found = made.run(rows(count), rows(count, first=9))
        assert made.shapes() == [(count, 8), (count, 8)]
        (alone,) = made.run(rows(count, first=9))
    np.testing.assert_array_equal(found[1], alone)  # type: ignore[arg-type]
