"""Kernels of the artifact with the fake cuDNN of libcudnn.c: chosen, tuned, stored, and refused.
The name of a variant determines its results: `fast` and `slow` compute the same as cuDNN's engines,
`wrong` something else."""

from __future__ import annotations

import ctypes
import gc
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, as_compiled, conv_manifest, zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy.explain import explain_manifest
from convoy_runtime import ArtifactError, CudaError, PlanError
from convoy_runtime._native import load_native
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.cudnn.device_properties import main as describe
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.cuda.tuning.history import History
from convoy_runtime.inspection import offline_planner
from convoy_runtime.manifest import (
    Call,
    Graph,
    GraphKernel,
    KernelTensorMap,
    Manifest,
    kernel_member,
)
from convoy_runtime.opening import open_artifact
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.ptx_members import pack_ptx

X = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
Write = Callable[..., Path]


def kernel(variant: str, **changes: Any) -> GraphKernel:
    return replace(
        GraphKernel(f"conv_{variant}", variant, grid=1, block=32, shared_bytes=0, chip="sm_80"),
        **changes,
    )


def ptx(each: GraphKernel) -> bytes:
    return f"// PTX\n.visible .entry {each.name}(\n".encode()


def graph_fields(preference: str, kernels: tuple[GraphKernel, ...]) -> dict[str, Any]:
    return {
        "preference": preference,
        "kernels": kernels,
        **({"symbol": None} if preference == "only_kernel" else {}),
    }


@pytest.fixture
def write(
    tmp_path: Path, compile_c: Callable[..., bytes], fake_cudnn: ctypes.CDLL
) -> Iterator[Write]:
    """Writes the artifact of conv.c with these kernels; for an only_kernel graph its library has no
    build function."""

    def one(
        *kernels: GraphKernel,
        preference: str = "kernel",
        manifest: Manifest | None = None,
        flags: tuple[str, ...] = (),
        members: dict[str, bytes] | None = None,
    ) -> Path:
        manifest = manifest or conv_manifest(**graph_fields(preference, kernels))
        native = compile_c(
            "conv.c", *flags, *(["-Dconv_build=unused"] if preference == "only_kernel" else [])
        )
        texts = {
            kernel_member(each.name): pack_ptx(ptx(each))
            for graph in manifest.graphs
            for each in graph.kernels
        }
        path = tmp_path / "kernels.convoy"
        write_artifact(
            path, manifest, {"native.so": native, **texts, **(members or {})}, zeros(manifest)
        )
        return path

    fake_cudnn.fake_offer(6)
    gc.collect()
    before = FAKE.fake_modules(), FAKE.fake_allocated()
    yield one
    fake_cudnn.fake_offer(2)
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles()) == (0, 0)
    assert (FAKE.fake_modules(), FAKE.fake_allocated()) == before


def load(path: Path, **options: Any) -> tuple[PlanReport, ...]:
    """The reports of a program whose results are checked."""
    with convoy_runtime.load(path, **{"plan_cache": False, "poison": True, **options}) as program:
        assert isinstance(program, CudaProgram)
        np.testing.assert_array_equal(program.run_numpy(X)[0].reshape(-1)[:8], X.reshape(-1)[:8])
        return program.plans


def test_tensor_maps_follow_the_pointers(write: Write) -> None:
    """The fake driver refuses the launch if the map is not one of the first tensor's memory."""
    mapped = kernel("mapped_fast", tensor_maps=(KernelTensorMap(0, (1, 8), (32, 64)),))
    (report,) = load(write(mapped, preference="kernel"))
    assert report.kernel == "mapped_fast"
    other = kernel("mapped_fast", tensor_maps=(KernelTensorMap(1, (1, 8), (32, 64)),))
    with pytest.raises(CudaError, match="cuLaunchKernel"):
        load(write(other, preference="kernel"))


