"""Generation of the support table's rows, and of the differences of a device."""

from __future__ import annotations

from itertools import product
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from tools.support_table.conditions import Condition, is_accepted
from tools.support_table.differences import differences, section, with_device
from tools.support_table.generate import generate_table
from tools.support_table.groups import Shape
from tools.support_table.matrix import Case, Cell, group_of
from tools.support_table.table import covers, rows_of, without_refused

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
