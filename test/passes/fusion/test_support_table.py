"""The support table agrees with the real cuDNN: graphs that the table accepts have an engine, and it
accepts graphs with an engine or has a reason.

Needs no GPU, because cuDNN plans for a device described in JSON. Queries a sample of the matrix;
`make support` queries all of it.
"""

from __future__ import annotations

import copy
import json
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tools.support_table.__main__ import TABLE
from tools.support_table.differences import MEASURED, differences, section, with_device
from tools.support_table.document import DOCUMENT
from tools.support_table.generate import dump, generate_table
from tools.support_table.graphs import graph_cases
from tools.support_table.groups import ROLES, Shape
from tools.support_table.library import prepare, query_offline, refusals
from tools.support_table.matrix import DTYPES, Case, Cell, group_cases, group_of
from tools.support_table.table import (
    Condition,
    after_of,
    covers,
    is_accepted,
    rows_of,
    without_refused,
)
from tools.support_table.verdict import judge

TEXT = TABLE.read_text()
ROWS = json.loads(TEXT)
GROUPS = group_cases()
CASES = [*GROUPS, *graph_cases()]
#: Ranks of the tensors of convolutions. conv1d has a height of 1.
RANKS = {"conv1d": 4, "conv2d": 4, "conv3d": 5}
#: One of this many graphs is queried, and one for each anchor and role.
EVERY = 40


def _sample() -> list[Case]:
    """Returns a fixed sample of the graphs."""
    chosen, seen = [], set()
    for case in CASES:
        subject = case.cell and (case.cell.anchor, case.cell.role)
        if zlib.crc32(case.key.encode()) % EVERY == 0 or (
            case.is_group and subject is not None and subject not in seen
        ):
            chosen.append(case)
        seen.add(subject)
    return chosen


SAMPLE = _sample()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns cuDNN's answers about the sample."""
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    folder = tmp_path_factory.mktemp("support")
    prepare(SAMPLE, folder)
    found = query_offline(folder, folder / "answers.json")
    return with_device(found, json.loads(MEASURED.read_text())) if MEASURED.exists() else found


def test_size_of_the_matrix() -> None:
    assert len(CASES) > 300
    assert len({case.key for case in CASES}) == len(CASES)
    assert len(SAMPLE) > 300


def test_table_and_cudnn_agree(answers: dict[str, Any]) -> None:
    """The table accepts no graph that cuDNN refuses. `make support` also checks that it accepts all
    that it could."""
    verdict = judge(SAMPLE, answers["graphs"], ROWS, ROWS)
    assert not verdict.disagreements, "\n".join(verdict.disagreements)
    assert verdict.graphs == len(SAMPLE)
    assert 0 < verdict.accepted < verdict.graphs


def test_wrong_rows_are_disagreements(answers: dict[str, Any]) -> None:
    """A surplus row, and a missing row."""
    surplus = copy.deepcopy(ROWS)
    row = {
        "anchors": ["conv2d"],
        "roles": ["relu"],
        "dtypes": ["bf16"],
        "layouts": ["channels_last"],
        "ranks": [4],
    }
    surplus["rows"].append(
        {**row, "channel_groups": ["depthwise"], "since": 90000, "note": "wrong"}
    )
    case = next(case for case in GROUPS if case.key == "conv2d_relu__bf16_last_16x16_g64")
    refused = {"engines": {}, "rejected": ["no engine"], "strict": False}
    verdict = judge([case], {case.key: refused}, surplus, ROWS)
    assert verdict.disagreements == (
        f"{case.key}: the table accepts conv2d+relu, cuDNN refuses it: no engine",
    )

    incomplete = copy.deepcopy(ROWS)
    incomplete["rows"] = [row for row in incomplete["rows"] if "conv2d" not in row["anchors"]]
    case = next(case for case in GROUPS if case.key == "conv2d_bias__f16_last_16x16")
    verdict = judge(
        [case],
        answers["graphs"] | {case.key: {"engines": {"A": [41]}, "strict": True}},
        incomplete,
        ROWS,
    )
    (line,) = verdict.disagreements
    assert line.startswith(f"{case.key}: cuDNN accepts conv2d+bias, the table refuses it: ")
    assert verdict.missed