def test_windows_are_listed_from_the_innermost_dim(write: Write) -> None:
    """The fake driver refuses the launch if the corners of the windows are others: columns first,
    and the reach subtracted from the padding after the image."""
    windows = KernelTensorMap(
        0, (1, 1, 1, 8), (32, 64), low=(1, 0), high=(1, 0), reach=(0, 1), strides=(1, 1)
    )
    (report,) = load(write(kernel("mapped_windows", tensor_maps=(windows,)), preference="kernel"))
    assert report.kernel == "mapped_windows"
    other = replace(windows, low=(0, 1))
    with pytest.raises(CudaError, match="cuLaunchKernel"):
        load(write(kernel("mapped_windows", tensor_maps=(other,)), preference="kernel"))


def test_windows_over_three_dims(write: Write) -> None:
    """The fake driver refuses maps of five dims with larger corners."""
    volume = KernelTensorMap(
        0, (1, 1, 1, 1, 8), (32, 64),
        low=(0, 1, 0), high=(0, 1, 0), reach=(1, 0, 1), strides=(1, 1, 1),
    )  # fmt: skip
    (report,) = load(write(kernel("mapped_windows", tensor_maps=(volume,)), preference="kernel"))
    assert report.kernel == "mapped_windows"
    other = replace(volume, low=(0, 0, 1))
    with pytest.raises(CudaError, match="cuLaunchKernel"):
        load(write(kernel("mapped_windows", tensor_maps=(other,)), preference="kernel"))


def test_launches_are_numbered(write: Write) -> None:
    """The fake driver refuses a launch whose number is not the next of 0, 1, 2, 0, 1, ..."""
    stepped = kernel("stepped_fast", launches=3)
    path = write(stepped, preference="only_kernel")
    for _ in range(2):
        (report,) = load(path)
        assert report.kernel == "stepped_fast"
    with pytest.raises(CudaError, match="cuLaunchKernel"):
        load(write(replace(stepped, launches=4), preference="only_kernel"))


FAST, SLOW, WRONG = (kernel(variant) for variant in ("fast", "slow", "wrong"))


@pytest.mark.parametrize("preference", ["kernel", "only_kernel"])
def test_first_kernel_runs_without_tuning(
    write: Write, fake_cudnn: ctypes.CDLL, preference: str
) -> None:
    before = fake_cudnn.fake_created(), fake_cudnn.fake_executed(), FAKE.fake_links()
    (report,) = load(write(SLOW, FAST, preference=preference))
    assert (report.kernel, report.engine, report.workspace_bytes, report.rejected) == (
        "slow",
        None,
        0,
        (),
    )
    assert str(report) == "conv: kernel slow (kernels[0], kernel) {} [] workspace 0 bytes"
    # cuDNN is not queried, and one kernel is compiled.
    assert (fake_cudnn.fake_created(), fake_cudnn.fake_executed(), FAKE.fake_links()) == (
        *before[:2],
        before[2] + 1,
    )


def test_cudnn_runs_without_tuning(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    before = FAKE.fake_links()
    (report,) = load(write(FAST, preference="plan"))
    assert (report.engine, report.kernel, report.origin, FAKE.fake_links()) == (
        41,
        None,
        "heuristics",
        before,
    )


def test_a_kernel_runs_what_no_engine_may(write: Write) -> None:
    """Untuned, although plans of cuDNN are preferred."""
    without = PlanOptions(exclude_engines=tuple(range(64)))
    (report,) = load(write(FAST, preference="plan"), options=without)
    assert (report.engine, report.kernel, report.origin) == (None, "fast", "kernel")
    assert any("is an excluded engine" in reason for reason in report.rejected)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            PlanOptions(allow_kernels=False),
            "kernels: allow_kernels=False forbids kernels of the artifact",
        ),
        (PlanOptions(engines=(41,)), "kernels: engines allows only some engines"),
    ],
)
def test_options_forbid_kernels(
    write: Write, options: PlanOptions, reason: str, tmp_path: Path
) -> None:
    for tune in ("off", "quick"):
        (report,) = load(write(FAST), options=options, tune=tune)
        assert (report.engine, report.kernel) == (41, None)
        assert reason in report.rejected
    # But this graph has no other candidate; also when it comes from the store.
    alone = write(FAST, preference="only_kernel")
    for origin in ("kernel", "stored plan"):
        (report,) = load(alone, options=options, plan_cache=tmp_path / "cache")
        assert (report.kernel, report.origin, report.rejected) == ("fast", origin, ())


