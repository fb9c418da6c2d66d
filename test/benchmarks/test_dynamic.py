# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The benchmark of dynamic sizes: its figures, its table, and a run with a small model."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.export import Dim

from benchmarks.dynamic import __main__ as benchmark
from benchmarks.dynamic import build, measure, tail
from benchmarks.dynamic.figures import Figures, Row
from benchmarks.dynamic.models import DynamicModel
from benchmarks.dynamic.peers import Peer, peers_of
from benchmarks.dynamic.tail import percentiles_of


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)).eval()


TINY = DynamicModel(
    small,
    lambda values: (torch.randn(values["batch"], 3, 6, 6),),
    ({0: Dim("batch", min=1, max=4)},),
    {"batch": (1, 4)},
    [{"batch": 3}],
)


def test_percentiles() -> None:
    found = percentiles_of({1: [4.0, *[1.0] * 50], 2: [2.0] * 49})
    assert (found["p50"], found["p99"]) == (1.0, 4.0)
    assert found["p99 without first calls"] == 1.0
    assert percentiles_of({1: [1.0]}) == {"p50": 1.0, "p99": 1.0, "p99.9": 1.0}


def test_table() -> None:
    rows = [
        Row({"batch": 1, "length": 8}, {"static": 1.0, "dynamic": 1.01}, 1.01, 1e-6),
        Row({"batch": 4, "length": 8}, {"static": 2.0, "dynamic": 2.0, "peer": 3.0}, 1.0, 1e-6),
        Row({"batch": 3, "length": 8}, {"next point": 2.0, "dynamic": 2.0}, 1.0, 1e-6),
    ]
    text = benchmark.table([Figures("m", rows, failures={"other": "too slow"})])
    assert text.splitlines() == [
        "| model | sizes | static | dynamic | peer | dynamic / static | error |",
        "|---|---|---|---|---|---|---|",
        "| m | batch 1, length 8 | 1.000 | 1.010 | - | 1.010 | 1.0e-06 |",
        "| m | batch 4, length 8 | 2.000 | 2.000 | 3.000 | 1.000 | 1.0e-06 |",
        "",
        "m: other: too slow",
    ]


def test_peers() -> None:
    (peer,) = peers_of(small(), "cpu", "float32")
    assert peer.name == "torch.compile"
    calls = []
    half = Peer("half", lambda x: calls.append((x.dtype, x.is_contiguous())), torch.float16)
    half.prepared((torch.randn(1, 3, 6, 6),))()
    assert calls == [(torch.float16, False)] * 4


@torch.no_grad()
def test_a_small_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: torch.Tensor) -> None:
        message = "no compiler"
        raise RuntimeError(message)

    for each in (build, benchmark):
        monkeypatch.setattr(each, "MODELS", {"tiny": TINY})
    peers = [Peer("eager", small(), torch.float32), Peer("broken", fail, torch.float32)]
    monkeypatch.setattr(measure, "peers_of", lambda *_: list(peers))
    assert build.main([str(tmp_path), "--models", "tiny", "--target", "cpu"]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["tiny-1.convoy", "tiny-4.convoy", "tiny.convoy"]
    figures = tmp_path / "figures.json"
    flags = ["--models", "tiny", "--rounds", "1", "--calls", "20", "--turns", "2", "--peers"]
    assert benchmark.main([str(tmp_path), *flags, "--json", str(figures)]) == 0
    printed = capsys.readouterr().out
    assert "| model | sizes | static | dynamic | eager | dynamic / static | error |" in printed
    assert "tiny: broken: RuntimeError: no compiler" in printed
    kinds = ["dynamic", "static", "the host alone"]
    kinds += [f"{kind}, turn 2" for kind in ("dynamic", "the host alone")]
    for kind in kinds:
        assert f"20 calls of batches 1 to 4, {kind}: p50 " in printed
    (found,) = json.loads(figures.read_text())
    assert [row["point"] for row in found["rows"]] == [{"batch": each} for each in (1, 4, 3)]
    assert all(row["error"] < 1e-5 for row in found["rows"])
    assert found["bytes"]["dynamic"] > found["bytes"]["static"] > 0
    assert found["percentiles"].keys() == set(kinds)
    assert found["percentiles"]["dynamic"].keys() == found["percentiles"]["static"].keys()
    assert found["choice_microseconds"] > 0
    assert re.search(r"turn 2 on core \d+\n", printed)


def test_the_quietest_core_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = os.sched_getaffinity(0)
    quiet = max(cores)

    def times(_: int) -> dict[int, list[float]]:
        return {0: [1.0] * 99 + [1.0 if os.sched_getaffinity(0) == {quiet} else 9.0]}

    monkeypatch.setattr(tail, "host_times", times)
    with tail.on_quietest_core() as core:
        assert (core, os.sched_getaffinity(0)) == (quiet, {quiet})
    assert os.sched_getaffinity(0) == cores
