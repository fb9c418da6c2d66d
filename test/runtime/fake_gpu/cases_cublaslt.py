"""cuBLASLt as candidates, with the fake library of libcublaslt.c: tuned, stored, restored, refused."""

from __future__ import annotations

import ctypes
import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import conv_manifest, zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime import PlanError, PlanOptions
from convoy_runtime.cuda.cublaslt import errata
from convoy_runtime.cuda.plans import builder
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.manifest import GraphTensor, Matmul, Products
from convoy_runtime.plan_report import PlanReport, plan_lines

X = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
Write = Callable[..., Path]
SHAPES = ((1, 1, 8), (1, 8, 8), (1, 1, 8), (1, 1, 8))
#: Excludes every engine of the fake cuDNN.
NO_ENGINE = tuple(range(64))


def fields(shapes: Any = SHAPES, dtype: str = "float16", **changes: Any) -> dict[str, Any]:
    """The fields of a graph that is a product with a bias."""
    tensors = tuple(
        GraphTensor(
            number + 1,
            "output" if number == len(shapes) - 1 else "input",
            shape,
            (shape[1] * shape[2], shape[2], 1),
            dtype,
        )
        for number, shape in enumerate(shapes)
    )
    return {
        "ops": ("matmul", "add", "relu"),
        "tensors": tensors,
        "products": Products(128, dtype),
        "matmul": Matmul(0, 1, **{"activation": "relu", "bias": 2, **changes}),
    }


@pytest.fixture
def cublaslt() -> ctypes.CDLL:
    library = ctypes.CDLL("libcublasLt.so.13")
    library.fake_last.restype = ctypes.c_char_p
    library.fake_most_workspace.restype = ctypes.c_uint64
    return library


@pytest.fixture
def write(
    tmp_path: Path,
    compile_c: Callable[..., bytes],
    fake_cudnn: ctypes.CDLL,
    cublaslt: ctypes.CDLL,
) -> Iterator[Write]:
    """Writes the artifact of conv.c with a product as its graph. cuDNN's engines take five copies
    longer than alone."""

    def one(**graph: Any) -> Path:
        manifest = conv_manifest(**{**fields(), **graph})
        path = tmp_path / "product.convoy"
        write_artifact(path, manifest, {"native.so": compile_c("conv.c")}, zeros(manifest))
        return path

    fake_cudnn.fake_whole(5)
    yield one
    fake_cudnn.fake_whole(0)
    gc.collect()
    assert (cublaslt.fake_alive(), cublaslt.fake_handles()) == (0, 0)
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)


def load(path: Path, **options: Any) -> PlanReport:
    """The report of a program whose results are checked."""
    with convoy_runtime.load(path, **{"plan_cache": False, "poison": True, **options}) as program:
        assert isinstance(program, CudaProgram)
        np.testing.assert_array_equal(program.run_numpy(X)[0].reshape(-1)[:8], X.reshape(-1)[:8])
        (report,) = program.plans
        return report


def test_tuning_picks_a_faster_algorithm(write: Write, tmp_path: Path) -> None:
    report = load(write(), tune="quick")
    assert (report.name, report.cublaslt, report.engine, report.kernel, report.origin) == (
        "cuBLASLt 60", 60, None, None, "tuning",
    )  # fmt: skip
    assert (report.heuristic, report.rank, report.workspace_bytes) == ("cublaslt", 0, 0)
    assert report.knobs == {
        "TILE_ID": 20, "SPLITK_NUM": 1, "REDUCTION_SCHEME": 0, "CTA_SWIZZLING": 0,
        "CUSTOM_OPTION": 0, "STAGES_ID": 36, "INNER_SHAPE_ID": 0, "CLUSTER_SHAPE_ID": 0,
    }  # fmt: skip
    reasons = {trial.name: trial.reason for trial in report.trials}
    assert list(reasons)[:3] == ["cuBLASLt 60", "cuBLASLt 61", "engine 41"]
    assert "differs from that of" in (reasons["cuBLASLt 62"] or "")
    assert reasons["cuBLASLt 63"] == "CUBLAS_STATUS_NOT_SUPPORTED: as told"
    assert "cuBLASLt 64" not in reasons
    assert [trial.name for trial in report.trials if trial.first] == ["engine 41"]
    lines = list(plan_lines(report))
    assert lines[0].startswith("conv: cuBLASLt 60 (cublaslt[0], tuning) {TILE_ID=20, ")
    assert sum(line.startswith("  * ") for line in lines) == 1


