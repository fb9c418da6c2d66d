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
from tools.support_table.conditions import after_of, is_accepted
from tools.support_table.differences import MEASURED, section, with_device
from tools.support_table.document import DOCUMENT
from tools.support_table.generate import dump
from tools.support_table.gradients import gradient_cases
from tools.support_table.graphs import graph_cases
from tools.support_table.groups import ROLES, Shape
from tools.support_table.library import prepare, query_offline, refusals
from tools.support_table.matrix import DTYPES, Case, Cell, group_cases, group_of
from tools.support_table.verdict import judge

TEXT = TABLE.read_text()
ROWS = json.loads(TEXT)
GROUPS = [*group_cases(), *gradient_cases()]
CASES = [*GROUPS, *graph_cases()]
#: Ranks of the tensors of convolutions. conv1d has a height of 1.
RANKS = {
    **{"conv1d": 4, "conv2d": 4, "conv3d": 5},
    **{f"{mode}{rank}d": rank + 2 for mode in ("dgrad", "wgrad") for rank in (1, 2, 3)},
}
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
            if cell.rank != RANKS.get(cell.anchor, cell.rank):
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
