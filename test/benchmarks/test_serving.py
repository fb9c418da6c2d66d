"""The benchmarks of Replicas and of clients, with programs on the host."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch.export import Dim

import convoy
from benchmarks.serving import clients, plot, replicas
from benchmarks.serving.measure import closed_loop

TEXT = "{http://www.w3.org/2000/svg}text"


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


def test_clients_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weighted, file, picture = (tmp_path / name for name in ("w.convoy", "direct.json", "x.svg"))
    convoy.compile(torch.nn.Linear(8, 4).eval(), (torch.ones(1, 8),), target="cpu").save(weighted)
    flags = f"direct {weighted} --clients 1 3 --seconds 0.05 --json {file}"
    assert clients.main(flags.split()) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    found = json.loads(file.read_text())
    assert (found["server"], found["artifact"]) == ("direct", "w.convoy")
    assert [row["clients"] for row in found["rows"]] == [1, 3]
    assert all(0 < row["p50"] <= row["p99"] for row in found["rows"])
    assert all(row["per_second"] > 0 for row in found["rows"])
    assert plot.main([str(file), "--output", str(picture), "--title", "A model"]) == 0
    text = picture.read_text()
    labels = ["".join(each.itertext()) for each in ElementTree.fromstring(text).iter(TEXT)]
    assert {"A model", "direct, p50", "direct, p99", "latency in ms", "requests / s"} <= {*labels}
    assert {"1", "3"} <= {*labels}
    assert "prefers-color-scheme: dark" in text
    assert plot._TEXT not in text
    assert plot.draw([found], "A model") == text


def test_a_failed_request_ends_the_measurement() -> None:
    def fail(arrays: list[np.ndarray]) -> Callable[[], None]:
        raise ValueError("bad request")

    with pytest.raises(ValueError, match="bad request"):
        closed_loop(fail, [], clients=3, seconds=60)


def test_closed_loop() -> None:
    """As many requests are not finished as there are clients."""
    both = threading.Barrier(2, timeout=20)
    found = closed_loop(lambda arrays: both.wait, [], clients=2, seconds=0)
    assert found.clients == 2
    assert found.per_second > 0