def test_full_tuning_tries_more(write: Write) -> None:
    report = load(write(), tune="full")
    tried = {trial.cublaslt for trial in report.trials} - {None}
    assert tried == set(range(60, 68))


def test_without_tuning_cudnn_runs_it(write: Write, cublaslt: ctypes.CDLL) -> None:
    before = cublaslt.fake_queries(), cublaslt.fake_runs()
    report = load(write())
    assert (report.engine, report.cublaslt, report.origin) == (41, None, "heuristics")
    assert (cublaslt.fake_queries(), cublaslt.fake_runs()) == before


def test_it_runs_what_no_engine_may(write: Write) -> None:
    report = load(write(), options=PlanOptions(exclude_engines=NO_ENGINE))
    assert (report.name, report.origin) == ("cuBLASLt 60", "cuBLASLt")
    assert str(report).startswith("conv: cuBLASLt 60 (cublaslt[0], cuBLASLt) {")


def test_stored_plans_need_no_heuristics(
    write: Write, tmp_path: Path, cublaslt: ctypes.CDLL
) -> None:
    path, cache = write(), tmp_path / "cache"
    made = load(path, tune="quick", plan_cache=cache)
    before = cublaslt.fake_queries()
    for strict in (False, True):
        assert load(path, plan_cache=cache, strict=strict) == replace(made, origin="stored plan")
    assert load(path, plan_cache=cache, tune="quick") == replace(made, origin="stored plan")
    assert cublaslt.fake_queries() == before


def test_plan_of_another_version_is_refused(
    write: Write, tmp_path: Path, cublaslt: ctypes.CDLL
) -> None:
    path, cache = write(), tmp_path / "cache"
    load(path, tune="quick", plan_cache=cache)
    cublaslt.fake_version(130200)
    try:
        reason = "expected an algorithm of cuBLASLt 13.2.0, got one of 13.1.0"
        with pytest.raises(PlanError, match=reason):
            load(path, plan_cache=cache, strict=True)
        report = load(path, plan_cache=cache)
        assert (report.engine, report.origin) == (41, "heuristics")
        assert f"stored plan: {reason}" in report.rejected
        assert load(path, plan_cache=cache, tune="quick").origin == "tuning"
        assert load(path, plan_cache=cache).name == "cuBLASLt 60"
    finally:
        cublaslt.fake_version(130100)


def kept(cache: Path) -> Path:
    """The file of the single graph in a store; another file has the program's form."""
    (file,) = (path for path in (cache / "plans").glob("*.json") if "rejected" in path.read_text())
    return file


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("130100:" + "00" * 64, "cublasLtMatmulAlgoCheck failed: CUBLAS_STATUS_INVALID_VALUE (7)"),
        ("130100:00", "cublasLtMatmulAlgoCheck failed: CUBLAS_STATUS_INVALID_VALUE (7)"),
        ("130100:zz", "non-hexadecimal number"),
        ("", "invalid literal"),
    ],
)
def test_malformed_plans_are_refused(write: Write, tmp_path: Path, plan: str, reason: str) -> None:
    path, cache = write(), tmp_path / "cache"
    load(path, tune="quick", plan_cache=cache)
    file = kept(cache)
    tree = json.loads(file.read_text())
    tree["records"][0]["plan"] = plan
    file.write_text(json.dumps(tree))
    report = load(path, plan_cache=cache)
    assert report.engine == 41
    assert any(reason in line for line in report.rejected)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"allow_cublaslt": False}, "allow_cublaslt=False forbids it"),
        (
            {"allow_tensor_cores": False},
            "may use tensor cores, which allow_tensor_cores=False forbids",
        ),
        (
            {"exclude_numerical_notes": ("TENSOR_CORE",)},
            "may use tensor cores, which exclude_numerical_notes forbids",
        ),
        (
            {"allow_runtime_compilation": False},
            "may compile at run time, which allow_runtime_compilation=False forbids",
        ),
        (
            {"exclude_behavior_notes": ("RUNTIME_COMPILATION",)},
            "may compile at run time, which exclude_behavior_notes forbids",
        ),
        (
            {"exclude_behavior_notes": ("CUBLASLT_DEPENDENCY",)},
            "exclude_behavior_notes forbids its note CUBLASLT_DEPENDENCY",
        ),
        ({"engines": (41,)}, "engines allows only some engines"),
        (
            {"require_numerical_notes": ("TENSOR_CORE",)},
            "required notes allow only engines of cuDNN",
        ),
    ],
)
def test_options_forbid_it(
    write: Write, fake_cudnn: ctypes.CDLL, options: dict[str, Any], reason: str
) -> None:
    fake_cudnn.fake_exact(42)
    try:
        report = load(write(), tune="quick", options=PlanOptions(**options))
    finally:
        fake_cudnn.fake_exact(40)
    assert report.cublaslt is None
    assert f"cuBLASLt: {reason}" in report.rejected
    assert {trial.cublaslt for trial in report.trials} == {None}


