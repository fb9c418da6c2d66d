"""The benchmark of Replicas, with programs on the host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch.export import Dim

import convoy
from benchmarks.serving import replicas


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points for 1 and 4 rows, without weights."""
    path = tmp_path_factory.mktemp("serving") / "tiny.convoy"
    shapes = ({0: Dim("batch", min=1, max=4)},)
    convoy.compile(
        torch.nn.Linear(8, 4).eval(),
        (torch.ones(2, 8),),
        target="cpu",
        dynamic_shapes=shapes,
        points={"batch": [1, 4]},
    ).save(path, weights=False)
    return path


def test_replicas(artifact: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "replicas.json"
    flags = f"--devices cpu cpu --programs 2 --rounds 2 --seconds 0.02 --json {file}"
    assert replicas.main([str(artifact), *flags.split()]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| arrays | devices | samples per second | of one device |"
    one, both = json.loads(file.read_text())
    assert (one["devices"], both["devices"]) == (["cpu"], ["cpu", "cpu"])
    assert one["arrays"] == both["arrays"] == "host"
    assert one["of_one"] == 1
    assert both["of_one"] == pytest.approx(both["per_second"] / one["per_second"])
    assert lines[2] == f"| host | cpu | {one['per_second']:.1f} | 1.000 |"
    assert len(lines) == 4


def test_replicas_on_another_device(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replicas.main([str(artifact), "--devices", "cuda:0"]) == 4
    assert "was compiled for cpu and cannot run on cuda" in capsys.readouterr().err
