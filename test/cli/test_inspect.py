"""`convoy inspect`: the device memory of an artifact."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from cli_fixtures import compile_tiny

from convoy.cli.inspect import _device_memory
from convoy.cli.main import main
from convoy_runtime.inspection import shipped_plans
from convoy_runtime.opening import open_artifact


def inspected(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["inspect", str(path)]) == 0
    return capsys.readouterr().out


def test_device_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tiny.convoy"
    compile_tiny(path, "--target", "cuda", "--dtype", "float16", "--no-weights")
    manifest = open_artifact(path).manifest
    specs = (*manifest.inputs, *manifest.prepared)
    total = manifest.arena_bytes + sum(spec.bytes for spec in specs)
    assert len(manifest.output_offsets) == len(manifest.outputs)
    printed = inspected(path, capsys)
    assert 0 < manifest.live_bytes <= manifest.arena_bytes <= 1.15 * manifest.live_bytes
    assert len(manifest.live) == len(manifest.gap_bytes) == len(manifest.steps)
    assert all(
        live + gap <= manifest.arena_bytes
        for live, gap in zip(manifest.live, manifest.gap_bytes, strict=True)
    )
    assert max(manifest.live) == manifest.live_bytes
    assert " times the " in printed
    assert f"device memory {total / 1e6:.2f} MB: arena with outputs {manifest.arena_bytes / 1e6:.2f} MB, " in printed  # fmt: skip
    assert "workspaces are known once the artifact has plans" in printed


def test_device_memory_with_plans(
    cudnn: object, cublaslt: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "planned.convoy"
    flags = ("--target", "cuda", "--dtype", "float16", "--no-weights", "--plan-for", "h200")
    compile_tiny(path, *flags)
    printed = inspected(path, capsys)
    found = re.search(r"largest workspace outside of the arena (\d+\.\d\d) MB\n", printed)
    assert found is not None
    # Without gaps, each workspace needs memory.
    artifact = open_artifact(path)
    largest = max(plan.report.workspace_bytes for plan in shipped_plans(artifact))
    artifact.manifest = replace(artifact.manifest, gap_offsets=(), gap_bytes=())
    printed = _device_memory(artifact)
    assert printed.endswith(f"largest workspace outside of the arena {largest / 1e6:.2f} MB")
    assert float(found[1]) <= round(largest / 1e6, 2)


def test_cpu_artifacts_have_no_device_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cpu.convoy"
    compile_tiny(path, "--target", "cpu", "--no-weights")
    assert "device memory" not in inspected(path, capsys)
