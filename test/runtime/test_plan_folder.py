"""The folder of plans: accessible only to its user, because a plan may hold machine code, and with
complete files only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from convoy_runtime.cuda.plans.store import PlanStore, Scope
from convoy_runtime.errors import ConvoyRuntimeWarning

SCOPE = Scope("NVIDIA H200", 91900, 13000)


def kept(folder: Path) -> Path:
    """A store in a folder with one plan; returns the plan's file."""
    PlanStore(folder, SCOPE).store("graph", "options", "quick", "plan", {})
    (file,) = (folder / "plans").iterdir()
    return file


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = kept(tmp_path / "cache" / "convoy")
    finally:
        os.umask(before)
    # Parent folders may be accessible to others, e.g. ~/.cache.
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]
    assert [
        record.plan
        for record in PlanStore(tmp_path / "cache" / "convoy", SCOPE).load("graph", "options")
    ] == ["plan"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_files_that_other_users_could_have_written_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = kept(tmp_path)
    store = PlanStore(tmp_path, SCOPE)
    file.chmod(0o666)
    with pytest.warns(
        ConvoyRuntimeWarning,
        match=(
            rf"{file} is not used: any user of this machine can write it; use a folder that "
            r"only you can write"
        ),
    ):
        assert store.load("graph", "options") == []
    # One warning is enough.
    assert store.load("graph", "options") == []
    file.chmod(0o644)
    assert len(store.load("graph", "options")) == 1
    # A file of another user: in a folder that everyone may write to, e.g. /tmp, or in a shared one.
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    os.chown(file, 54321, -1)
    assert len(store.load("graph", "options")) == 1
    file.parent.chmod(0o1777)
    with pytest.warns(ConvoyRuntimeWarning, match="any user of this machine can write it"):
        assert PlanStore(tmp_path, SCOPE).load("graph", "options") == []
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert len(PlanStore(tmp_path, SCOPE).load("graph", "options")) == 1


def test_fifo_in_the_folder_is_ignored(tmp_path: Path) -> None:
    file = kept(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert PlanStore(tmp_path, SCOPE).load("graph", "options") == []
