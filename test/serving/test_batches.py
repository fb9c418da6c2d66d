"""Requests that run together: what fits into one call, and that their results are those of single
calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import convoy_runtime
from convoy_runtime.errors import ArgumentError
from convoy_runtime.integrations.batches import Batches


@pytest.fixture
def cnn(artifacts: Path) -> Iterator[convoy_runtime.Program]:
    with convoy_runtime.load(artifacts / "cnn.convoy") as program:
        yield program


@pytest.fixture
def centered(artifacts: Path) -> Iterator[convoy_runtime.Program]:
    with convoy_runtime.load(artifacts / "centered.convoy") as program:
        yield program


def images(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3, 16, 16)).astype(np.float32)


def test_padded_symbol_is_found(cnn: convoy_runtime.Program) -> None:
    batches = Batches.of(cnn)
    assert batches is not None
    assert (batches.symbol, batches.largest) == ("batch", 16)


def test_static_artifact_has_no_batches(artifacts: Path) -> None:
    with convoy_runtime.load(artifacts / "mlp.convoy") as program:
        assert Batches.of(program) is None
        with pytest.raises(ArgumentError, match="batch_symbol: .*mlp.convoy has static sizes"):
            Batches.of(program, "batch")


def test_batching_can_be_disabled(cnn: convoy_runtime.Program) -> None:
    assert Batches.of(cnn, None) is None


def test_symbol_that_is_not_padded_has_to_be_named(centered: convoy_runtime.Program) -> None:
    assert Batches.of(centered) is None
    assert Batches.of(centered, "batch") is not None


def test_unknown_symbol_is_an_error(cnn: convoy_runtime.Program) -> None:
    expected = "batch_symbol: unknown symbol: expected one of batch, got 'length'"
    with pytest.raises(ArgumentError, match=expected):
        Batches.of(cnn, "length")


def test_padded_calls_have_at_most_the_largest_batch(cnn: convoy_runtime.Program) -> None:
    batches = Batches(cnn, "batch")
    rows = [batches.rows([images(count)]) for count in (3, 5, 7, 1, 1)]
    assert batches.together(rows[:1]) == 1
    assert batches.together(rows) == 4  # 3 + 5 + 7 + 1 are 16


def test_calls_of_a_symbol_that_is_not_padded_are_points(centered: convoy_runtime.Program) -> None:
    batches = Batches(centered, "batch")
    row = batches.rows([np.zeros((1, 8), np.float32)])
    four = batches.rows([np.zeros((4, 8), np.float32)])
    assert batches.together([row] * 3) == 1
    assert batches.together([row] * 5) == 4
    assert batches.together([four, four, row]) == 1
    assert batches.together([four] * 5) == 4


@pytest.mark.parametrize("counts", [(1, 1), (3, 5, 7, 1), (2, 4, 3)])
def test_joined_results_are_those_of_single_calls(
    cnn: convoy_runtime.Program, counts: tuple[int, ...]
) -> None:
    batches = Batches(cnn, "batch")
    requests = [[images(count, seed)] for seed, count in enumerate(counts)]
    rows = [batches.rows(request) for request in requests]
    joined = batches.join(requests, rows)
    assert joined[0].shape[0] == next(size for size in (1, 4, 16) if size >= sum(counts))
    parts = batches.split(cnn.run_numpy(*joined), rows)
    for (x,), (part,), count in zip(requests, parts, counts, strict=True):
        assert part.shape == (count, 10)
        np.testing.assert_allclose(part, cnn(x), rtol=1e-5, atol=1e-6)


def test_rest_of_a_padded_call_is_zeros(cnn: convoy_runtime.Program) -> None:
    batches = Batches(cnn, "batch")
    requests = [[images(2)], [images(1, 1)]]
    (joined,) = batches.join(requests, [batches.rows(request) for request in requests])
    assert np.array_equal(joined[:2], requests[0][0])
    assert np.array_equal(joined[2:3], requests[1][0])
    assert not joined[3:].any()


def test_inputs_of_all_types_are_joined(artifacts: Path) -> None:
    with convoy_runtime.load(artifacts / "mixed.convoy") as program:
        batches = Batches(program, "batch")
        random = np.random.default_rng(0)
        requests = [
            [random.integers(0, 100, (count, 5)), random.normal(size=(count, 8)).astype(np.float16)]
            for count in (2, 3)
        ]
        rows = [batches.rows(request) for request in requests]
        results = program.run_numpy(*batches.join(requests, rows))
        for request, (best, scores) in zip(requests, batches.split(results, rows), strict=True):
            expected = program(*request)
            assert np.array_equal(best, expected["best"])
            np.testing.assert_allclose(scores, expected["scores"], rtol=1e-2, atol=1e-3)
