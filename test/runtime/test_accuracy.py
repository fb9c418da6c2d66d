"""Comparison of results."""

from __future__ import annotations

import numpy as np
import pytest

from convoy_runtime.cuda.tuning.accuracy import median_of, mismatch

ONE = np.array([1, -4, 2], np.float32)


@pytest.mark.parametrize(
    ("got", "dtype", "expected"),
    [
        (ONE, "float16", None),
        (ONE + np.float32(0.039), "float16", None),
        (ONE + np.float32(0.041), "float16", "by 1.0e-02 of the largest value"),
        (ONE + np.float32(0.041), "bfloat16", None),
        (ONE + np.float32(1e-6), "int32", "by 2.4e-07 of the largest value"),
        (ONE, "int64", None),
        (np.array([1, np.nan, 2], np.float32), "float16", "in the positions of NaN"),
    ],
)
def test_mismatch(got: np.ndarray, dtype: str, expected: str | None) -> None:
    assert mismatch(ONE, got, dtype) == expected


def test_empty_and_zero_outputs() -> None:
    assert mismatch(np.zeros(0, np.float32), np.zeros(0, np.float32), "float16") is None
    # If the largest value is zero, the difference itself counts.
    assert (
        mismatch(np.zeros(2, np.float32), np.full(2, 0.5, np.float32), "float16")
        == "by 5.0e-01 of the largest value"
    )


def test_median() -> None:
    (middle,) = median_of([[ONE], [ONE * 2], [ONE * 100]])
    np.testing.assert_array_equal(middle, ONE * 2)