def test_kernel_with_tf32(write: Write) -> None:
    reason, wide = (
        "kernel fast: uses TF32, which allow_tf32=False forbids",
        PlanOptions(allow_tf32=False),
    )
    for tune in ("off", "quick"):
        (report,) = load(write(replace(FAST, tf32=True)), options=wide, tune=tune)
        assert (report.engine, report.kernel) == (41, None)
        assert reason in report.rejected
        with pytest.raises(
            PlanError, match=f"graph conv: no execution plan, of 1 candidates:\n  {reason}"
        ):
            load(write(replace(FAST, tf32=True), preference="only_kernel"), options=wide, tune=tune)


def test_kernel_that_may_use_tensor_cores(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    """A kernel has no note about tensor cores; one without products does not use them."""
    reason, without = (
        "kernel fast: uses tensor cores, which allow_tensor_cores=False forbids",
        PlanOptions(allow_tensor_cores=False),
    )
    fake_cudnn.fake_exact(42)
    try:
        (report,) = load(write(FAST), options=without)
        assert (report.engine, report.rejected[0]) == (42, reason)
    finally:
        fake_cudnn.fake_exact(0)
    with pytest.raises(
        PlanError, match=f"graph conv: no execution plan, of 1 candidates:\n  {reason}"
    ):
        load(write(FAST, preference="only_kernel"), options=without)
    manifest = conv_manifest(**graph_fields("kernel", (FAST,)), products=None)
    assert load(write(manifest=manifest), options=without)[0].kernel == "fast"


def test_kernels_for_other_gpus(write: Write) -> None:
    newer, larger = kernel("newer", chip="sm_100"), kernel("larger", shared_bytes=232449)
    # A feature set that only one architecture has.
    other, this = kernel("other", chip="sm_100a"), kernel("this", chip="sm_90a")
    (report,) = load(write(other, this))
    assert (report.kernel, report.rejected) == (
        "this",
        ("kernel other: expected a GPU of sm_100a, got sm_90",),
    )
    reasons = (
        "kernel newer: expected a GPU of at least sm_100, got sm_90",
        "kernel larger: expected a GPU with 232449 bytes of shared memory for a block, got 232448",
    )
    (report,) = load(write(newer, larger, FAST))
    assert (report.kernel, report.rank, report.rejected) == ("fast", 2, reasons)
    (report,) = load(write(newer, larger))
    assert (report.engine, report.origin, report.rejected[:2]) == (41, "heuristics", reasons)
    with pytest.raises(
        PlanError,
        match=r"model\.py:9: graph conv: no execution plan, of 2 candidates:\n  kernel newer: ",
    ) as caught:
        load(write(newer, larger, preference="only_kernel"))
    assert caught.value.tried == reasons


def test_matrix_product_near_the_peak_needs_no_compiled_plan(
    write: Write, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines 46 and 47 compile a kernel."""
    fake_cudnn.fake_offer(8)
    fields = graph_fields("plan", (FAST,)) | {"ops": ("matmul",)}
    path = write(manifest=conv_manifest(**fields))

    def compiled(*, is_enough: bool) -> set[int | None]:
        (report,) = load(path, tune="quick")
        reason = "cuDNN's heuristics: kernel fast is fast enough"
        assert (reason in report.rejected) is is_enough
        return {trial.engine for trial in report.trials} & {46, 47}

    assert compiled(is_enough=True) == set()
    monkeypatch.setattr("convoy_runtime.cuda.tuning.tuner.is_enough", lambda *_: False)
    assert compiled(is_enough=False) == {46, 47}


def test_tuning_tries_kernels_and_engines(write: Write, tmp_path: Path) -> None:
    path, cache = write(SLOW, WRONG, FAST), tmp_path / "cache"
    (report,) = load(path, tune="quick", plan_cache=cache)
    assert (report.kernel, report.engine, report.origin, report.tuned) == (
        "fast",
        None,
        "tuning",
        "quick",
    )
    trials = {each.kernel or each.engine: each for each in report.trials}
    assert list(trials) == ["fast", 41, "slow", 42, "wrong", 43, 44, 45]
    # A kernel has no workspace to clear.
    times = {name: each.microseconds for name, each in trials.items() if each.reason is None}
    assert times == pytest.approx({"fast": 1.0, 41: 2.125, "slow": 5.0, 42: 6.125}, rel=1e-3)
    assert [name for name, each in trials.items() if each.first] == ["slow"]
    assert re.fullmatch(
        r"output 0 differs from that of the median of 6 plans, by .*", trials["wrong"].reason or ""
    )
    assert str(report.trials[0]) == "kernel fast {}: 1.00 us"
    # Later loads use the tuned plan, without compiling.
    links = FAKE.fake_links()
    for tune in ("quick", "off"):
        assert load(path, tune=tune, plan_cache=cache) == (replace(report, origin="stored plan"),)
    assert FAKE.fake_links() == links


def test_plans_that_compile_are_tuned_unless_a_kernel_is_fast_enough(
    write: Write, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines 46 and 47 compile a kernel."""
    fake_cudnn.fake_offer(8)
    compiled = {46, 47}
    (report,) = load(write(FAST), tune="quick")
    assert (report.kernel, {trial.engine for trial in report.trials} & compiled) == ("fast", set())
    assert "cuDNN's heuristics: kernel fast is fast enough" in report.rejected
    monkeypatch.setattr("convoy_runtime.cuda.tuning.stages._SHORT_MICROSECONDS", 2.0)
    assert load(write(FAST), tune="quick")[0].kernel == "fast"
    (report,) = load(write(SLOW), tune="quick")
    assert {trial.engine for trial in report.trials} >= compiled
    assert report.engine in compiled
    # A kernel that cannot be used leaves all plans.
    (report,) = load(write(replace(FAST, chip="sm_120")), tune="quick")
    assert report.engine in compiled


def test_plans_that_compile_are_not_built_if_they_were_slow_for_similar_graphs(
    write: Write, fake_cudnn: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines 46 and 47 compile a kernel, and are the fastest. A history of six graphs says that
    they were slow."""
    fake_cudnn.fake_offer(8)
    monkeypatch.setattr(History, "source_reason", lambda _self, _graph, source: f"slow: {source}")
    (report,) = load(write(SLOW), tune="quick")
    assert report.engine == 41
    assert not {trial.engine for trial in report.trials} & {46, 47}
    assert "cuDNN's heuristics A: slow: A" in report.rejected


def test_kernels_that_were_slow_for_similar_graphs_are_skipped(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_kernels(_self: History, _graph: Graph, offered: Sequence[str]) -> dict[str, str]:
        assert offered == ["fast", "slow"]
        return {"slow": "too slow"}

    monkeypatch.setattr(History, "slow_kernels", slow_kernels)

    def kernels(tune: str) -> set[str]:
        (report,) = load(write(FAST, SLOW), tune=tune)
        assert report.kernel == "fast"
        assert ("kernel slow: too slow" in report.rejected) == (tune == "quick")
        return {trial.kernel for trial in report.trials if trial.kernel is not None}

    assert kernels("quick") == {"fast"}
    # A full tuning tries everything.
    assert kernels("full") == {"fast", "slow"}


def test_tuning_keeps_a_faster_engine(write: Write, tmp_path: Path) -> None:
    path = write(SLOW)
    assert load(path)[0].kernel == "slow"
    (report,) = load(path, tune="quick", plan_cache=tmp_path / "cache")
    assert (report.engine, report.kernel) == (41, None)
    assert load(path, plan_cache=tmp_path / "cache")[0].engine == 41
    # Without tuning, cuDNN would have run it.
    (report,) = load(write(SLOW, preference="plan"), tune="quick")
    assert [each.engine for each in report.trials if each.first] == [41]


def kept(cache: Path) -> Path:
    """The file of the single graph in a store; another file has the program's form."""
    (file,) = (path for path in (cache / "plans").glob("*.json") if "rejected" in path.read_text())
    return file


def change(cache: Path, **changes: Any) -> None:
    """Changes the record of the graph."""
    file = kept(cache)
    content = json.loads(file.read_text())
    content["records"][0].update(changes)
    file.write_text(json.dumps(content))


def text_of(cache: Path) -> str:
    return str(json.loads(kept(cache).read_text())["records"][0]["plan"])


@pytest.mark.parametrize("preference", ["kernel", "plan", "only_kernel"])
def test_stored_kernel_is_recompiled(write: Write, tmp_path: Path, preference: str) -> None:
    """With another driver, and for other PTX: machine code of the old one may compute something
    else."""
    path, cache = write(SLOW, FAST, preference=preference), tmp_path / "cache"
    (tuned,) = load(path, tune="quick", plan_cache=cache)
    change(cache, driver=12000)
    links = FAKE.fake_links()
    for _ in range(2):
        # Once: the next load restores the machine code.
        assert load(path, plan_cache=cache) == (replace(tuned, origin="stored plan"),)
        assert FAKE.fake_links() == links + 1
    if preference == "only_kernel":
        return  # other PTX is another graph
    other = pack_ptx(ptx(FAST) + b"// of another compiler\n")
    path = write(SLOW, FAST, preference=preference, members={kernel_member(FAST.name): other})
    for _ in range(2):
        assert load(path, plan_cache=cache) == (replace(tuned, origin="stored plan"),)
        assert FAKE.fake_links() == links + 2


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "no base64!",
            "kernel fast: its machine code cannot be loaded: Only base64 data is allowed",
        ),
        (
            "anVuaw==",
            (
                "kernel fast: its machine code cannot be loaded: cuModuleLoadData failed: "
                "CUDA_ERROR_INVALID_PTX"
            ),
        ),
        (
            "Ly8ganVuaw==",
            (
                "kernel fast: its machine code cannot be loaded: cuModuleGetFunction failed: "
                "CUDA_ERROR_NOT_FOUND"
            ),
        ),
    ],
)
def test_damaged_machine_code_is_recompiled(
    write: Write, tmp_path: Path, code: str, reason: str
) -> None:
    path, cache = write(FAST), tmp_path / "cache"
    load(path, plan_cache=cache)
    right = text_of(cache)
    change(cache, plan=f"{right.partition(':')[0]}:{code}")
    (report,) = load(path, plan_cache=cache)
    assert (report.kernel, report.origin) == ("fast", "kernel")
    assert report.rejected[0].startswith(f"stored plan: {reason}")
    # The next load finds the repaired file.
    assert text_of(cache) == right
    assert load(path, plan_cache=cache)[0].origin == "stored plan"


