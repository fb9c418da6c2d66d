"""Plans from the real cuDNN for a GPU that is not present: the device is described by JSON, and
native code builds the graph."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from runtime_fixtures import affine_manifest, conv_graph, sizes_flag

from convoy.artifact import write_artifact
from convoy_runtime import ArgumentError, CudnnError, PlanError
from convoy_runtime.__main__ import main
from convoy_runtime._native import load_native
from convoy_runtime.cuda.cudnn import enums
from convoy_runtime.cuda.cudnn.configs import EngineSupport
from convoy_runtime.cuda.cudnn.device_files import device_file, device_properties
from convoy_runtime.cuda.cudnn.errata import Erratum, erratum_of
from convoy_runtime.cuda.cudnn.library import Cudnn, version_text
from convoy_runtime.cuda.plans.knob_search import knob_neighbours
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.manifest import Call, Graph, GraphTensor, Products
from convoy_runtime.manifest import Cudnn as CudnnVersions
from convoy_runtime.strides import packed_strides

H200 = device_file("h200", 91900)
PREFIXES: dict[type[IntEnum], tuple[str, str]] = {
    enums.Descriptor: ("CUDNN_BACKEND_", "_DESCRIPTOR"),
    enums.Attribute: ("CUDNN_ATTR_", ""),
    enums.Type: ("CUDNN_TYPE_", ""),
    enums.HeurMode: ("CUDNN_HEUR_MODE_", ""),
    enums.NumericalNote: ("CUDNN_NUMERICAL_NOTE_", ""),
    enums.BehaviorNote: ("CUDNN_BEHAVIOR_NOTE_", ""),
    enums.KnobType: ("CUDNN_KNOB_TYPE_", ""),
}


@pytest.fixture
def plan(cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes]) -> Callable[..., Any]:
    """Plans the graph of conv.c, compiled with the given flags."""

    def run(*flags: str, dtype: str = "float16", options: PlanOptions | None = None) -> Any:
        planner = Planner(
            cudnn,
            LoadOptions(plan_options=options or PlanOptions()),
            handle=None,
            device=device_properties(cudnn, H200),
        )
        native = load_native(compile_c("conv.c", *flags))
        return planner.plan(conv_graph(dtype), native.builder("conv_build")).report

    return run


def test_numbers_equal_those_of_the_header(cudnn: Cudnn) -> None:
    header = Path(cudnn.path).parent.parent / "include" / "cudnn_graph.h"
    if not header.is_file():
        pytest.skip("cuDNN's headers are not installed")
    numbers = {
        name: int(value)
        for name, value in re.findall(
            r"^\s+(CUDNN_\w+)(?: CUDNN_DEPRECATED_ENUM)?\s*=\s*(\d+),", header.read_text(), re.M
        )
    }
    ours = {
        f"{head}{entry.name}{tail}": entry.value
        for enum, (head, tail) in PREFIXES.items()
        for entry in enum
    }
    assert len(ours) > 80
    assert {name: numbers.get(name) for name in ours} == ours


def test_first_plan_of_the_heuristics(plan: Callable[..., Any]) -> None:
    report = plan()
    assert (report.graph, report.location, report.heuristic, report.rank, report.rejected) == (
        "conv_bias_relu",
        "model.py:9",
        "A",
        0,
        (),
    )
    assert "TENSOR_CORE" in report.numerical_notes
    assert report.knobs
    assert not any(name.isdecimal() for name in report.knobs)
    assert re.fullmatch(
        (
            r"conv_bias_relu: engine \d+ \(A\[0\]\) \{\w+=\d+.*\} \[TENSOR_CORE.*\] workspace "
            r"\d+ bytes"
        ),
        str(report),
    )


def test_engines_by_note_and_direction(plan: Callable[..., Any]) -> None:
    first = plan()
    other = plan(options=PlanOptions(exclude_forward_engines=(first.engine,)))
    assert other.engine != first.engine
    assert plan(options=PlanOptions(forward_engines=(other.engine,))).engine == other.engine
    assert plan(options=PlanOptions(exclude_wgrad_engines=(first.engine,))) == first
    plain = plan(options=PlanOptions(exclude_numerical_notes=("tensor_core",)))
    assert "TENSOR_CORE" not in plain.numerical_notes
    assert any(
        line.endswith("has the note TENSOR_CORE, which exclude_numerical_notes forbids")
        for line in plain.rejected
    )
    assert plan(options=PlanOptions(require_numerical_notes=("TENSOR_CORE",))) == first
    with pytest.raises(
        PlanError, match=r"has no note RUNTIME_COMPILATION, which require_behavior_notes demands"
    ):
        # Planning offline, cuDNN offers no engine that compiles.
        plan(options=PlanOptions(require_behavior_notes=("RUNTIME_COMPILATION",)))


def test_other_values_of_a_knob(
    cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes]
) -> None:
    planner = Planner(cudnn, LoadOptions(), handle=None, device=device_properties(cudnn, H200))
    with planner.builder.operation_graph(
        conv_graph(), load_native(compile_c("conv.c")).builder("conv_build")
    ) as operations:
        seen: set[tuple[object, ...]] = set()
        offered = list(planner.candidates(conv_graph(), operations, [], ["A"], seen))
        known, counts = len(seen), []
        for first in offered:
            found = list(knob_neighbours(planner.builder, conv_graph(), operations, first, seen))
            counts.append(len(found))
            for plan in found:
                assert plan.report.engine == first.report.engine
                assert len(plan.report.knobs.items() - first.report.knobs.items()) == 1
                assert (plan.report.heuristic, plan.report.rejected) == ("knobs", ())
            assert (
                list(knob_neighbours(planner.builder, conv_graph(), operations, first, seen)) == []
            )
        # Values that cuDNN does not support are detected as well.
        assert max(counts) > 3
        assert len(seen) >= known + sum(counts)


def test_engines_are_asked_once(
    cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes]
) -> None:
    planner = Planner(cudnn, LoadOptions(), handle=None, device=device_properties(cudnn, H200))
    graph, build = conv_graph(), load_native(compile_c("conv.c")).builder("conv_build")

    def engines(support: EngineSupport) -> list[int | None]:
        with planner.builder.operation_graph(graph, build) as operations:
            found = planner.candidates(graph, operations, [], ["precompiled"], support=support)
            return [plan.report.engine for plan in found]

    first = EngineSupport()
    offered = engines(first)
    refused = frozenset(engine for engine, supports in first.asked.items() if not supports)
    assert len(offered) > 3
    assert len(refused) > 3
    assert {engine for engine, supports in first.asked.items() if supports} >= {*offered}
    # Without the engines that refuse the graph, the same plans are left.
    again = EngineSupport(refused)
    assert engines(again) == offered
    assert not refused & {*again.asked}
    assert engines(EngineSupport(frozenset({offered[0] or 0}))) == offered[1:]


def test_every_value_of_every_knob(
    cudnn: Cudnn, cublaslt: None, compile_c: Callable[..., bytes]
) -> None:
    """Also of knobs that a plan leaves to its engine. For the number of parts of a sum: the powers
    of two up to 2048."""
    planner = Planner(cudnn, LoadOptions(), handle=None, device=device_properties(cudnn, H200))
    graph, turned = conv_graph(), dict[str, set[int]]()
    with planner.builder.operation_graph(
        graph, load_native(compile_c("conv.c")).builder("conv_build")
    ) as operations:
        seen: set[tuple[object, ...]] = set()
        for first in planner.candidates(graph, operations, [], ["precompiled"], seen):
            assert list(knob_neighbours(planner.builder, graph, operations, first, seen)) == []
            for plan in knob_neighbours(
                planner.builder, graph, operations, first, seen, every=True
            ):
                ((name, value),) = plan.report.knobs.items()
                turned.setdefault(name, set()).add(value)
    assert len(turned) > 6
    assert turned["SPLIT_K_SLC"] <= {1 << bit for bit in range(12)}
    assert len(turned["SPLIT_K_SLC"]) > 3
    assert {5, 6, 7} <= turned["TILE_CGA_M"]


def test_tf32_only_when_allowed(plan: Callable[..., Any]) -> None:
    assert "TENSOR_CORE" in plan("-DDTYPE=0", dtype="float32").numerical_notes
    strict = plan("-DDTYPE=0", dtype="float32", options=PlanOptions(allow_tf32=False))
    assert "TENSOR_CORE" not in strict.numerical_notes
    assert any(
        line.endswith("uses TF32, which allow_tf32=False forbids") for line in strict.rejected
    )
    # float16 always uses tensor cores.
    assert "TENSOR_CORE" in plan(options=PlanOptions(allow_tf32=False)).numerical_notes


def test_no_tensor_cores_in_any_type(plan: Callable[..., Any]) -> None:
    for flag, dtype in (
        ("-DDTYPE=0", "float32"),
        ("-DDTYPE=2", "float16"),
        ("-DDTYPE=9", "bfloat16"),
    ):
        report = plan(flag, dtype=dtype, options=PlanOptions(allow_tensor_cores=False))
        assert "TENSOR_CORE" not in report.numerical_notes
        assert any(
            line.endswith("uses tensor cores, which allow_tensor_cores=False forbids")
            for line in report.rejected
        )


def test_other_modes_of_the_heuristics(plan: Callable[..., Any]) -> None:
    for modes in (("FALLBACK",), ["B", "A"]):
        assert plan(options=PlanOptions(heuristics=modes)).heuristic == modes[0]


def test_equal_options_have_equal_text() -> None:
    """Equal options have one key in the store, and options that later versions add do not change
    keys."""
    assert (
        repr(PlanOptions())
        == repr(PlanOptions(allow_tf32=True, exclude_engines=[], heuristics=["A", "FALLBACK"]))
        == "PlanOptions()"
    )
    assert PlanOptions(engines=[41, 7, 41]) == PlanOptions(engines=(7, 41))
    assert (
        repr(PlanOptions(deterministic=True, exclude_engines={3}))
        == "PlanOptions(deterministic=True, exclude_engines=(3,))"
    )


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "heuristics",
            ("A", "C"),
            r"unknown mode: expected a subset of \['INSTANT', 'B', 'FALLBACK', 'A'\], got \('A', 'C'\)",
        ),
        ("heuristics", "A", "unknown mode: expected a subset of .*, got 'A'"),
        ("engines", 41, r"invalid engine indices: expected integers, e.g. \(41, 62\), got 41"),
        (
            "exclude_engines",
            ("41",),
            r"invalid engine indices: expected integers, e.g. \(41, 62\), got \('41',\)",
        ),
    ],
)
def test_invalid_options(field: str, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"{field}: {message}"):
        PlanOptions(**{field: value})


def test_no_engine_left(plan: Callable[..., Any]) -> None:
    with pytest.raises(PlanError) as caught:
        plan(options=PlanOptions(max_workspace_bytes=-1, heuristics=("A",)))
    assert re.match(
        (
            r"model\.py:9: graph conv_bias_relu: no execution plan, of \d+ candidates:\n  "
            r"A\[0\] engine \d+ \{"
        ),
        str(caught.value),
    )
    assert "is over the limit of -1" in caught.value.tried[0]
    assert "hint: relax the PlanOptions" in str(caught.value)


def test_why_the_heuristics_offer_nothing(plan: Callable[..., Any]) -> None:
    """GELU is supported only by engines that compile a kernel, which needs a driver."""
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("there is a CUDA driver")
    with pytest.raises(PlanError) as caught:
        plan("-DACTIVATION=104", options=PlanOptions(heuristics=("A",)))
    (reason,) = caught.value.tried
    assert reason.startswith("heuristic A: no engine: CUDNN_STATUS_NOT_SUPPORTED")
    assert "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING; Reason: " in reason
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("options", "numerical", "behavior", "reason"),
    [
        (PlanOptions(deterministic=True), {"NONDETERMINISTIC"}, set(), "is not deterministic"),
        (PlanOptions(), {"NONDETERMINISTIC", "WINOGRAD"}, {"RUNTIME_COMPILATION"}, None),
        (PlanOptions(allow_winograd=False), {"WINOGRAD"}, set(), "uses Winograd transforms"),
        (
            PlanOptions(allow_winograd=False),
            {"WINOGRAD_TILE_13x13"},
            set(),
            "uses Winograd transforms",
        ),
        (PlanOptions(), {"TENSOR_CORE"}, set(), None),
        (
            PlanOptions(allow_tf32=False),
            {"TENSOR_CORE"},
            set(),
            "uses TF32, which allow_tf32=False forbids",
        ),
        (
            PlanOptions(allow_tensor_cores=False),
            {"TENSOR_CORE"},
            set(),
            "uses tensor cores, which allow_tensor_cores=False forbids",
        ),
        (PlanOptions(), set(), {"CUBLASLT_DEPENDENCY"}, None),
        (
            PlanOptions(allow_tf32=False),
            set(),
            {"CUBLASLT_DEPENDENCY"},
            "uses TF32, which allow_tf32=False forbids",
        ),
        (
            PlanOptions(allow_tensor_cores=False),
            set(),
            {"CUBLASLT_DEPENDENCY"},
            "uses tensor cores, which allow_tensor_cores=False forbids",
        ),
        (
            PlanOptions(allow_runtime_compilation=False),
            set(),
            {"RUNTIME_COMPILATION"},
            "compiles at run time",
        ),
        (PlanOptions(allow_fft=False), {"FFT"}, set(), "uses Fourier transforms"),
        (
            PlanOptions(allow_reduced_precision_reduction=False),
            {"REDUCED_PRECISION_REDUCTION"},
            set(),
            "accumulates in less than the compute type",
        ),
        (PlanOptions(engines=(4, 7)), set(), set(), None),
        (PlanOptions(engines=(4,)), set(), set(), "is not one of the allowed engines"),
        (PlanOptions(exclude_engines=(7,)), set(), set(), "is an excluded engine"),
        (PlanOptions(), set(), {"REQUIRES_BIAS_INT8x32_REORDER"}, "needs reordered int8 weights"),
        (PlanOptions(), {"DOWN_CONVERT_INPUTS"}, set(), "rounds inputs to a narrower type"),
    ],
)
def test_notes(
    options: PlanOptions, numerical: set[str], behavior: set[str], reason: str | None
) -> None:
    notes = (
        {enums.NumericalNote[name] for name in numerical},
        {enums.BehaviorNote[name] for name in behavior},
    )
    assert options.refuses(conv_graph("float32"), 7, *notes) == reason


def test_tf32_depends_on_the_type_of_the_factors() -> None:
    """A cast of the result on output does not matter, nor does float32 next to factors of a
    narrower type."""
    refused, notes = (
        "uses TF32, which allow_tf32=False forbids",
        ({enums.NumericalNote.TENSOR_CORE}, set[enums.BehaviorNote]()),
    )
    options, factors = PlanOptions(allow_tf32=False), ("float32", "float16")
    for dtype, cast, reason in ((*factors, refused), (*reversed(factors), None)):
        graph = conv_graph(dtype)
        *operands, result = graph.tensors
        mixed = replace(
            graph, tensors=(*operands, replace(result, dtype=cast)), products=Products(2, dtype)
        )
        assert options.refuses(mixed, 7, *notes) == reason


@pytest.mark.parametrize(
    ("ops", "reason"),
    [
        (("add", "relu"), None),
        (("add", "mul"), "uses TF32, which allow_tf32=False forbids"),
        ((), "uses TF32, which allow_tf32=False forbids"),
    ],
)
def test_pointwise_sums_and_relu_do_not_round(ops: tuple[str, ...], reason: str | None) -> None:
    graph = replace(conv_graph("float32"), ops=ops, products=None)
    notes = {enums.NumericalNote.TENSOR_CORE}, set[enums.BehaviorNote]()
    assert PlanOptions(allow_tf32=False).refuses(graph, 7, *notes) == reason
    assert (
        PlanOptions(allow_tensor_cores=False).refuses(graph, 7, *notes)
        == "uses tensor cores, which allow_tensor_cores=False forbids"
    )


def test_graph_that_cudnn_refuses_has_a_location(plan: Callable[..., Any]) -> None:
    with pytest.raises(CudnnError) as caught:
        plan("-DSTRIDE=0")
    error = caught.value
    assert error.location == "model.py:12"
    assert error.name.startswith("CUDNN_STATUS_BAD_PARAM")
    assert str(error).startswith(
        "model.py:12: graph conv_bias_relu: finalize convolution failed: CUDNN_STATUS_BAD_PARAM"
    )
    assert error.detail


def run_python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return done.stdout


OPEN = """
from convoy_runtime import DeviceError
from convoy_runtime.cuda.cudnn.loading import open_cudnn
try:
    print(open_cudnn({minimum}).version)