@pytest.mark.parametrize(
    "options",
    [
        {"deterministic": True},
        {"exclude_numerical_notes": ("NONDETERMINISTIC",)},
        {"allow_reduced_precision_reduction": False},
        {"exclude_numerical_notes": ("REDUCED_PRECISION_REDUCTION",)},
    ],
)
def test_options_exclude_reductions(write: Write, options: dict[str, Any]) -> None:
    """64 adds up parts of sums in the result."""
    report = load(write(), tune="full", options=PlanOptions(**options))
    assert {trial.cublaslt for trial in report.trials} - {None} == {60, 61, 62, 63, 65, 66, 67}


def test_algorithms_with_wrong_results(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 and 64 lose NaN in relu; 64 splits sums, so that it does not."""
    monkeypatch.setattr(errata, "_LOSES_NAN", frozenset({60, 64}))
    report = load(write(), tune="full")
    assert {trial.cublaslt for trial in report.trials} - {None} == {61, 62, 63, 64, 65, 66, 67}
    assert "cublaslt[0] cuBLASLt 60: its relu of NaN is 0" in report.rejected
    changed = {**fields(activation="none"), "ops": ("matmul", "add")}
    report = load(write(**changed), tune="full")
    assert 60 in {trial.cublaslt for trial in report.trials}


def test_limit_of_workspaces(
    write: Write, cublaslt: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = load(write(), tune="full", options=PlanOptions(max_workspace_bytes=600))
    assert {trial.cublaslt for trial in report.trials} - {None} == {60, 61, 62}
    assert cublaslt.fake_most_workspace() == 600
    load(write(), tune="full", options=PlanOptions(max_workspace_bytes=None))
    assert cublaslt.fake_most_workspace() == 2**63 - 1

    def full(self: Any, size: int) -> None:
        if size > 256:
            raise builder.WorkspaceTooLarge("the memory is full")

    monkeypatch.setattr(builder.PlanBuilder, "check_workspace", full)
    report = load(write(), tune="quick")
    assert "cublaslt[2] cuBLASLt 62: the memory is full" in report.rejected


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (
            15,
            "cublasLtMatmulAlgoGetHeuristic failed: CUBLAS_STATUS_NOT_SUPPORTED (15): as told",
        ),
        (0, "it has no algorithm"),
    ],
)
def test_no_algorithm(write: Write, cublaslt: ctypes.CDLL, status: int, reason: str) -> None:
    cublaslt.fake_fail(status)
    cublaslt.fake_offer(8 if status else 0)
    try:
        report = load(write(), tune="quick")
    finally:
        cublaslt.fake_fail(0)
        cublaslt.fake_offer(8)
    assert report.engine is not None
    assert f"cuBLASLt: {reason}" in report.rejected


def test_library_without_a_function(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "convoy_runtime.cuda.cudnn.library.Cudnn.require_cublaslt",
        lambda _: ctypes.CDLL("libcuda.so.1"),
    )
    report = load(write(), tune="quick")
    assert report.engine is not None
    assert any(line.startswith("cuBLASLt: cuBLASLt lacks a function") for line in report.rejected)


def test_graphs_that_are_no_products_have_none(write: Write, cublaslt: ctypes.CDLL) -> None:
    before = cublaslt.fake_queries()
    report = load(write(matmul=None), tune="quick")
    assert not any("cuBLASLt" in line for line in report.rejected)
    assert cublaslt.fake_queries() == before
