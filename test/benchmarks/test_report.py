"""Tables, ratios and merging of measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.cases import Case
from benchmarks.report import Result, Row, Run, best_peer, dump, load, markdown, merge


def fine(ms: float, error: float = 1e-4, seconds: float = 2.0) -> Result:
    return Result(ms=ms, error=error, seconds=seconds)


def run(*rows: Row, date: str = "2026-11-21", **versions: str) -> Run:
    return Run(
        date,
        "python -m benchmarks.compare build/bench",
        "NVIDIA H200",
        versions or {"torch": "2.11.0"},
        list(rows),
    )


HALF = Row(
    Case("resnet50", "float16", 1),
    {"convoy": fine(0.3), "eager": fine(0.9), "compile": fine(0.45), "jax": fine(0.6)},
)


def test_best_peer_is_the_fastest() -> None:
    assert best_peer(HALF) == ("compile", pytest.approx(1.5))


@pytest.mark.parametrize(
    "wrong",
    [Result(ms=0.1, error=0.5), Result(ms=0.1, error=float("nan")), Result(failure="no memory")],
)
def test_wrong_or_failed_peers_are_in_no_ratio(wrong: Result) -> None:
    assert best_peer(Row(HALF.case, {**HALF.results, "compile": wrong})) == (
        "jax",
        pytest.approx(2.0),
    )


@pytest.mark.parametrize("error", [0.5, float("nan"), None])
def test_wrong_result_has_no_ratio(error: float | None) -> None:
    assert (
        best_peer(Row(HALF.case, {**HALF.results, "convoy": Result(ms=0.1, error=error)})) is None
    )


def test_no_ratio_without_convoy_or_without_peers() -> None:
    assert best_peer(Row(HALF.case, {**HALF.results, "convoy": Result(failure="no plan")})) is None
    assert best_peer(Row(HALF.case, {"convoy": fine(0.3)})) is None


def test_tables() -> None:
    ours = Result(
        ms=0.5, error=2.4e-7, seconds=12.25, details={"load and first result seconds": 0.0412}
    )
    strict = Row(
        Case("resnet18", "strict", 32), {
            "convoy": ours, "eager": fine(0.45, error=3e-7),
            "max-autotune": Result(failure="not compiled after 300 s"),
            "jax": replace(fine(0.2, error=3e-4, seconds=4.0), at_once=8),
        },
    )  # fmt: skip
    assert markdown(run(HALF, strict)) == (
        "On NVIDIA H200, 2026-11-21, torch 2.11.0: `python -m benchmarks.compare "
        "build/bench`. Milliseconds, medians.\n"
        "\n"
        "| model | dtype | batch | difference from fp64 (limit) | Convoy | torch eager | "
        "torch.compile | max-autotune, freezing | JAX/XLA |"
        " best peer / Convoy |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
        "| ResNet-18 | float32, no TF32 | 32 | 2.4e-07 (1e-04) | 0.500 | 0.450 | not run "
        "| not compiled after 300 s |"
        " 0.200 (wrong: 3.0e-04) | **0.90** |\n"
        "| ResNet-50 | float16 | 1 | 1.0e-04 (1e-02) | 0.300 | 0.900 | 0.450 | not run | "
        "0.600 | 1.50 |\n"
        "\n"
        "Seconds of the first compilation or tuning; graphs shared with other rows or older "
        "artifacts are tuned once:\n"
        "\n"
        "| model | dtype | batch | Convoy, tuning | Convoy, tuned: load and first result "
        "| torch eager | torch.compile |"
        " max-autotune, freezing | JAX/XLA | peers' largest difference |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
        "| ResNet-18 | float32, no TF32 | 32 | 12.2 | 0.04 | 2.0 | - | - | 4.0 (8 at "
        "once) | 3.0e-04 |\n"
        "| ResNet-50 | float16 | 1 | 2.0 | - | 2.0 | 2.0 | - | 2.0 | 1.0e-04 |\n"
    )


def test_reason_is_shortened_to_its_cell() -> None:
    table = markdown(
        run(Row(HALF.case, {"convoy": Result(failure="PlanError: a | b\n" + "x" * 100)}))
    )
    cell = next(line for line in table.splitlines() if "PlanError" in line).split(" | ")[4]
    assert cell == "PlanError: a / b " + "x" * 60 + "..."


def test_json_round_trip(tmp_path: Path) -> None:
    dump(run(HALF), tmp_path / "a.json")
    assert load(tmp_path / "a.json") == run(HALF)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "rows": [{"case": {}}]}']
)
def test_invalid_run_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=r"a\.json: expected a JSON file from benchmarks\.compare --json, got "
    ):
        load(path)


def test_merge_takes_complete_rows_from_the_last_run() -> None:
    again = Row(HALF.case, {"convoy": fine(0.29), "eager": fine(0.8)})
    other = Row(Case("resnet18", "float16", 1), {"convoy": fine(0.1)})
    merged = merge(
        [
            run(HALF, date="2026-11-20", torch="2.10.0"),
            run(again, other, jax="0.11.2", torch="2.11.0"),
        ]
    )
    assert merged.rows == [other, again]
    assert merged.date == "2026-11-20 and 2026-11-21"
    assert merged.versions == {"torch": "2.10.0 and 2.11.0", "jax": "0.11.2"}
    assert merged.command == "python -m benchmarks.compare build/bench"


def test_merge_refuses_different_devices() -> None:
    with pytest.raises(
        ValueError, match="expected runs of one device, got NVIDIA H100, NVIDIA H200"
    ):
        merge([run(HALF), replace(run(HALF), device="NVIDIA H100")])
