"""The calls that are run to measure one of them in place."""

from __future__ import annotations

import pytest

from convoy_runtime.cuda.program.in_place import windows_of


@pytest.mark.parametrize(
    ("first", "last", "count", "windows"),
    [
        (3, 5, 8, [range(3, 6)]),
        (-2, 1, 8, [range(6, 8), range(0, 2)]),
        (0, 7, 8, [range(8)]),
        (-8, -1, 8, [range(8)]),
        (-3, 0, 1, [range(1)] * 4),
        (-3, 1, 2, [range(1, 2), range(2), range(2)]),
        (2, 1, 8, []),
    ],
)
def test_windows(first: int, last: int, count: int, windows: list[range]) -> None:
    assert windows_of(first, last, count) == windows