def test_f32_is_judged_without_tf32() -> None:
    """Without TF32, rows whose engines all use it accept nothing."""
    case = next(case for case in GROUPS if case.key.startswith("matmul__f32_rows_4x8"))
    rounded = {"engines": {"A": [7]}, "strict": False, "kinds": ["generated"]}
    assert not judge([case], {case.key: rounded}, ROWS, ROWS).disagreements
    without_tf32 = copy.deepcopy(ROWS)
    for row in without_tf32["rows"]:
        row.pop("tf32", None)
    (line,) = judge([case], {case.key: rounded}, without_tf32, ROWS).disagreements
    assert line.endswith(
        "the table accepts matmul without TF32, cuDNN refuses it: all engines round to TF32"
    )


def test_every_row_has_evidence() -> None:
    """Each anchor, role, dtype, layout, rank and kind of channel groups that a row accepts was
    queried."""
    queried = {(case.cell, after_of(case)) for case in CASES if case.cell is not None}
    cells = {cell for cell, _ in queried}
    for row in ROWS["rows"]:
        spans = (
            row["anchors"],
            row["roles"],
            row["dtypes"],
            row["layouts"],
            row["ranks"],
            row.get("channel_groups", [""]),
        )
        for values in product(*spans):
            cell = Cell(*values)
            if cell.anchor.startswith("conv") and cell.rank != RANKS[cell.anchor]:
                continue
            assert cell in cells, (cell, row["note"])
            for after in row.get("after", []):
                assert (cell, after) in queried, (cell, after)


def test_every_refusal_matches_a_graph() -> None:
    """Each refusal is the compiler's reason for a graph of the matrix."""
    found = "\n".join(refusals(GROUPS, TABLE).values())
    for refusal in ROWS["refusals"]:
        assert refusal["reason"] in found


def test_graphs_with_wrong_engines_are_refused() -> None:
    """cuDNN has engines for these graphs, but they are wrong."""
    found = refusals(GROUPS)
    for key in (
        "max_pool__bf16_last_16x16_w2_s2",
        "avg_pool__f16_last_32_w2_s2",
        "mean__bf16_last_4x8x8_w2_s2",
    ):
        assert key in found


def test_built_in_table_is_the_file() -> None:
    """convoy-opt was built with the current table."""
    sample = GROUPS[::40]
    assert refusals(sample) == refusals(sample, TABLE)


def test_text_of_the_table() -> None:
    assert dump(ROWS) == TEXT
    assert all(len(line) <= 140 for line in TEXT.splitlines() if not line.startswith('  "'))


_CELLS = st.sets(
    st.tuples(
        st.sampled_from(["f16", "bf16", "f32"]),
        st.sampled_from(["channels_last", "channels_first"]),
        st.sampled_from([2, 3, 4]),
    ),
    min_size=1,
)


@given(_CELLS, st.sets(st.sampled_from(["bias", "relu", "anchor"]), min_size=1))
def test_rows_span_the_cells_exactly(spans: set[tuple[str, str, int]], roles: set[str]) -> None:
    cells = {Cell("matmul", role, *span, ""): (Condition(16),) for span in spans for role in roles}
    rows = [
        {**vars(row), "channel_bytes": row.condition.channel_bytes, "channel_groups": []}
        for row in rows_of(cells)
    ]
    for values in product(
        ["bias", "relu", "anchor"],
        ["f16", "bf16", "f32"],
        ["channels_last", "channels_first"],
        [2, 3, 4],
    ):
        cell = Cell("matmul", *values, "")
        assert any(covers(row, cell, 32, "") for row in rows) == (cell in cells)
        assert not any(covers(row, cell, 8, "") for row in rows)