def test_stored_kernel_that_is_not_in_the_artifact(write: Write, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    load(write(FAST), plan_cache=cache)
    for kernels, here in (((SLOW, WRONG), "slow, wrong"), ((), "none")):
        load(write(FAST), plan_cache=cache, tune="quick")
        path = write(*kernels, preference="kernel" if kernels else "plan")
        (report,) = load(path, plan_cache=cache)
        assert (
            report.rejected[0]
            == f"stored plan: kernel fast: expected one of the artifact, got {here}"
        )
        assert (report.kernel, report.engine) == (("slow", None) if kernels else (None, 41))
        assert load(path, plan_cache=cache)[0].origin == "stored plan"


@pytest.mark.parametrize("preference", ["kernel", "plan", "only_kernel"])
def test_kernels_in_the_artifact(
    write: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    preference: str,
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(tmp_path / "cache"))
    path, tuned = as_compiled(write(FAST, preference=preference)), tmp_path / "tuned.convoy"
    with pytest.raises(PlanError, match="no stored plan fits, and strict=True allows no other"):
        load(path, strict=True)
    assert convoy(["tune", str(path), "-o", str(tuned)]) == 0
    count = 1 if preference == "only_kernel" else 6
    first = r"2\.1[23]" if preference == "plan" else r"1\.00"
    assert re.search(
        rf"graph +calls +runs on +us .*\nconv +1 +kernel fast +1\.00 +{first} +{count} +tuning\n",
        capsys.readouterr().out,
    )
    links = FAKE.fake_links()
    (report,) = load(tuned, strict=True)
    assert (report.kernel, report.origin, report.tuned) == ("fast", "plan in the artifact", "quick")
    assert FAKE.fake_links() == links
    # The artifact's contents, without loading it.
    assert convoy(["explain", str(tuned)]) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"^0 +1\.00 +- +- .* kernel fast +- +conv +convolution \+ add \+ relu +model\.py:12$",
        printed,
        re.MULTILINE,
    )
    assert "conv: kernel fast {} [] workspace 0 bytes" in printed


