"""The tables and the command line of benchmarks.cold_start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases import Case
from benchmarks.cold_start import main, report

CASE = Case("resnet50", "float16", 1)


def ours(scale: float) -> dict[str, Any]:
    steps = {"Python": 0.02, "numpy": 0.05, "convoy_runtime": 0.03, "load": 0.38, "run": 0.01}
    load = {"rest": 0.01, "hashing": 0.03, "driver": 0.1, "context": 0.14, "plans": 0.1 * scale}
    return {
        "steps": steps,
        "load": load,
        "nvrtc": False,
        "plans": {"plan in the artifact": 25, "engine and knobs in the artifact": 1},
    }


def test_tables() -> None:
    eager = {"steps": {"Python": 0.02, "torch": 3.0, "load": 0.5, "run": 1.0}, "nvrtc": True}
    starts = {"convoy": [ours(3.0), ours(0.9), ours(1.0)], "eager": [eager] * 3}
    assert report(CASE, starts, {"convoy": 4e-4, "eager": 5e-4}) == (
        "resnet50-float16-1, milliseconds from the start of the process to the first "
        "result, medians of 3:\n"
        "\n"
        "| | total | NVRTC | difference from fp64 |\n"
        "|---|---|---|---|\n"
        "| Convoy | 490.0 | not loaded | 4.0e-04 |\n"
        "| torch eager | 4520.0 | loaded | 5.0e-04 |\n"
        "\n"
        "| part of Convoy's start | ms |\n"
        "|---|---|\n"
        "| Python (shared) | 20.0 |\n"
        "| numpy (shared) | 50.0 |\n"
        "| convoy_runtime | 30.0 |\n"
        "| rest | 10.0 |\n"
        "| hashing | 30.0 |\n"
        "| driver (shared) | 100.0 |\n"
        "| context (shared) | 140.0 |\n"
        "| plans | 100.0 |\n"
        "| run | 10.0 |\n"
        "\n"
        "Convoy's own part: 180.0 ms, within 300. Plans: 25 from: plan in the artifact, "
        "1 from: engine and knobs in the artifact.\n"
    )


def test_time_over_the_goal_is_marked() -> None:
    assert "Convoy's own part: 380.0 ms, over 300." in report(
        CASE, {"convoy": [ours(3.0)]}, {"convoy": 4e-4}
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.convoy"], "expected MODEL-DTYPE-BATCH.convoy"),
        (
            ["resnet50-float16-1.convoy"],
            "expected an artifact that benchmarks.build wrote, got no file",
        ),
        (["resnet50-float16-1.convoy", "--rounds", "0"], "--rounds: expected at least 1, got 0"),
        (["resnet50-float16-1.convoy", "--runners", "jax"], "invalid choice: 'jax'"),
    ],
)
def test_wrong_command_line_is_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main([str(tmp_path / arguments[0]), *arguments[1:]])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
