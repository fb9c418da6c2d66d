"""A tuning that is killed or interrupted at any moment leaves complete files, and the same command
continues from there."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from runtime_fixtures import in_child

import convoy_runtime
from convoy.cli.main import main as convoy
from convoy_runtime.cuda.plans.plan_file import read_file
from convoy_runtime.opening import open_artifact

#: Python's audit events before a file is opened or changed.
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.chmod"}


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


def tune(path: Path, end: Callable[[], None] | None = None, *, at: int = 0) -> tuple[int, int]:
    """Tunes an artifact in another process, which ends just before its `at`-th change of a file
    next to the artifact. Returns its exit code and the number of changes."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        seen = 0

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal seen
            if event in EVENTS and str(arguments[0]).startswith(str(path.parent)):
                seen += 1
                os.write(writer, b".")
                if end is not None and seen == at:
                    end()

        sys.addaudithook(hook)
        code = 1
        try:
            code = convoy(["tune", str(path), "-q"])
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        changes = len(pipe.read())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), changes


def load_and_close(path: Path, engine: int | None = None, **options: Any) -> None:
    """Runs in a child: once this process has initialized CUDA, its children could not."""
    with convoy_runtime.load(path, **options) as program:
        assert engine in (None, program.plans[0].engine)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("end", "code"), [(kill, -signal.SIGKILL), (interrupt, 130)])
def test_tuning_that_ends_at_any_moment(
    conv: Path,
    fake_cudnn: ctypes.CDLL,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[], None],
    code: int,
) -> None:
    fake_cudnn.fake_offer(6)
    untuned = conv.read_bytes()

    def start(name: str) -> tuple[Path, Path]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "conv").write_bytes(untuned)
        monkeypatch.setenv("CONVOY_CACHE", str(folder / "cache"))
        return folder / "conv", folder / "cache"

    path, _ = start("whole")
    done, changes = tune(path)
    assert done == 0
    tuned = path.read_bytes()
    assert changes > 8
    kept = 0
    for at in range(1, changes + 1):
        path, cache = start(f"{end.__name__} {at}")
        ended, _ = tune(path, end, at=at)
        assert ended == code
        # The artifact is the old or the new one, and every file of the store is complete.
        assert path.read_bytes() in (untuned, tuned)
        open_artifact(path).verify()
        files = list(cache.rglob("*.json"))
        assert all(read_file(file.read_bytes()) is not None for file in files)
        kept += bool(files)
        if end is interrupt:
            assert {file for file in path.parent.rglob("*") if file.is_file()} == {path, *files}
        # The next load works, and the same command continues, which takes longer to check.
        if at % 3:
            in_child(partial(load_and_close, path, plan_cache=cache))
            continue
        assert tune(path)[0] == 0
        in_child(partial(load_and_close, path, plan_cache=False, strict=True, engine=41))
    assert 0 < kept < changes