except DeviceError as error:
    print(error)
"""


def test_missing_cudnn(tmp_path: Path) -> None:
    printed = run_python(OPEN.format(minimum=0), CONVOY_CUDNN=str(tmp_path))
    assert printed.startswith(f"cuDNN is missing; tried:\n    {tmp_path}/libcudnn.so.9: ")
    assert "hint: pip install nvidia-cudnn-cu13==9.19.0.56, or set CONVOY_CUDNN" in printed


def test_library_that_is_not_cudnn() -> None:
    printed = run_python(OPEN.format(minimum=0), CONVOY_CUDNN="libm.so.6")
    assert printed.startswith("libm.so.6 is not cuDNN 9: ")


def test_cudnn_too_old(cudnn: Cudnn) -> None:
    printed = run_python(OPEN.format(minimum=cudnn.version + 100))
    found, needed = version_text(cudnn.version), version_text(cudnn.version + 100)
    assert printed.startswith(f"cuDNN {found} at ")
    assert f"is not supported: expected {needed} or later, of major version 9" in printed
    assert run_python(OPEN.format(minimum=cudnn.version)).strip() == str(cudnn.version)


def test_missing_cublaslt_is_an_error(cudnn: Cudnn) -> None:
    code = """
from convoy_runtime import DeviceError
from convoy_runtime.cuda.cudnn.loading import open_cudnn
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.planner import Planner
try:
    Planner(open_cudnn(), LoadOptions(), handle=None)
    print("there")
