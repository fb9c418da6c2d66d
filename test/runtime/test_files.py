"""Unusual files: devices and FIFOs, files that change while they are used, and processes that are
killed while they write."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, W, affine_manifest, reference

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import ArtifactError, WeightsError, _files
from convoy_runtime._files import write_whole
from convoy_runtime.opening import open_artifact

X = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)


def make(kind: str, path: Path) -> Path:
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif kind == "a character device":
        return Path("/dev/zero")
    else:
        path.mkdir()
    return path


@pytest.mark.parametrize("kind", ["a FIFO", "a socket", "a character device", "a directory"])
def test_path_that_is_not_a_file_is_refused_immediately(
    affine: Path, tmp_path: Path, kind: str
) -> None:
    path = make(kind, tmp_path / "x")
    with pytest.raises(
        ArtifactError, match=f"{path}: cannot be read: expected a regular file, got {kind}"
    ):
        convoy_runtime.load(path)
    with (
        convoy_runtime.load(affine) as program,
        pytest.raises(WeightsError, match=f"cannot be read: expected a regular file, got {kind}"),
    ):
        program.load_weights(path)


USE = """
import sys, numpy as np, convoy_runtime
from convoy_runtime import _archive
if sys.argv[2] == "background":
    _archive._READ_AT_ONCE = 0
program = convoy_runtime.load(sys.argv[1])
x = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)
before = program(x)
with open(sys.argv[1], "r+b") as file:
    size = file.seek(0, 2)
    file.seek(0)
    file.write(b"\\xff" * size)
assert (program(x) == before).all()
with open(sys.argv[1], "r+b") as file:
    file.truncate(0)
assert (program(x) == before).all()
program.load_weights({"w": np.ones(3, np.float32), "s": np.ones(1, np.float32), "b": np.zeros(3, np.float32)})
assert (program(x) == np.maximum(x, 0)).all()
print("done")
"""


@pytest.mark.parametrize("reading", ["at once", "background"])
def test_file_overwritten_and_truncated_while_loaded(affine: Path, reading: str) -> None:
    """Loaded contents stay as verified. Runs in a separate process, because a mapped file would
    cause a SIGBUS."""
    done = subprocess.run(
        [sys.executable, "-c", USE, str(affine), reading],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_file_truncated_while_it_is_read(affine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = affine.stat().st_size
    real = os.preadv

    def shorter(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        return real(descriptor, buffers, offset) if offset < 1000 or offset > size - 100 else 0

    monkeypatch.setattr(os, "preadv", shorter)
    with pytest.raises(
        ArtifactError,
        match=(
            r"cannot be read: expected \d+ bytes at \d+, got 0: the file was truncated while "
            r"it was read"
        ),
    ):
        open_artifact(affine)


WRITE = """
import os, signal, sys
from pathlib import Path
from convoy_runtime import _files
if sys.argv[2] == "named":
    real = os.open
    def without(path, flags, *rest, **named):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return real(path, flags, *rest, **named)
    os.open = without
def pieces():
    yield b"half"
    print(*sorted(os.listdir(Path(sys.argv[1]).parent)), flush=True)
    os.kill(os.getpid(), int(sys.argv[3])) if sys.argv[3] != "0" else None
    yield b" whole"
_files.write_whole(sys.argv[1], pieces())
"""


def written(path: Path, how: str, end: int) -> tuple[int, list[str]]:
    """Writes a file in a process that gets a signal in the middle; returns how it ended, and the
    names in the folder then."""
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(path), how, str(end)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, done.stdout.split()


def test_killed_process_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")
    assert written(path, "unnamed", signal.SIGKILL) == (-signal.SIGKILL, ["model"])
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == b"old"
    assert written(path, "unnamed", 0) == (0, ["model"])
    assert path.read_bytes() == b"half whole"


def test_file_system_without_unnamed_files(tmp_path: Path) -> None:
    path = tmp_path / "model"
    code, names = written(path, "named", 0)
    assert code == 0
    assert len(names) == 1
    assert names[0].startswith(".model.")
    assert path.read_bytes() == b"half whole"
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("named", [False, True])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    if named:
        monkeypatch.setattr(
            _files,
            "_temporary",
            lambda path, mode: (os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), True),
        )
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def pieces():  # type: ignore[no-untyped-def]
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, pieces())
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_mode_follows_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", [b"1"])
        write_whole(tmp_path / "b", [b"1"], mode=0o600, sync=True)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"] == [0o640, 0o600]


def test_weights_are_released(tmp_path: Path, compile_c: Callable[..., bytes]) -> None:
    write_artifact(
        tmp_path / "a", affine_manifest(), {"native.so": compile_c("affine.c")}, PREPARED
    )
    artifact = open_artifact(tmp_path / "a")
    weights = artifact.weights()
    artifact.release_weights()
    assert weights is not None
    np.testing.assert_array_equal(weights["ws"].array, PREPARED["ws"].array)
    with pytest.raises(convoy_runtime.ConvoyRuntimeError, match="the weights were released"):
        artifact.weights()
    with convoy_runtime.load(tmp_path / "a") as program:
        np.testing.assert_array_equal(program(X), reference(X))
        program.load_weights(
            {"w": W * 2, "s": np.ones(1, np.float32), "b": np.zeros(3, np.float32)}
        )
