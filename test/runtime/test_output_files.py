"""Valid output paths of commands, and the state after a failure."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from convoy_runtime import ArgumentError
from convoy_runtime.output_files import (
    checked_folder,
    checked_output,
    checked_stream,
    write_array,
    write_text,
)

ROOT = Path(__file__).resolve().parents[2]


def _fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    return path


def _link(path: Path, target: str) -> Path:
    path.symlink_to(target)
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: Path("/dev/full"), "expected a regular file, got a character device"),
        (lambda path: Path("/dev/null"), "expected a regular file, got a character device"),
        (_fifo, "expected a regular file, got a FIFO"),
        (_folder, "expected a regular file, got a directory"),
        (_socket, "expected a regular file, got a socket"),
        (lambda path: _link(path, "/dev/full"), "expected a regular file, got a character device"),
        (
            lambda path: _link(path, path.name),
            "expected a path that can be looked up, got Too many levels of symbolic links",
        ),
        (lambda path: path / "x", "expected a folder that exists, got '{path}'"),
        (
            lambda path: _link(path, "no/such/file"),
            "expected a folder that exists, got '{path.parent}/no/such'",
        ),
        (lambda path: Path("/proc/x"), "expected a writable folder, got '/proc': "),
        (
            lambda path: path.with_name("x" * 300),
            "expected a path that can be looked up, got File name too long",
        ),
        (lambda path: Path(), "expected a regular file, got a directory"),
    ],
)
def test_path_that_is_not_a_file_is_refused(
    make: Callable[[Path], Path], message: str, tmp_path: Path
) -> None:
    path = make(tmp_path / "y")
    with pytest.raises(ArgumentError) as caught:
        checked_output(path)
    assert str(caught.value).startswith(
        f"{path}: cannot be written: "
        f"{message.replace('{path.parent}', str(tmp_path)).format(path=tmp_path / 'y')}"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to every folder")
def test_unwritable_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(
        ArgumentError, match="expected a writable folder, got .*: Permission denied"
    ):
        checked_output(tmp_path / "y")


def test_writable_file(tmp_path: Path) -> None:
    path = tmp_path / "y"
    assert checked_output(path) == path
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    assert checked_output(path) == path
    assert path.read_text() == "old"


@pytest.mark.parametrize("exists", [True, False])
def test_link_is_kept(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    link.symlink_to("there/file")
    if exists:
        target.write_text("old")
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """A limit on the file size makes a write fail as a full disk does."""
    path = tmp_path / "y"
    path.write_text("old")
    code = f"""
import resource
from convoy_runtime.output_files import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_text({str(path)!r}, "x" * 100000)
except OSError as error:
    print(error.filename, error.strerror)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == f"{path} File too large\n"
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["y"]


def test_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_text(tmp_path / "y", "")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "y").stat().st_mode) == 0o640


def test_text_can_be_written_to_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("-", "/dev/stdout"):
        assert checked_stream(path) == Path(path)
        write_text(path, "text")
    assert capsys.readouterr().out == "texttext"
    write_text("/dev/null", "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text("/dev/full", "text")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    fifo = _fifo(tmp_path / "fifo")
    reader = subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE)
    write_text(fifo, "text")
    assert reader.communicate()[0] == b"text"
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    with pytest.raises(ArgumentError, match="expected a regular file, got a directory"):
        checked_stream(tmp_path)


def test_array_file_has_the_given_name(tmp_path: Path) -> None:
    write_array(tmp_path / "y", np.arange(3))
    assert np.load(tmp_path / "y").tolist() == [0, 1, 2]


def test_folders(tmp_path: Path) -> None:
    assert checked_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ArgumentError, match=r"--cache .*/file: cannot be written: expected a folder, got a file"
    ):
        checked_folder(tmp_path / "file", option="--cache")
    with pytest.raises(ArgumentError, match=r"/file/b: cannot be written: "):
        checked_folder(tmp_path / "file" / "b")
    with pytest.raises(ArgumentError, match="expected a folder, got a file"):
        checked_folder("/dev/full")
