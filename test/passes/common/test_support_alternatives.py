"""The graphs that alternatives are made of: the real cuDNN has an engine for each, with no GPU, as for what groups are made of."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest
from operation_graphs import Graph

from benchmarks.support.library import ask_offline, convoy_opt, prepare, refusals
from benchmarks.support.matrix import Case, group_cases
from benchmarks.support.table import taken

#: One group in so many has its alternatives asked about.
EVERY = 20
GRAPH = re.compile(r"^  cudnn\.graph @(\w+)\(.*?^  }$", re.DOTALL | re.MULTILINE)


def _sample() -> list[Case]:
    """Groups that the table takes, the same each time."""
    chosen = [case for case in group_cases() if zlib.crc32(case.key.encode()) % EVERY == 0]
    refused = refusals(chosen)
    return [case for case in chosen if case.key not in refused]


def _steps(cases: list[Case], options: str = "") -> list[Graph]:
    """The graphs that `cudnn-add-alternatives` makes of them."""
    text = "\n".join(case.text for case in cases)
    called = {match[1] for match in GRAPH.finditer(convoy_opt(text, "--convert-tcp-to-cudnn").stdout)}
    made = convoy_opt(text, "--convert-tcp-to-cudnn", f"--cudnn-add-alternatives={options}").stdout
    return [Graph(match[1], match[0]) for match in GRAPH.finditer(made) if match[1] not in called]


def test_cudnn_has_an_engine_for_every_step(tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not there")
    steps = _steps(_sample())
    assert len(steps) > 100
    # Pointwise operations alone, anchors alone, and what is fused with an anchor.
    kinds = {name: sum(name in step.text for step in steps) for name in ("cudnn.pointwise", "cudnn.convolution", "cudnn.matmul")}
    assert min(kinds.values()) > 10, kinds
    prepare(steps, tmp_path)
    answers = ask_offline(tmp_path, tmp_path / "answers.json")["graphs"]
    without = {step.key: answers[step.key]["rejected"] for step in steps if not taken(answers[step.key])}
    assert not without


def test_cudnn_has_an_engine_without_tf32_for_every_step_that_may_not_use_it(tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cudnn", reason="the nvidia-cudnn wheel is not there")
    cases = [case for case in group_cases() if case.dtype == "f32"]
    refused = refusals(cases, allow_tf32=False)
    steps = _steps([case for case in cases if case.key not in refused], "allow-tf32=false")
    # The other order of sums, and biases of zeros.
    assert len(steps) > 50
    prepare(steps, tmp_path)
    answers = ask_offline(tmp_path, tmp_path / "answers.json")["graphs"]
    assert [step.key for step in steps if not answers[step.key]["strict"]] == []
