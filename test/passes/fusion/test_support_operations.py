"""The section `operations` of the support table, compared with the real cuDNN. Needs no GPU."""

from __future__ import annotations

import json
import re
import zlib
from itertools import product
from typing import Any

import pytest
from crashing import dies_at_once, dies_on_bad
from operation_graphs import GRAPHS, Graph

from tools.descriptors import find_header, read_header
from tools.support_table.__main__ import TABLE
from tools.support_table.cases import all_cases
from tools.support_table.conditions import is_accepted
from tools.support_table.differences import MEASURED, with_device
from tools.support_table.document import DOCUMENT, operations_section
from tools.support_table.library import prepare, query_offline
from tools.support_table.operations import (
    OperationCase,
    axes_of,
    disagreements,
    missed,
    operation_rows,
    row_of,
)
from tools.support_table.query import query_all

ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text())["operations"]
CASES = [case for case in all_cases() if isinstance(case, OperationCase)]
#: One of this many graphs is queried, and one for each row.
EVERY = 60


def _sample() -> list[OperationCase]:
    """Returns a fixed sample of the graphs."""
    chosen, seen = [], set()
    for case in CASES:
        row = id(row_of(case, ROWS))
        if zlib.crc32(case.key.encode()) % EVERY == 0 or row not in seen:
            chosen.append(case)
        seen.add(row)
    return chosen


SAMPLE = _sample()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns cuDNN's answers about the sample and about GRAPHS, by symbol."""
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not installed")
    folder = tmp_path_factory.mktemp("operations")
    prepare([*SAMPLE, *(Graph(name, text) for name, text in GRAPHS.items())], folder)
    found = query_offline(folder, folder / "answers.json")
    return (with_device(found, json.loads(MEASURED.read_text())) if MEASURED.exists() else found)[
        "graphs"
    ]


def test_section_and_cudnn_agree(answers: dict[str, Any]) -> None:
    assert len(SAMPLE) > len(ROWS)
    found = list(disagreements(SAMPLE, answers, ROWS, ROWS))
    assert not found, "\n".join(found)
    assert {is_accepted(answers[case.key]) for case in SAMPLE} == {True, False}


def test_rows_span_the_points_of_the_graphs() -> None:
    """Every queried point is in exactly one row, and rows have no other points."""
    points = {(case.operation, *case.axes.items()) for case in CASES}
    spanned = [
        (row["operation"], *zip(axes_of(row), values,
        strict=True)) for row in ROWS for values in product(*axes_of(row).values())
    ]  # fmt: skip
    assert len(spanned) == len(set(spanned))
    assert set(spanned) == points
    assert {case.operation for case in CASES} == {row["operation"] for row in ROWS}


def test_every_operation_of_the_dialect_is_queried() -> None:
    """Every operation of dialect `cudnn` is in a graph of the matrix."""
    folder = TABLE.parents[2] / "dialect/cudnn"
    operations = {
        name
        for path in folder.glob("*.td")
        for name in re.findall(r'Cudnn_ComputeOp<"(\w+)"', path.read_text())
    }
    queried = {
        name
        for case in all_cases()
        if not case.is_group
        for name in re.findall(r"= cudnn\.(\w+)", case.text)
    }
    # pointwise_relu becomes a pointwise operation before graphs are converted to descriptors.
    assert operations - {"pointwise_relu"} == queried


def test_document_has_the_section() -> None:
    assert operations_section(ROWS) in DOCUMENT.read_text()


def test_numbers_of_legacy_reductions() -> None:
    """The operators of legacy reductions have the numbers of cuDNN's header."""
    header = find_header()
    if header is None:
        pytest.skip("the nvidia-cudnn wheel is not installed")
    numbers = read_header(header)["cudnnReduceTensorOp_t"]
    legacy = {case.axes["modes"]: case.reduction for case in CASES if case.reduction is not None}
    assert legacy == {
        mode: numbers[f"CUDNN_REDUCE_TENSOR_{mode.upper()}"]
        for mode in ("avg", "norm1", "norm2", "mul_no_zeros")
    }


# Engines for the handwritten graphs of the lowering's tests, which are independent of the matrix.

