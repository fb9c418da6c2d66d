"""Files of input arrays: only whole .npy files with numbers are read."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import numpy as np
import pytest

from convoy_runtime import ArgumentError
from convoy_runtime.array_files import read_array

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_layouts(tmp_path: Path) -> None:
    for array in (
        X,
        np.asfortranarray(X),
        X.astype(">f4"),
        np.array(2.0),
        np.zeros((0, 3), np.int8),
    ):
        np.save(tmp_path / "x.npy", array)
        got = read_array(tmp_path / "x.npy")
        np.testing.assert_array_equal(got, array)
        assert got.dtype == array.dtype


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.savez(tmp_path / "x.npz", X)
    np.save(path, X)
    whole = path.read_bytes()
    huge = whole.replace(b"(2, 3), }" + b" " * 20, b"(9999999999999, 99999999), } ")
    assert len(huge) == len(whole)
    objects = np.array([{}, 1], dtype=object)
    np.save(path, objects, allow_pickle=True)
    others = [path.read_bytes(), (tmp_path / "x.npz").read_bytes(), huge]
    for content in (b"", b"junk", whole[:30], whole[:-1], whole.replace(b"3)", b"3 "), *others):
        path.write_bytes(content)
        with pytest.raises(ArgumentError, match=r"x\.npy: is not a \.npy file with numbers: ."):
            read_array(path)
    with pytest.raises(FileNotFoundError):
        read_array(tmp_path / "none.npy")


def test_changed_headers(tmp_path: Path) -> None:
    """Each is refused, or an array like any other."""
    path = tmp_path / "x.npy"
    np.save(path, X)
    whole = path.read_bytes()
    random = Random(0)
    for offset in range(80):
        changed = bytearray(whole)
        changed[offset] = random.randrange(256)
        path.write_bytes(changed)
        with contextlib.suppress(ArgumentError):
            assert isinstance(read_array(path), np.ndarray)