except DeviceError as error:
    print(error)
"""
    printed = run_python(code)
    assert printed == "there\n" or printed.startswith(
        "libcublasLt.so.13, which cuDNN requires, is missing\n  hint: pip install nvidia-cublas"
    )


@pytest.fixture
def artifact(compile_c: Callable[..., bytes], tmp_path: Path) -> Callable[..., Path]:
    def write(*flags: str) -> Path:
        manifest = affine_manifest(
            target="cuda",
            graphs=(conv_graph(),),
            calls=(Call(0, ""),),
            cudnn=CudnnVersions(91900, 90000, "float16"),
        )
        write_artifact(
            tmp_path / "model",
            manifest,
            {"native.so": compile_c("conv.c", sizes_flag(manifest), *flags)},
        )
        return tmp_path / "model"

    return write


def test_plan_for_another_machine(
    cublaslt: None, artifact: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(artifact()), "--plan-for", "h200"]) == 0
    printed = capsys.readouterr().out
    assert re.fullmatch(r"conv_bias_relu: engine \d+ .*\n1 of 1 graphs have a plan\n", printed)
    assert main([str(artifact()), "--plan-for", str(H200)]) == 0
    assert capsys.readouterr().out == printed
    assert main([str(artifact()), "--plan-for", "b300"]) == 4
    assert "device properties: expected h200 or a file, got b300" in capsys.readouterr().err
    assert main([str(artifact("-DSTRIDE=0")), "--plan-for", "h200"]) == 4
    assert (
        "model.py:12: graph conv_bias_relu: finalize convolution failed" in capsys.readouterr().err
    )


def test_plan_for_another_machine_fails(
    cublaslt: None,
    artifact: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PlanOptions, "refuses", lambda *_, **__: "is not wanted")
    assert main([str(artifact()), "--plan-for", "h200"]) == 4
    printed = capsys.readouterr().out
    assert "model.py:9: graph conv_bias_relu: no execution plan, of " in printed
    assert printed.endswith("\n0 of 1 graphs have a plan\n")


def test_known_errors_of_engines() -> None:
    pool = replace(conv_graph("bfloat16"), ops=("maxpool",))
    assert "bfloat16" in (erratum_of(pool, 3, 91900) or "")
    assert erratum_of(pool, 2, 91900) is None
    assert erratum_of(pool, 3, 89900) is None
    assert erratum_of(replace(conv_graph("float16"), ops=("maxpool",)), 3, 91900) is None
    assert erratum_of(conv_graph("bfloat16"), 3, 91900) is None


def test_known_errors_of_wide_attention() -> None:
    def attention(dtype: str, width: int) -> Graph:
        result = GraphTensor(
            4, "output", (2, 8, 64, width), (width * 512, width * 64, width, 1), dtype
        )
        ops = ("matmul", "mul", "reduce_max", "sub", "exp", "reduce_add", "div", "matmul")
        return Graph("attention_0", "attention_0_build", ops, "model.py:3", (result,))

    assert "136 to 256" in (erratum_of(attention("float32", 136), 1, 91900) or "")
    assert erratum_of(attention("float32", 128), 1, 91900) is None
    assert erratum_of(attention("float16", 136), 1, 91900) is None
    assert erratum_of(attention("float32", 136), 2, 91900) is None
    product = replace(attention("float32", 136), ops=("matmul", "add"))
    assert erratum_of(product, 1, 91900) is None


def test_known_errors_of_large_windows() -> None:
    def graph(window: tuple[int, ...], dtype: str = "float16", batch: int = 8) -> Graph:
        shapes = {
            "x": ("input", (batch, 4, *(16 * size for size in window))),
            "w": ("input", (64, 4, *window)),
            "bias": ("input", (1, 64, *(1 for _ in window))),
            "y": ("output", (batch, 64, *(16 for _ in window))),
        }
        tensors = tuple(
            GraphTensor(uid, role, shape, packed_strides(shape), dtype)
            for uid, (role, shape) in enumerate(shapes.values())
        )
        return Graph("conv_0", "conv_0_build", ("convolution", "add"), "model.py:3", tensors)

    for dtype in ("float16", "bfloat16", "float32"):
        assert "16x16" in (erratum_of(graph((16, 16), dtype), 4, 91900) or "")
    assert erratum_of(graph((2, 8, 8)), 4, 91900) is not None
    assert erratum_of(graph((11, 11)), 4, 91900) is None
    assert erratum_of(graph((16, 16)), 7, 91900) is None
    assert erratum_of(replace(graph((16, 16)), ops=("matmul",)), 4, 91900) is None


def test_engine_with_a_known_error_is_not_chosen(
    plan: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = plan()
    rule = Erratum(frozenset({"convolution"}), "float16", first.engine, 90000, 99999, "is wrong")
    monkeypatch.setattr("convoy_runtime.cuda.cudnn.errata.ERRATA", (rule,))
    second = plan()
    assert second.engine != first.engine
    assert any(line.endswith("is wrong") for line in second.rejected)
