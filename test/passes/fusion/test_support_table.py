"""The support table and the real cuDNN agree: what the table takes has an engine; what has one the
table takes, or it says why not.

No GPU is needed: cuDNN plans for the device that a JSON file describes. A sample of the matrix is
asked about here; `make support` asks about all of it.
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
from tools.support_table.graphs import graph_cases
from tools.support_table.groups import ROLES, Shape
from tools.support_table.library import ask_offline, prepare, refusals
from tools.support_table.made import dump, make_table
from tools.support_table.matrix import DTYPES, Case, Cell, group_cases, group_of
from tools.support_table.table import Condition, after_of, covers, rows_of, taken, without_refused
from tools.support_table.verdict import judge

TEXT = TABLE.read_text()
ROWS = json.loads(TEXT)
GROUPS = group_cases()
CASES = [*GROUPS, *graph_cases()]
#: Ranks of the tensors of convolutions: over one dim there is a height of 1.
RANKS = {"conv1d": 4, "conv2d": 4, "conv3d": 5}
#: One graph in so many is asked about here, beside one for each anchor and role.
EVERY = 40


def _sample() -> list[Case]:
    """The same graphs each time."""
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
    """What cuDNN says of the sample."""
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not there")
    folder = tmp_path_factory.mktemp("support")
    prepare(SAMPLE, folder)
    found = ask_offline(folder, folder / "answers.json")
    return with_device(found, json.loads(MEASURED.read_text())) if MEASURED.exists() else found


def test_the_matrix_is_large() -> None:
    assert len(CASES) > 300
    assert len({case.key for case in CASES}) == len(CASES)
    assert len(SAMPLE) > 300


def test_table_and_cudnn_agree(answers: dict[str, Any]) -> None:
    """The table must take no graph that cuDNN refuses. That it takes all that it could is judged by
    the whole matrix, in make support."""
    verdict = judge(SAMPLE, answers["graphs"], ROWS, ROWS)
    assert not verdict.disagreements, "\n".join(verdict.disagreements)
    assert verdict.graphs == len(SAMPLE)
    assert 0 < verdict.accepted < verdict.graphs


def test_a_wrong_table_disagrees(answers: dict[str, Any]) -> None:
    """Both ways: a row too many, and a row too few."""
    promising = copy.deepcopy(ROWS)
    row = {
        "anchors": ["conv2d"],
        "roles": ["relu"],
        "dtypes": ["bf16"],
        "layouts": ["channels_last"],
        "ranks": [4],
    }
    promising["rows"].append(
        {**row, "channel_groups": ["depthwise"], "since": 90000, "note": "wrong"}
    )
    case = next(case for case in GROUPS if case.key == "conv2d_relu__bf16_last_16x16_g64")
    silent = {"engines": {}, "rejected": ["no engine"], "strict": False}
    verdict = judge([case], {case.key: silent}, promising, ROWS)
    assert verdict.disagreements == (
        f"{case.key}: the table takes conv2d+relu, cuDNN does not: no engine",
    )

    sparing = copy.deepcopy(ROWS)
    sparing["rows"] = [row for row in sparing["rows"] if "conv2d" not in row["anchors"]]
    case = next(case for case in GROUPS if case.key == "conv2d_bias__f16_last_16x16")
    verdict = judge(
        [case],
        answers["graphs"] | {case.key: {"engines": {"A": [41]}, "strict": True}},
        sparing,
        ROWS,
    )
    (line,) = verdict.disagreements
    assert line.startswith(f"{case.key}: cuDNN takes conv2d+bias, the table does not: ")
    assert verdict.missed


def test_strict_is_judged_too() -> None:
    """Where TF32 is forbidden, a row whose engines all use it takes nothing."""
    case = next(case for case in GROUPS if case.key.startswith("matmul__f32_rows_4x8"))
    rounded = {"engines": {"A": [7]}, "strict": False, "kinds": ["generated"]}
    assert not judge([case], {case.key: rounded}, ROWS, ROWS).disagreements
    claiming = copy.deepcopy(ROWS)
    for row in claiming["rows"]:
        row.pop("tf32", None)
    (line,) = judge([case], {case.key: rounded}, claiming, ROWS).disagreements
    assert line.endswith(
        "the table takes matmul without TF32, cuDNN does not: every engine rounds to TF32"
    )


def test_every_row_has_evidence() -> None:
    """Each anchor, role, dtype, layout, rank and kind of channel groups that a row takes was asked
    about."""
    asked = {(case.cell, after_of(case)) for case in CASES if case.cell is not None}
    cells = {cell for cell, _ in asked}
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
                assert (cell, after) in asked, (cell, after)


def test_every_refusal_speaks_of_something() -> None:
    """A refusal holds for a graph of the matrix, and its reason is the one that the compiler
    gives."""
    found = "\n".join(refusals(GROUPS, TABLE).values())
    for refusal in ROWS["refusals"]:
        assert refusal["reason"] in found


def test_known_trouble_stays_refused() -> None:
    """cuDNN offers engines for these, and they are wrong."""
    found = refusals(GROUPS)
    for key in (
        "max_pool__bf16_last_16x16_w2_s2",
        "avg_pool__f16_last_32_w2_s2",
        "mean__bf16_last_4x8x8_w2_s2",
    ):
        assert key in found


def test_built_in_table_is_the_file() -> None:
    """convoy-opt was built with the table as it is now."""
    some = GROUPS[::40]
    assert refusals(some) == refusals(some, TABLE)


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


def test_a_refusal_narrows_a_cell() -> None:
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


def _made(answers: dict[Case, dict[str, Any]], role: str) -> list[dict[str, Any]]:
    """The rows for a role that answers make; the anchor and a bias on it are taken beside them."""
    shapes = [Shape(), Shape(channels=65), Shape(dtype="bf16", groups=64), Shape(dtype="f32")]
    plain = [
        group_of("conv2d", shape, (), after, role=after[0] if after else "anchor")
        for shape in shapes
        for after in ((), ("bias",))
    ]
    every = {case: _answer(1) for case in plain} | answers
    graphs = {case.key: answer for case, answer in every.items()}
    table = make_table(
        list(every), {"cudnn": "", "device": "", "graphs": graphs}, {"about": "", "refusals": []}
    )
    return [row for row in table["rows"] if role in row["roles"]]


def test_a_role_that_follows_only_some() -> None:
    """What cuDNN takes after a bias and not alone becomes a row with `after`."""
    shape = Shape(dtype="bf16", groups=64)
    alone, after = (
        group_of("conv2d", shape, (), roles, role="relu") for roles in (("relu",), ("bias", "relu"))
    )
    (row,) = _made({alone: _answer(), after: _answer(0)}, "relu")
    assert row["after"] == ["bias"]
    (row,) = _made({alone: _answer(1), after: _answer(0)}, "relu")
    assert "after" not in row
    assert not _made({alone: _answer(), after: _answer()}, "relu")


def test_a_role_is_not_blamed_for_another() -> None:
    """A graph that is refused because of one of its roles says nothing of the others."""
    gate, relu, both = (
        group_of("conv2d", Shape(), (), roles, role=roles[-1])
        for roles in (("gate",), ("relu",), ("gate", "relu"))
    )
    (row,) = _made({gate: _answer(), relu: _answer(7), both: _answer()}, "relu")
    assert "after" not in row
    (row,) = _made({gate: _answer(7), relu: _answer(7), both: _answer()}, "relu")
    assert row["after"] == [""]


def test_f32_without_tf32_has_a_row_of_its_own() -> None:
    """Where only some graphs of f32 need TF32, one row says which do not, and the other that all do
    with it."""
    shape = Shape(dtype="f32")
    alone, after = (
        group_of("conv2d", shape, (), roles, role="relu") for roles in (("relu",), ("bias", "relu"))
    )
    rounded = _answer(7, strict=False)
    exact, wide = sorted(
        _made({alone: rounded, after: _answer(1)}, "relu"), key=lambda row: "tf32" in row
    )
    assert exact["after"] == ["bias"]
    assert wide["tf32"]
    assert "after" not in wide
    (row,) = _made({alone: rounded, after: rounded}, "relu")
    assert row["tf32"]


def test_alignment_is_what_was_asked() -> None:
    """Channels are narrowed to the least alignment that cuDNN takes and was asked about; other
    windows count as well."""
    cases = [
        group_of("conv2d", Shape(channels=channels), ("relu",), role="prologue_relu")
        for channels in (64, 68, 66, 65)
    ]
    cases.append(group_of("conv2d", Shape(kernel=1), ("relu",), role="prologue_relu"))

    def made(*accepted: bool) -> list[dict[str, Any]]:
        return _made(
            {case: _answer(*[7] * yes) for case, yes in zip(cases, accepted, strict=True)},
            "prologue_relu",
        )

    assert "channel_bytes" not in made(True, True, True, True, True)[0]
    assert made(True, True, True, False, True)[0]["channel_bytes"] == 4
    assert made(True, True, False, False, True)[0]["channel_bytes"] == 8
    assert made(True, False, True, False, True)[0]["channel_bytes"] == 16
    assert made(True, True, True, True, False) == []


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
    assert [key for key in narrowed if taken(narrowed[key])] == ["a", "e"]
    assert narrowed["d"]["rejected"] == ["on a GPU: NVRTC"]
    assert "| taken there alone | 1 | `c` |" in section(found)


@pytest.mark.skipif(not MEASURED.exists(), reason="nothing was measured on a device yet")
def test_document_says_what_was_measured() -> None:
    assert section(json.loads(MEASURED.read_text())) in DOCUMENT.read_text()


_SHAPES = {
    "conv1d": Shape(spatial=(40,)), "conv2d": Shape(spatial=(14, 14)), "conv3d": Shape(spatial=(4,
    6, 6)),
    "matmul": Shape(layout="row_major", spatial=(3, 10), outputs=48),
}  # fmt: skip


@st.composite
def _random_group(draw: st.DrawFn) -> Case:
    """Any chain through an anchor, with any sizes; the table is asked afterwards."""
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
def test_random_groups_that_the_table_takes(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    """Roles are asked about one by one; cuDNN takes them together as well."""
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not there")
    refused = refusals(cases)
    chosen = [case for case in cases if case.key not in refused]
    assert len(chosen) > 5
    folder: Path = tmp_path_factory.mktemp("random")
    prepare(chosen, folder)
    graphs = ask_offline(folder, folder / "answers.json")["graphs"]
    without = {
        case.key: graphs[case.key].get("rejected") for case in chosen if not taken(graphs[case.key])
    }
    assert not without