WITH_ENGINES = {
    "batch_norm_training", "batch_norm_no_running", "batch_norm_peers", "batch_norm_backward",
    "instance_norm_inference",
    "instance_norm_training", "instance_norm_backward", "layer_norm_inference",
    "layer_norm_training", "layer_norm_no_scale",
    "layer_norm_two_dims", "layer_norm_rank_two", "layer_norm_backward",
    "layer_norm_backward_no_scale", "rms_norm_inference",
    "rms_norm_training", "rms_norm_backward", "ada_layer_norm_inference",
    "ada_layer_norm_training", "ada_layer_norm_backward",
    "bn_finalize_training", "conv_gen_stats", "scale_bias_relu_conv_gen_stats", "sdpa_64",
    "sdpa_128", "sdpa_grouped_stats",
    "sdpa_padded", "sdpa_paged", "moe", "moe_gather",
}  # fmt: skip
WITHOUT = {
    "batch_norm_inference", "group_norm_inference", "bn_finalize_no_running",
    "bn_finalize_inference", "bn_bwd_weights", "gen_stats",
    "concat", "concat_in_place", "concat_rank_two", "reshape", "rng_bernoulli", "rng_uniform",
    "rng_normal", "sdpa_block_mask",
    "paged_cache_load", "moe_scatter", "expand_band", "contract_band",
    # Block scaling needs tensor cores that sm_90 does not have.
    "block_scale_quantize", "block_scale_quantize_rows", "block_scale_quantize_matrix",
    "block_scale_dequantize",
    "block_scale_quantize_plain_matrix", "block_scale_dequantize_tiles", "block_scaled_matmul",
    "block_scaled_matmul_two_sizes", "signals",
    # The gradient needs at least two peers, composed attention the logarithms of its sums.
    "batch_norm_backward_peers", "sdpa_64_composed", "sdpa_128_composed",
}  # fmt: skip


def test_families_with_engines(answers: dict[str, Any]) -> None:
    assert {name for name in GRAPHS if is_accepted(answers[name])} == WITH_ENGINES
    assert {name for name in GRAPHS if not is_accepted(answers[name])} == WITHOUT


# Generation of rows.


def _case(key: str, operation: str = "concat", **axes: str | int) -> OperationCase:
    return OperationCase(key, operation, {"dtypes": "f16", **axes})


def _answer(*engines: int, strict: bool = True, rejected: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "engines": {"A": list(engines)},
        "strict": strict,
        "kinds": ["generated"],
        "rejected": list(rejected),
    }


def test_rows_span_exactly_the_queried_points() -> None:
    cases = [
        _case(f"{dtype}{rank}", dtypes=dtype, ranks=rank)
        for dtype, rank in (("f16", 3), ("f16", 4), ("f32", 3))
    ]
    rows = operation_rows(cases, {case.key: _answer(1) for case in cases})
    assert all(row["takes"] for row in rows)
    spanned = [point for row in rows for point in product(row["dtypes"], row["ranks"])]
    assert sorted(spanned) == [("f16", 3), ("f16", 4), ("f32", 3)]


def test_point_with_refused_graphs_is_refused() -> None:
    cases = [_case("a"), _case("b"), _case("c", dtypes="f32")]
    rejected = (
        "heuristic A: no engine: CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: dims != 4",
        "heuristic FALLBACK: no engine: other",
    )
    answers = {"a": _answer(1), "b": _answer(rejected=rejected), "c": _answer(rejected=rejected)}
    rows = operation_rows(cases, answers)
    (row,) = rows
    assert (row["dtypes"], row["takes"], row["reason"]) == (
        ["f16", "f32"],
        False,
        "2 of 3 graphs: dims != 4",
    )
    assert list(missed(cases, answers, rows)) == [
        ("a", "not all graphs of the point: 2 of 3 graphs: dims != 4")
    ]
    assert not list(disagreements(cases, answers, rows, rows))