def test_inspection_of_kernels(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Without loading the artifact."""
    manifest, alone = (
        conv_manifest(**graph_fields("kernel", (SLOW, FAST))),
        conv_manifest(**graph_fields("only_kernel", (WRONG,))),
    )
    graphs = (
        *manifest.graphs,
        replace(alone.graphs[0], name="stem"),
        conv_manifest(name="plain").graphs[0],
    )
    path = str(
        as_compiled(
            write(
                manifest=replace(
                    manifest,
                    graphs=graphs,
                    calls=tuple(Call(graph, "model.py:12") for graph in (0, 0, 1, 2)),
                )
            )
        )
    )

    def run(*arguments: str, fails: bool = False) -> str:
        assert convoy([*arguments]) == int(fails)
        printed = capsys.readouterr()
        return printed.err if fails else printed.out

    explained = run("explain", path)
    assert explained.startswith("4 groups (3 distinct graphs), 0 generated kernels\n")
    assert (
        "     2x run by a kernel of the artifact, or cuDNN if tuning finds it faster\n" in explained
    )
    assert (
        "     1x run by a kernel of the artifact, because cuDNN does not support the graph\n    "
        " 1x run by cuDNN\n"
    ) in explained
    assert (
        "      run by a kernel of the artifact, because cuDNN does not support the graph: wrong\n"
        in explained
    )
    # The kernel that runs, then the candidates that may replace it.
    split = replace(manifest.graphs[0], alternatives=("product | rest",))
    runner = (
        "      run by a kernel of the artifact, or cuDNN if tuning finds it faster: slow, fast\n"
    )
    assert f"{runner}      or product | rest, if tuning finds it faster\n" in explain_manifest(
        replace(manifest, graphs=(split,))
    )
    assert re.search(
        r"^conv +2 +convolution add relu +slow fast +- +model\.py:9$",
        run("inspect", path),
        re.MULTILINE,
    )
    texts = [f"// {kernel_member(each.name)}\n{ptx(each).decode()}" for each in (SLOW, FAST, WRONG)]
    assert run("inspect", path, "--ptx") == "".join(texts)
    assert run("inspect", path, "--ptx", "--graph", "conv") == "".join(texts[:2])
    message = "kernels.convoy: expected a graph with kernels (conv, stem), got plain"
    assert message in run("inspect", path, "--ptx", "--graph", "plain", fails=True)
    assert run("inspect", path, "--as", "dot", "--run-native", "--graph", "plain").startswith(
        "digraph "
    )
    message = (
        "kernels.convoy: expected a graph that cuDNN runs, got stem, which only a kernel "
        "runs; the file has conv, plain"
    )
    assert message in run(
        "inspect", path, "--as", "dot", "--run-native", "--graph", "stem", fails=True
    )


def test_driver_refuses_ptx(write: Write) -> None:
    message = (
        r"kernels/conv_fast\.ptx\.gz: kernel conv_fast cannot be loaded: cuLinkAddData failed: "
        r"CUDA_ERROR_INVALID_PTX"
    )
    for tune in ("off", "quick"):
        with pytest.raises(ArtifactError, match=message):
            load(write(FAST, members={"kernels/conv_fast.ptx.gz": pack_ptx(b"junk")}), tune=tune)
    with pytest.raises(
        ArtifactError,
        match="kernel conv_fast cannot be loaded: cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND",
    ):
        load(
            write(FAST, members={"kernels/conv_fast.ptx.gz": pack_ptx(b"// PTX of something else")})
        )


def test_kernel_that_cannot_be_launched(write: Write) -> None:
    (report,) = load(write(kernel("wide", block=2048), FAST), tune="quick")
    assert report.kernel == "fast"
    assert {each.kernel: each.reason for each in report.trials}[
        "wide"
    ] == "cannot be launched: CUDA_ERROR_INVALID_VALUE"
    with pytest.raises(CudaError, match="cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE"):
        load(write(kernel("wide", block=2048)))


def test_large_shared_memory_is_requested(write: Write, tmp_path: Path) -> None:
    """When a kernel is compiled, and when it is restored."""
    path = write(kernel("fast", shared_bytes=200000))
    for origin in ("kernel", "stored plan"):
        (report,) = load(path, plan_cache=tmp_path / "cache")
        assert report.origin == origin


@pytest.fixture
def little_memory(fake_cudnn: ctypes.CDLL) -> Iterator[Callable[[bool], None]]:
    """An engine 41 that needs a workspace of 4 MiB, and a switch that limits the GPU to allocations
    of 2 MiB."""

    def set_limit(little: bool) -> None:
        FAKE.fake_largest(ctypes.c_long(2 << 20 if little else 1 << 30))

    fake_cudnn.fake_workspace(ctypes.c_int64(4 << 20))
    yield set_limit
    fake_cudnn.fake_workspace(ctypes.c_int64(512))
    set_limit(False)


def test_large_workspaces_do_not_affect_a_kernel_graph(
    write: Write, little_memory: Callable[[bool], None]
) -> None:
    """The workspace of a graph on cuDNN does not affect a graph that only a kernel runs."""
    manifest, alone = (
        conv_manifest(name="other"),
        conv_manifest(**graph_fields("only_kernel", (FAST,))),
    )
    manifest = replace(
        manifest,
        graphs=(*alone.graphs, *manifest.graphs),
        calls=(Call(0, "model.py:12"), Call(1, "model.py:13")),
    )
    little_memory(True)
    first, second = load(write(manifest=manifest, flags=("-DTHEN=1",)))
    assert (first.kernel, first.rejected) == ("fast", ())
    assert (second.engine, second.kernel) == (42, None)
    assert (
        "workspace of 4194304 bytes cannot be allocated: the GPU's memory is full"
        in second.rejected[-1]
    )


def test_kernel_replaces_a_plan_without_memory(
    write: Write, tmp_path: Path, little_memory: Callable[[bool], None]
) -> None:
    path, cache = write(SLOW), tmp_path / "cache"
    assert load(path, plan_cache=cache, tune="quick")[0].engine == 41
    little_memory(True)
    for _ in range(2):
        (report,) = load(path, plan_cache=cache)
        assert report.kernel == "slow"
        assert report.rejected == (
            "stored plan: workspace of 4194304 bytes cannot be allocated: the GPU's memory is full",
        )
    # Memory may be available later: the better plan stays stored.
    little_memory(False)
    assert load(path, plan_cache=cache)[0].engine == 41


def test_precedence_of_offline_plans_and_kernels(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel that the artifact prefers takes precedence over unmeasured plans; otherwise a plan
    takes precedence."""
    describe()
    described = tmp_path / "fake-cudnn9.19.json"
    described.write_text(capsys.readouterr().out)

    def planned(*kernels: GraphKernel, preference: str) -> Path:
        path = write(*kernels, preference=preference)
        opened = open_artifact(path)
        members = {
            name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS
        }
        plans = offline_planner(str(described)).plan(
            opened.manifest, load_native(members["native.so"])
        )
        # A graph with only kernels is not passed to cuDNN.
        assert (len(plans.results), len(plans.members)) == (
            (0, 0) if preference == "only_kernel" else (1, 1)
        )
        write_artifact(path, opened.manifest, {**members, **plans.members}, opened.weights())
        return path

    path = planned(FAST, preference="kernel")
    assert load(path)[0].origin == "kernel"
    assert load(path, strict=True)[0].origin == "offline plan in the artifact"
    assert (
        load(planned(kernel("newer", chip="sm_100"), preference="kernel"))[0].origin
        == "offline plan in the artifact"
    )
    assert load(planned(FAST, preference="plan"))[0].origin == "offline plan in the artifact"
    assert load(planned(FAST, preference="only_kernel"))[0].origin == "kernel"
