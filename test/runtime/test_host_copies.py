"""Copies of host arrays by several threads."""

from __future__ import annotations

import os

import numpy as np
import pytest

from convoy_runtime import host_copies


@pytest.mark.parametrize(
    "shape", [(), (0,), (3,), (7, 5), (1, 1, 64), (1, 3, 640, 512), (5, 1 << 19), (1 << 21,)]
)
def test_copy(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    source = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
    for each in (source, source.T.copy().T):
        to = np.full(shape, -1)
        host_copies.copy(to, each)
        np.testing.assert_array_equal(to, source)


def test_large_arrays_have_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    parts: list[int] = []
    copyto = np.copyto
    monkeypatch.setattr(np, "copyto", lambda to, x: (parts.append(to.nbytes), copyto(to, x)))
    for megabytes in (1, 3, 4, 7, 64):
        parts.clear()
        host_copies.copy(
            np.empty((1, megabytes << 20), np.uint8), np.ones((1, megabytes << 20), np.uint8)
        )
        assert len(parts) == min(4, max(1, megabytes // 2))
        assert sum(parts) == megabytes << 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_copy_in_a_forked_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    source = np.ones(8 << 20, np.uint8)
    host_copies.copy(np.empty_like(source), source)
    child = os.fork()
    if not child:
        to = np.zeros_like(source)
        host_copies.copy(to, source)
        os._exit(0 if to.all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
