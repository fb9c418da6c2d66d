"""The folder where plans are kept: for its user alone, because a plan may hold machine code, and
whole files only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from convoy_runtime.cuda.plans.store import PlanStore, Scope
from convoy_runtime.errors import ConvoyRuntimeWarning

SCOPE = Scope("NVIDIA H200", 91900, 13000)


def kept(folder: Path) -> Path:
    """A store in a folder that has one plan; the plan's file."""
    PlanStore(folder, SCOPE).store("graph", "options", "quick", "plan", {})
    (file,) = (folder / "plans").iterdir()
    return file


def test_files_and_folders_are_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = kept(tmp_path / "cache" / "convoy")
    finally:
        os.umask(before)
    # Those above may be others' as well, as ~/.cache is.
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
def test_what_any_user_may_have_written_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = kept(tmp_path)
    store = PlanStore(tmp_path, SCOPE)
    file.chmod(0o666)
    with pytest.warns(
        ConvoyRuntimeWarning,
        match=(
            rf"{file} is not used: any user of this machine may have written it; keep plans in "
            r"a folder"
        ),
    ):
        assert store.load("graph", "options") == []
    # Once is enough.
    assert store.load("graph", "options") == []
    file.chmod(0o644)
    assert len(store.load("graph", "options")) == 1
    # Another's file: in a folder where anyone may put it, as /tmp, or in one that someone keeps for
    # others.
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    os.chown(file, 54321, -1)
    assert len(store.load("graph", "options")) == 1
    file.parent.chmod(0o1777)
    with pytest.warns(ConvoyRuntimeWarning, match="any user of this machine may have written it"):
        assert PlanStore(tmp_path, SCOPE).load("graph", "options") == []
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert len(PlanStore(tmp_path, SCOPE).load("graph", "options")) == 1


def test_a_fifo_in_the_folder_is_no_plan(tmp_path: Path) -> None:
    file = kept(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert PlanStore(tmp_path, SCOPE).load("graph", "options") == []
