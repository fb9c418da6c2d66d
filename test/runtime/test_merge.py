"""Merging of plan stores keeps the plan of the highest level."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime_fixtures import affine_manifest

from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime import ArgumentError, ArtifactError
from convoy_runtime.cuda.plans.merge import Merged, merge
from convoy_runtime.cuda.plans.plan_file import (
    LEVELS,
    PlanFile,
    Record,
    file_name,
    read_file,
    write_file,
)
from convoy_runtime.cuda.plans.store import PlanStore, Scope

#: A record: GPU, cuDNN, driver, graph, level.
Key = tuple[str, int, int, str, str]

stores = st.lists(
    st.tuples(
        st.sampled_from(["H200", "L4"]), st.sampled_from([91800, 91900]), st.sampled_from([12080,
        13000]),
        st.sampled_from(["conv", "matmul"]), st.sampled_from(LEVELS),
    ),
    max_size=8,
)  # fmt: skip


def fill(folder: Path, keys: Sequence[Key]) -> Path:
    """A store with these records."""
    (folder / "plans").mkdir(parents=True, exist_ok=True)
    for gpu, cudnn, driver, graph, level in keys:
        PlanStore(folder, Scope(gpu, cudnn, driver)).store(
            graph, "options", level, f"plan of {folder.name}", {"engine": 1}
        )
    return folder


def records(folder: Path) -> dict[tuple[str, int, int, str], Record]:
    """The records of a store."""
    files = [read_file(path.read_bytes()) for path in (folder / "plans").glob("*.json")]
    return {
        (file.gpu, each.cudnn, each.driver, file.graph): each
        for file in files
        if file is not None
        for each in file.records
    }


def best(*sources: Path) -> dict[tuple[str, int, int, str], str]:
    """For each key, the highest level in any source."""
    found: dict[tuple[str, int, int, str], str] = {}
    for scope, record in (item for source in sources for item in records(source).items()):
        found[scope] = max(found.get(scope, record.level), record.level, key=LEVELS.index)
    return found


@settings(max_examples=60, deadline=None)
@given(stores, stores, stores)
def test_highest_level_is_kept(first: list[Key], second: list[Key], third: list[Key]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        sources = [
            fill(top / f"source {index}", keys) for index, keys in enumerate((first, second, third))
        ]
        before = [records(source) for source in sources]
        merge(top / "all", sources)
        assert {scope: record.level for scope, record in records(top / "all").items()} == best(
            *sources
        )
        # Of records with equal levels the first one is kept.
        for scope, record in records(top / "all").items():
            holders = [
                index
                for index, source in enumerate(before)
                if scope in source and source[scope].level == record.level
            ]
            assert record.plan == f"plan of source {holders[0]}"
        # Merging one source at a time gives the same result, and another order gives the same
        # levels; merging again changes nothing.
        for source in sources:
            merge(top / "each", [source])
        assert records(top / "each") == records(top / "all")
        merge(top / "back", sources[::-1])
        assert best(top / "back") == best(*sources)
        again = merge(top / "all", sources)
        assert (again.new, again.better) == (0, 0)
        assert [records(source) for source in sources] == before


def test_load_from_a_merged_store(tmp_path: Path) -> None:
    """Copying one file over the other would have lost the plan for the older cuDNN and the one of
    the higher level."""
    here, other = (
        fill(
            tmp_path / "here",
            [("H200", 91800, 13000, "conv", "full"), ("H200", 91900, 13000, "conv", "full")],
        ),
        tmp_path / "other",
    )
    fill(
        other,
        [
            ("H200", 91900, 13000, "conv", "quick"),
            ("H200", 92000, 13000, "conv", "quick"),
            ("H200", 91900, 13000, "matmul", "off"),
        ],
    )
    assert merge(here, [other]) == Merged(new=1, better=1, known=0, unreadable=())
    for version, level in ((91800, "full"), (91900, "full"), (92000, "quick")):
        record, *others = PlanStore(here, Scope("H200", version, 13000)).load("conv", "options")
        assert (record.cudnn, record.level, len(others)) == (version, level, 2)


def test_measured_plans_take_precedence(tmp_path: Path) -> None:
    """Also with another cuDNN: engine and knobs that were the fastest there are better than this
    cuDNN's first plan."""
    levels = (
        ("off", 91900),
        ("quick", 91800),
        ("full", 91800),
        ("offline", 91900),
        ("quick", 91900),
        ("exhaustive", 91700),
    )
    expected = [
        ("quick", 91900),
        ("exhaustive", 91700),
        ("full", 91800),
        ("quick", 91800),
        ("off", 91900),
        ("offline", 91900),
    ]
    records = tuple(Record(cudnn, 13000, level, "", {}) for level, cudnn in levels)
    name, file = file_name("H200", "options", "conv"), PlanFile("H200", "conv", "options", records)
    found = PlanStore(None, Scope("H200", 91900, 13000), {name: write_file(file)}).load(
        "conv", "options"
    )
    assert [(record.level, record.cudnn) for record in found] == expected


def test_artifact_as_a_source(tmp_path: Path, affine_so: bytes) -> None:
    scope = Scope("H200", 91900, 13000)
    member = dict(
        [PlanStore(None, scope).member("conv", "options", "quick", "plan", {"engine": 1})]
    )
    write_artifact(
        tmp_path / "model",
        replace(affine_manifest(), weights=(), prepared=()),
        {"native.so": affine_so, **member},
    )
    assert merge(tmp_path / "store", [tmp_path / "model"]).new == 1
    (record,) = PlanStore(tmp_path / "store", scope).load("conv", "options")
    assert (record.level, record.plan, record.shipped) == ("quick", "plan", False)


def test_unreadable_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = fill(tmp_path / "here", [("H200", 91900, 13000, "conv", "quick")])
    other = fill(
        tmp_path / "other",
        [("H200", 91900, 13000, "conv", "full"), ("L4", 91900, 13000, "conv", "full")],
    )
    (file,) = (here / "plans").iterdir()
    for damage in (b"", b"[]", file.read_bytes()[:-9], file.read_bytes().replace(b"H200", b"L4")):
        file.write_bytes(damage)
        assert merge(here, [other]).better == 0
        assert best(here) == best(other)
    broken = other / "plans" / "broken.json"
    broken.write_text("{")
    assert convoy(["merge", str(tmp_path / "new"), str(other), str(here)]) == 0
    expected_output = (
        f"  skipped, because it cannot be read: {broken}\n{tmp_path}/new: 2 new, 0 with "
        "better or more plans, 2 already known\n"
    )
    assert capsys.readouterr().out == expected_output
    assert best(tmp_path / "new") == best(other)


def test_invalid_stores_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = fill(tmp_path / "other", [("H200", 91900, 13000, "conv", "full")])
    expected = (
        r"is not a plan store: expected an artifact, or a folder that contains plans/, e.g. "
        r"~/.cache/convoy"
    )
    for source in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ArgumentError, match=f"{source}: {expected}"):
            merge(tmp_path / "here", [other, source])
    (tmp_path / "file").write_text("text")
    with pytest.raises(ArtifactError):
        merge(tmp_path / "here", [other, tmp_path / "file"])
    # Nothing is written before all sources are checked.
    assert not (tmp_path / "here").exists()
    assert convoy(["merge", str(tmp_path / "file"), str(other)]) == 1
    assert (
        f"{tmp_path / 'file'}: cannot be written: expected a folder, got a file"
        in capsys.readouterr().err
    )
