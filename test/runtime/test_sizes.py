"""The sizes in native.so and the manifest must be equal: otherwise the artifact is refused before
anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, affine_manifest, put, rewrite, spec

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import ArtifactError

COMPILED = r"differs from the value that native\.so was compiled for: expected"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("arena_bytes", 0), rf"arena_bytes: {COMPILED} 64, got 0"),
        (put("prepare_arena_bytes", 60), rf"prepare_arena_bytes: {COMPILED} 64, got 60"),
        (put("inputs", []), rf"number of inputs: {COMPILED} 1, got 0"),
        (put("outputs", []), rf"number of outputs: {COMPILED} 1, got 0"),
        (put("prepared", []), rf"number of prepared: {COMPILED} 2, got 0"),
        (
            put("outputs", [spec("y", 1, 1)]),
            rf"outputs\[0\] \(y: float32\[1, 1\]\), bytes: {COMPILED} 24, got 4",
        ),
        (
            put("inputs", [spec("x", 3)]),
            rf"inputs\[0\] \(x: float32\[3\]\), bytes: {COMPILED} 24, got 12",
        ),
        (
            put("weights", spec("w", 3), spec("s", 2), spec("b", 3)),
            rf"weights\[1\] \(s: float32\[2\]\), bytes: {COMPILED} 4, got 8",
        ),
        (
            put("outputs", [spec("y", 2, 3), spec("z", 1)]),
            rf"number of outputs: {COMPILED} 1, got 2",
        ),
    ],
)
def test_size_mismatch_is_refused(affine: Path, change: Callable[..., None], message: str) -> None:
    rewrite(affine, change)
    with pytest.raises(ArtifactError, match=rf"affine\.convoy: manifest\.json: {message}"):
        convoy_runtime.load(affine)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("0", r"arena_bytes: .*expected nothing, got 64"),
        (
            "-1",
            r"native\.so: convoy_sizes: has an invalid count: expected at most 16777216 numbers, got -1",
        ),
        (
            "14, 64, 64, 1, 24, 3, 12, 4, 12, 2, 12, 12, 1, 24, 5",
            "native.so: convoy_sizes: has more numbers than the manifest has tensors",
        ),
    ],
)
def test_invalid_sizes(
    tmp_path: Path, compile_c: Callable[..., bytes], numbers: str, message: str
) -> None:
    write_artifact(
        tmp_path / "a",
        affine_manifest(),
        {"native.so": compile_c("affine.c", f"-DSIZES={numbers}")},
        PREPARED,
    )
    with pytest.raises(ArtifactError, match=message):
        convoy_runtime.load(tmp_path / "a")


def test_library_without_sizes(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    write_artifact(
        tmp_path / "a",
        affine_manifest(),
        {"native.so": compile_c("affine.c", "-Dconvoy_sizes=other")},
        PREPARED,
    )
    with pytest.raises(
        ArtifactError, match=r"native\.so: the library does not export convoy_sizes"
    ):
        convoy_runtime.load(tmp_path / "a")


def test_matching_sizes(affine: Path) -> None:
    with convoy_runtime.load(affine) as program:
        assert program(np.ones((2, 3), np.float32)).shape == (2, 3)