def test_refusal_narrows_a_cell() -> None:
    cell = Cell("conv2d", "prologue_relu", "f16", "channels_last", 4, "none")
    cells = {cell: (Condition(4),)}
    assert without_refused(cells, [{"anchors": ["conv2d"], "channel_bytes": 16, "reason": ""}]) == {
        cell: (Condition(16),)
    }
    assert without_refused(cells, [{"anchors": ["conv2d"], "dtypes": ["f16"], "reason": ""}]) == {}
    assert (
        without_refused(cells, [{"anchors": ["conv2d"], "dtypes": ["bf16"], "reason": ""}]) == cells
    )


def _answer(*engines: int, **more: Any) -> dict[str, Any]:
    return {
        "engines": {"A": list(engines), "FALLBACK": []},
        "strict": True,
        "kinds": ["precompiled"],
        **more,
    }


def _rows_from(answers: dict[Case, dict[str, Any]], role: str) -> list[dict[str, Any]]:
    """Returns the rows for a role that are generated from answers. The anchor and a bias are
    accepted in addition."""
    shapes = [Shape(), Shape(channels=65), Shape(dtype="bf16", groups=64), Shape(dtype="f32")]
    plain = [
        group_of("conv2d", shape, (), after, role=after[0] if after else "anchor")
        for shape in shapes
        for after in ((), ("bias",))
    ]
    every = {case: _answer(1) for case in plain} | answers
    graphs = {case.key: answer for case, answer in every.items()}
    table = generate_table(
        list(every), {"cudnn": "", "device": "", "graphs": graphs}, {"about": "", "refusals": []}
    )
    return [row for row in table["rows"] if role in row["roles"]]


def test_role_accepted_only_after_a_bias() -> None:
    """A role that cuDNN accepts after a bias, but not alone, has a row with `after`."""
    shape = Shape(dtype="bf16", groups=64)
    alone, after = (
        group_of("conv2d", shape, (), roles, role="relu") for roles in (("relu",), ("bias", "relu"))
    )
    (row,) = _rows_from({alone: _answer(), after: _answer(0)}, "relu")
    assert row["after"] == ["bias"]
    (row,) = _rows_from({alone: _answer(1), after: _answer(0)}, "relu")
    assert "after" not in row
    assert not _rows_from({alone: _answer(), after: _answer()}, "relu")


def test_graph_refused_because_of_another_role() -> None:
    """A graph that is refused because of one role is not evidence for the others."""
    gate, relu, both = (
        group_of("conv2d", Shape(), (), roles, role=roles[-1])
        for roles in (("gate",), ("relu",), ("gate", "relu"))
    )
    (row,) = _rows_from({gate: _answer(), relu: _answer(7), both: _answer()}, "relu")
    assert "after" not in row
    (row,) = _rows_from({gate: _answer(7), relu: _answer(7), both: _answer()}, "relu")
    assert row["after"] == [""]


def test_f32_without_tf32_has_a_separate_row() -> None:
    """If only some f32 graphs need TF32, one row accepts the others without it, and one row accepts
    all with it."""
    shape = Shape(dtype="f32")
    alone, after = (
        group_of("conv2d", shape, (), roles, role="relu") for roles in (("relu",), ("bias", "relu"))
    )
    rounded = _answer(7, strict=False)
    exact, wide = sorted(
        _rows_from({alone: rounded, after: _answer(1)}, "relu"), key=lambda row: "tf32" in row
    )
    assert exact["after"] == ["bias"]
    assert wide["tf32"]
    assert "after" not in wide
    (row,) = _rows_from({alone: rounded, after: rounded}, "relu")
    assert row["tf32"]


def test_alignment_is_the_smallest_accepted_one() -> None:
    """Channels are narrowed to the smallest queried alignment that cuDNN accepts, for all
    windows."""
    cases = [
        group_of("conv2d", Shape(channels=channels), ("relu",), role="prologue_relu")
        for channels in (64, 68, 66, 65)
    ]
    cases.append(group_of("conv2d", Shape(kernel=1), ("relu",), role="prologue_relu"))

    def rows(*accepted: bool) -> list[dict[str, Any]]:
        return _rows_from(
            {case: _answer(*[7] * yes) for case, yes in zip(cases, accepted, strict=True)},
            "prologue_relu",
        )

    assert "channel_bytes" not in rows(True, True, True, True, True)[0]
    assert rows(True, True, True, False, True)[0]["channel_bytes"] == 4
    assert rows(True, True, False, False, True)[0]["channel_bytes"] == 8
    assert rows(True, False, True, False, True)[0]["channel_bytes"] == 16
    assert rows(True, True, True, True, False) == []


