# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The zoo without a GPU: names of rows, the table, and artifacts of the networks written here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.zoo import build
from benchmarks.zoo.__main__ import measured, ratio, table, visible_devices
from benchmarks.zoo.measure import Figures
from benchmarks.zoo.models import MODELS, Row

OWN = (
    "yolo_body", "unet_bilinear", "unet_transposed", "decoder", "diffusion", "wavenet", "lstm",
    "conformer", "deep_speech", "hifi_gan", "quartznet", "dcgan", "edsr", "esrgan",
    "modulated_convs", "volume_unet", "dlrm", "nerf", "pointnet", "transformer",
)  # fmt: skip


def figures(row: str, **ms: float) -> Figures:
    return Figures(
        row, ms=ms, errors={"convoy": 1e-3}, seconds={"convoy": 5.0}, megabytes={"convoy": 12.3}
    )


def test_rows() -> None:
    row = Row("vit_b_16", "float16", 32)
    assert Row.of(Path(f"folder/{row.key}.convoy")) == row
    for name in ("vit-float16-32", "vit_b_16-float32-1", "vit_b_16.convoy"):
        with pytest.raises(ValueError, match="expected MODEL-DTYPE-BATCH.convoy"):
            Row.of(Path(name))


def test_table() -> None:
    rows = [
        figures("a-float16-1", convoy=1.0, eager=2.0, compile=4.0),
        figures("a-float16-32", convoy=1.0, eager=1.0, compile=0.5),
        Figures("b-float16-1", ms={"eager": 1.0}, failures={"convoy": "refused"}),
    ]
    assert [ratio(row) for row in rows] == [2.0, 0.5, None]
    text = table(rows)
    assert "| a-float16-32 | 1.000 | 1.000 | 0.500 | **0.50** | 1.0e-03 | 5.0 | 12 | - |" in text
    assert "| b-float16-1 | - | 1.000 | - | - | - | - | - | - |" in text
    assert "Geometric mean 1.00: 2.00 at batch 1, 0.50 at batch 32." in text
    assert text.endswith("1 of 2 rows below 1: a-float16-32.")


ROW = """#!{python}
import json, os, sys, time
with open(os.path.join(os.environ["CUDA_CACHE_PATH"], "kernel"), "x"):
    pass
row = sys.argv[sys.argv.index("--one") + 1]
open(row, "a").write("begins\\n")
if "broken" in row:
    sys.exit("no such engine")
print("prepared", flush=True)
sys.stdin.readline()
open(row, "a").write("has the GPU\\n")
print(json.dumps({{"row": row, "ms": {{"convoy": time.time()}}}}))
"""


def test_rows_prepare_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a wave are prepared before the first is measured. A failing row is reported. Each
    row has its own kernel cache."""
    child = tmp_path / "child"
    child.write_text(ROW.format(python=sys.executable))
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    options = argparse.Namespace(
        folder=tmp_path, tune="off", rounds=1, plans=tmp_path, peers=[], prepare=3
    )
    paths = [tmp_path / name for name in ("a", "broken", "c")]
    rows = measured(paths, "0", options)
    first = next(rows)
    assert (tmp_path / "c").read_text() == "begins\n"
    second, third = rows
    assert second.failures == {"convoy": "no such engine"}
    assert first.ms["convoy"] < third.ms["convoy"]
    assert (tmp_path / "c").read_text() == "begins\nhas the GPU\n"


@pytest.mark.parametrize("name", OWN)
def test_networks(name: str) -> None:
    """The networks of this package run, with finite results."""
    module, inputs = MODELS[name].build(1)
    with torch.no_grad():
        results = module(*inputs)
    for result in results if isinstance(results, tuple) else (results,):
        assert result.isfinite().all()


def test_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(tmp_path), "--models", "wavenet", "--dtypes", "float16", "--batches", "2"]
    assert build.main(arguments) == 0
    path = tmp_path / "wavenet-float16-2.convoy"
    assert path.exists()
    assert str(path) in capsys.readouterr().out


def test_rows_run_on_the_visible_devices() -> None:
    assert visible_devices(None, 2) == ["0", "1"]
    assert visible_devices("3,GPU-1f", 2) == ["3", "GPU-1f"]
    # CUDA stops at the first invalid entry of CUDA_VISIBLE_DEVICES.
    assert visible_devices("3,9", 1) == ["3"]
    assert visible_devices(None, 0) == []
