"""cuBLASLt for a step of an alternative: tuned, stored and restored with the other step."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fake_gpu.cases_alternatives import SPLIT
from fake_gpu.cases_cublaslt import cublaslt, fields, load  # noqa: F401
from fake_gpu.fixtures import conv_manifest, zeros

from convoy.artifact import write_artifact
from convoy_runtime.manifest import Graph, GraphAlternatives, Manifest, Matmul


def contents() -> tuple[Manifest, GraphAlternatives]:
    """The manifest and alternatives of alternatives.c; only the first step is a product."""
    manifest = conv_manifest(alternatives=(SPLIT.name,), **{**fields(), "matmul": None})
    x, w, b, y = manifest.graphs[0].tensors
    result = replace(y, uid=3)
    steps = (
        Graph(
            "product", "product_build", ("matmul",), "model.py:9", (x, w, result),
            matmul=Matmul(0, 1, "none"),
        ),
        Graph("rest", "rest_build", ("add",), "model.py:9", (x, replace(b, uid=2), result)),
    )  # fmt: skip
    return manifest, GraphAlternatives(steps, (SPLIT,))


def test_a_step_runs_on_cublaslt(
    tmp_path: Path,
    compile_c: Callable[..., bytes],
    fake_cudnn: ctypes.CDLL,
    cublaslt: ctypes.CDLL,  # noqa: F811
) -> None:
    manifest, offered = contents()
    path, cache = tmp_path / "steps.convoy", tmp_path / "cache"
    members = {
        "native.so": compile_c("fake_gpu/alternatives.c"),
        "alternatives.json": offered.to_json().encode(),
    }
    write_artifact(path, manifest, members, zeros(manifest))
    fake_cudnn.fake_whole(8)
    try:
        tuned = load(path, tune="quick", plan_cache=cache)
        queries = cublaslt.fake_queries()
        stored = load(path, plan_cache=cache, strict=True)
    finally:
        fake_cudnn.fake_whole(0)
    assert tuned.name == "product | rest on cuBLASLt 60, engine 41"
    assert [step.cublaslt for step in tuned.steps] == [60, None]
    assert (stored.name, stored.origin) == (tuned.name, "stored plan")
    assert [step.origin for step in stored.steps] == ["stored plan"] * 2
    assert cublaslt.fake_queries() == queries
    assert (cublaslt.fake_alive(), cublaslt.fake_handles()) == (0, 0)