def test_differences_of_a_device() -> None:
    here = {
        "graphs": {
            "a": _answer(7),
            "b": _answer(7),
            "c": _answer(),
            "d": _answer(7),
            "e": _answer(7),
        }
    }
    there = {
        "cudnn": "9.19.0", "device": "a GPU",
        "graphs": {
            "a": _answer(4, built=4), "b": _answer(rejected=["no engine"]), "c": _answer(4,
            built=4),
            "d": _answer(7, built=None, rejected=["NVRTC"]), "f": _answer(1),
        },
    }  # fmt: skip
    found = differences(here, there)
    assert (found["graphs"], found["taken"]) == (4, 3)
    assert found["refused"] == {"b": "no engine"}
    assert found["not_built"] == {"d": "NVRTC"}
    assert found["taken_there_alone"] == ["c"]
    assert found["other_first_engine"] == {"7 -> 4": 1}
    narrowed = with_device(here, found)["graphs"]
    assert [key for key in narrowed if is_accepted(narrowed[key])] == ["a", "e"]
    assert narrowed["d"]["rejected"] == ["on a GPU: NVRTC"]
    assert "| accepted only on the device | 1 | `c` |" in section(found)


@pytest.mark.skipif(not MEASURED.exists(), reason="no device was measured")
def test_document_has_the_differences() -> None:
    assert section(json.loads(MEASURED.read_text())) in DOCUMENT.read_text()


_SHAPES = {
    "conv1d": Shape(spatial=(40,)), "conv2d": Shape(spatial=(14, 14)), "conv3d": Shape(spatial=(4,
    6, 6)),
    "matmul": Shape(layout="row_major", spatial=(3, 10), outputs=48),
}  # fmt: skip


@st.composite
def _random_group(draw: st.DrawFn) -> Case:
    """Draws any chain with an anchor, with any sizes. It may not be accepted by the table."""
    anchor = draw(st.sampled_from(sorted(_SHAPES)))
    base = _SHAPES[anchor]
    roles = st.sampled_from(
        sorted(
            name
            for name, role in ROLES.items()
            if role.position == "epilogue" and name not in ("clamp", "cast")
        )
    )
    groups = draw(st.sampled_from([1, 1, 2, 4])) if anchor != "matmul" else 1
    shape = Shape(
        dtype=draw(st.sampled_from(sorted(DTYPES))), layout=base.layout, spatial=base.spatial,
        groups=groups,
        batch=draw(st.sampled_from([1, 2, 5])), channels=groups * draw(st.sampled_from([8, 24,
        32])),
        outputs=groups * draw(st.sampled_from([5, 8, 48])),
        kernel=draw(st.sampled_from([1, 3, 5])), stride=draw(st.sampled_from([1, 2])),
    )  # fmt: skip
    return group_of(
        anchor,
        shape,
        tuple(draw(st.lists(roles, max_size=1))),
        tuple(draw(st.lists(roles, max_size=4))),
    )


@settings(
    max_examples=1,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(_random_group(), min_size=60, max_size=60, unique_by=lambda case: case.key))
def test_random_groups_that_the_table_accepts(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    """The matrix queries roles separately; cuDNN must accept them together as well."""
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    refused = refusals(cases)
    chosen = [case for case in cases if case.key not in refused]
    assert len(chosen) > 5
    folder: Path = tmp_path_factory.mktemp("random")
    prepare(chosen, folder)
    graphs = query_offline(folder, folder / "answers.json")["graphs"]
    without = {
        case.key: graphs[case.key].get("rejected")
        for case in chosen
        if not is_accepted(graphs[case.key])
    }
    assert not without