def test_reasons_are_cudnns_messages() -> None:
    def reason(*rejected: str) -> str:
        (row,) = operation_rows([_case("a")], {"a": _answer(rejected=rejected)})
        return str(row["reason"])

    assert reason("CUDNN_STATUS_BAD_PARAM: !scaleUsed") == "!scaleUsed"
    assert reason("CUDNN_STATUS_NOT_SUPPORTED: ") == "CUDNN_STATUS_NOT_SUPPORTED"
    assert (
        reason("heuristic A: no engine: no reason given", "heuristic FALLBACK: CUDNN_STATUS_X: why")
        == "why"
    )
    assert (
        reason(
            "heuristic A: no engine: Error: CUDNN_STATUS_X; Reason: b; CUDNN_STATUS_Y; Reason: a"
        )
        == "a"
    )
    assert reason() == "no reason given"
    assert len(reason("heuristic A: no engine: " + "x" * 200)) <= 110


def test_disagreements() -> None:
    case = _case("a")
    (yes,), (no,), (tf32,) = (
        operation_rows([case], {"a": answer})
        for answer in (_answer(1), _answer(), _answer(1, strict=False))
    )
    assert tf32["tf32"]

    def found(answer: dict[str, Any], row: dict[str, Any] | None, own: dict[str, Any]) -> list[str]:
        return list(disagreements([case], {"a": answer}, [row] if row else [], [own]))

    assert not found(_answer(1), yes, yes)
    assert not found(_answer(), no, no)
    assert not found(_answer(1, strict=False), tf32, tf32)
    assert found(_answer(1), None, yes) == ["a: the table has no row for concat (f16)"]
    assert found(_answer(rejected=("why",)), yes, no) == [
        "a: the table accepts concat (f16), cuDNN refuses it: why"
    ]
    assert found(_answer(1), no, yes) == [
        "a: cuDNN accepts concat (f16), the table refuses it: no reason given"
    ]
    assert found(_answer(1, strict=False), yes, tf32) == [
        "a: the table accepts concat (f16) without TF32, cuDNN refuses it: "
        "all engines round to TF32"
    ]
    assert found(_answer(1), tf32, yes) == [
        "a: cuDNN accepts concat (f16) without TF32, the table refuses it"
    ]


def test_row_of_a_point() -> None:
    """Other axes, and other values, are other points."""
    rows = operation_rows([_case("a", ranks=3)], {"a": _answer(1)})
    assert row_of(_case("b", ranks=3), rows) is rows[0]
    assert row_of(_case("b", ranks=4), rows) is None
    assert row_of(_case("b"), rows) is None
    assert row_of(_case("b", "reshape", ranks=3), rows) is None


def test_section_lists_values_without_engines() -> None:
    rows = [
        {
            "operation": "a",
            "takes": True,
            "modes": ["m", "n"],
            "dtypes": ["f16"],
            "ranks": [4],
            "since": 1,
            "note": "",
        },
        {
            "operation": "a",
            "takes": False,
            "modes": ["m", "n"],
            "dtypes": ["f16", "f32"],
            "ranks": [3, 4],
            "since": 1,
            "note": "",
        },
        {"operation": "b", "takes": False, "dtypes": ["f16"], "ranks": [3], "since": 1, "note": ""},
    ]
    assert operations_section(rows).splitlines()[2:] == [
        "| a | m, n | f16 | ranks 3 |",
        "| b | - | none |  |",
    ]


# Queries in processes that crash.


def test_crash_refuses_only_the_graph() -> None:
    parts = [["a", "bad1", "b"], ["c", "d"], ["e", "bad2"], ["f"]]
    answers = {
        name: answer
        for part in query_all(parts, dies_on_bad, 2, float("inf"))
        for name, answer in part.items()
    }
    assert sorted(answers) == sorted(name for names in parts for name in names)
    assert {name for name, answer in answers.items() if not is_accepted(answer)} == {"bad1", "bad2"}
    assert answers["bad1"]["rejected"] == ["cuDNN crashes"]


def test_crash_before_the_first_query() -> None:
    with pytest.raises(
        RuntimeError, match="the processes that query cuDNN die before the first query"
    ):
        list(query_all([["a"], ["b"]], dies_at_once, 2, float("inf")))


def test_deadline() -> None:
    with pytest.raises(TimeoutError):
        list(query_all([["a"]], dies_on_bad, 1, 0.0))
