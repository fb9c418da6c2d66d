"""Alternatives of a graph with the fake cuDNN of libcudnn.c: tuned, compared, stored, and refused.
A graph of four tensors is the whole; `product` and `rest` are its two steps, of three tensors each.
All of them copy their first tensor."""

from __future__ import annotations

import ctypes
import gc
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from fake_gpu.fixtures import FAKE, as_compiled, conv_manifest, zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy.cli.main import main as convoy
from convoy_runtime import PlanError
from convoy_runtime._native import load_native
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.cudnn.device_properties import main as describe
from convoy_runtime.cuda.graphs.capture import Stopwatch
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.cuda.program.executor import CudaProgram
from convoy_runtime.inspection import offline_planner
from convoy_runtime.manifest import (
    Call,
    Graph,
    GraphAlternative,
    GraphAlternatives,
    GraphKernel,
    GraphStep,
    GraphTemporary,
    Manifest,
    Products,
    kernel_member,
)
from convoy_runtime.opening import open_artifact
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.ptx_members import pack_ptx

X = np.arange(1 * 64 * 56 * 56, dtype=np.float16).reshape(1, 64, 56, 56)
Write = Callable[..., Path]

#: Tensors 0 to 3 are x, w, b, y. Graphs 1 and 2 are the steps; graph 3 is refused.
SPLIT = GraphAlternative(
    0, "product | rest", (GraphStep(1, (0, 1, 4)), GraphStep(2, (4, 2, 3))), (GraphTemporary(16),)
)
#: Each step is correct, but the second one reads w instead of the first one's result.
WRONG = replace(SPLIT, name="wrong", steps=(SPLIT.steps[0], GraphStep(2, (1, 2, 3))))
REFUSED = GraphAlternative(0, "refused", (GraphStep(3, (0, 1, 3)),))
ZEROS = GraphAlternative(0, "zeros", (GraphStep(1, (4, 1, 3)),), (GraphTemporary(16, zeros=True),))


def contents(
    *alternatives: GraphAlternative, calls: int = 1, **changes: Any
) -> tuple[Manifest, GraphAlternatives]:
    """The manifest and alternatives of alternatives.c; `changes` are fields of the called graph,
    which is called once or, under another name, twice."""
    manifest = conv_manifest(alternatives=tuple(each.name for each in alternatives), **changes)
    (whole,) = manifest.graphs
    steps = tuple(
        Graph(
            name,
            f"{name}_build",
            (name,),
            "model.py:9",
            (whole.tensors[0], whole.tensors[1], replace(whole.tensors[3], uid=3)),
            products=Products(8, "float16") if name == "product" else None,
        )
        for name in ("product", "rest", "refused")
    )
    offered = [
        replace(
            each,
            graph=index,
            steps=tuple(replace(step, graph=step.graph + calls - 1) for step in each.steps),
        )
        for index in range(calls)
        for each in alternatives
    ]
    graphs = (whole, replace(whole, name="other"))[:calls]
    sites = tuple(Call(index, "model.py:12") for index in range(calls))
    return replace(manifest, graphs=graphs, calls=sites), GraphAlternatives(steps, tuple(offered))


@pytest.fixture
def write(
    tmp_path: Path, compile_c: Callable[..., bytes], fake_cudnn: ctypes.CDLL
) -> Iterator[Write]:
    """Writes the artifact of alternatives.c with these alternatives."""

    def one(
        *alternatives: GraphAlternative,
        flags: tuple[str, ...] = (),
        members: Mapping[str, bytes] | None = None,
        **changes: Any,
    ) -> Path:
        manifest, offered = contents(*alternatives, **changes)
        path = tmp_path / "alternatives.convoy"
        native = {
            "native.so": compile_c("fake_gpu/alternatives.c", *flags),
            "alternatives.json": offered.to_json().encode(),
        }
        write_artifact(path, manifest, {**native, **(members or {})}, zeros(manifest))
        return path

    fake_cudnn.fake_offer(6)
    gc.collect()
    before = FAKE.fake_allocated()
    yield one
    fake_cudnn.fake_offer(2)
    fake_cudnn.fake_whole(0)
    fake_cudnn.fake_refuse(0)
    fake_cudnn.fake_counters(0)
    gc.collect()
    assert (fake_cudnn.fake_alive(), fake_cudnn.fake_handles(), FAKE.fake_allocated()) == (
        0,
        0,
        before,
    )


def load(path: Path, **options: Any) -> tuple[PlanReport, ...]:
    """The reports of a program whose results are checked."""
    with convoy_runtime.load(path, **{"plan_cache": False, "poison": True, **options}) as program:
        assert isinstance(program, CudaProgram)
        np.testing.assert_array_equal(program.run_numpy(X)[0].reshape(-1)[:8], X.reshape(-1)[:8])
        return program.plans


def test_alternative_wins_if_its_steps_are_faster(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_whole(8)
    for tune in ("quick", "full"):
        (report,) = load(write(SPLIT), tune=tune)
        assert (report.alternative, report.engine, report.kernel, report.origin, report.tuned) == (
            SPLIT.name,
            None,
            None,
            "tuning",
            tune,
        )
        fastest = 46 if tune == "full" else 41
        assert [(step.graph, step.engine, step.trials, step.rejected) for step in report.steps] == [
            ("product", fastest, (), ()),
            ("rest", fastest, (), ()),
        ]
        # An aligned temporary of 16 bytes, and a workspace for each step.
        assert report.workspace_bytes == 256 + 2 * 512
        assert report.name == f"product | rest on engine {fastest}, engine {fastest}"
        first, second = report.trials[:2]
        assert (first.alternative, first.steps, first.name) == (
            SPLIT.name,
            (f"engine {fastest}",) * 2,
            report.name,
        )
        assert first.is_of(report)
        assert first.microseconds is not None
        assert second.microseconds is not None
        assert second.microseconds > 1.5 * first.microseconds
        assert [trial.name for trial in report.trials if trial.first] == ["engine 41"]


def test_plans_of_steps_live_as_long_as_they_are_used(
    write: Write, fake_cudnn: ctypes.CDLL
) -> None:
    def alive(*alternatives: GraphAlternative, whole: int) -> int:
        fake_cudnn.fake_whole(whole)
        with convoy_runtime.load(write(*alternatives), plan_cache=False, tune="full") as program:
            for _ in range(2):
                np.testing.assert_array_equal(
                    program.run_numpy(X)[0].reshape(-1)[:8], X.reshape(-1)[:8]
                )
            return int(fake_cudnn.fake_alive())

    assert alive(whole=0) == alive(SPLIT, whole=0)
    # The plans of both steps, and none of the candidates that lost.
    assert alive(SPLIT, whole=20) == 2


def test_close_candidates_are_compared_in_the_whole_program(
    write: Write, fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_whole(2)
    messages: list[str] = []
    options = PlanOptions(engines=(41, 42))
    (report,) = load(
        write(SPLIT), tune="full", options=options, progress=lambda what, *_: messages.append(what)
    )
    assert "conv in the whole program" in messages
    assert {trial.name for trial in report.trials[:2]} == {
        "engine 41",
        "product | rest on engine 41, engine 41",
    }


def test_profile_of_an_alternative_equals_its_tuned_time(
    write: Write, fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_whole(8)
    with convoy_runtime.load(
        write(SPLIT, calls=2, flags=("-DTHEN=1",)), plan_cache=False, tune="quick"
    ) as program:
        assert isinstance(program, CudaProgram)
        assert [plan.alternative for plan in program.plans] == [SPLIT.name] * 2
        for timing in program.profile().timings:
            assert timing.microseconds == pytest.approx(
                program.plans[0].trials[0].microseconds, rel=0.1
            )


def test_graph_is_kept_if_it_is_faster(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    (report,) = load(write(SPLIT), tune="full")
    assert (report.engine, report.alternative, report.steps) == (46, None, ())
    (trial,) = (trial for trial in report.trials if trial.alternative is not None)
    # A copy for each step; one memset clears the workspaces of both, for eight runs.
    assert trial.microseconds == pytest.approx(2.125, rel=0.01)
    assert report.trials[0].microseconds == pytest.approx(1.125, rel=0.01)
    # A quick tune does not time two steps if one of them takes as long by itself.
    fake_cudnn.fake_whole(-1)
    (report,) = load(write(SPLIT), tune="quick")
    assert (report.engine, report.alternative) == (41, None)
    # A step has fewer tensors, so fewer buffers share its memset.
    reason = (
        r"alternative product \| rest: step product alone takes 2\.10 us, the whole graph "
        r"1\.1[23] us"
    )
    assert re.fullmatch(reason, report.rejected[-1])
    assert all(trial.alternative is None for trial in report.trials)


def test_quick_tune_tries_only_the_first_alternative(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_whole(8)
    other = replace(SPLIT, name="other")
    for tune, names in (("quick", {"product | rest"}), ("full", {"product | rest", "other"})):
        (report,) = load(write(SPLIT, other), tune=tune)
        assert {
            trial.alternative for trial in report.trials if trial.alternative is not None
        } == names


def test_alternative_with_a_wrong_result_is_dropped(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_whole(8)
    (report,) = load(write(WRONG), tune="quick")
    assert (report.engine, report.alternative) == (41, None)
    (trial,) = (trial for trial in report.trials if trial.alternative == "wrong")
    assert trial.microseconds is None
    assert re.fullmatch(
        r"output 0 differs from that of the median of \d plans, by .*", trial.reason or ""
    )


def test_alternative_with_a_step_without_a_plan_is_dropped(
    write: Write, fake_cudnn: ctypes.CDLL
) -> None:
    fake_cudnn.fake_whole(8)
    (report,) = load(write(REFUSED, SPLIT), tune="full")
    assert report.alternative == SPLIT.name
    reason = (
        "alternative refused: step refused: model.py:13: graph refused: finalize operation "
        "graph failed: CUDNN_STATUS_NOT_SUPPORTED"
    )
    assert any(line.startswith(reason) for line in report.rejected)
    # None of the engines that the options allow supports the steps, nor the graph.
    with pytest.raises(PlanError) as caught:
        load(write(SPLIT), tune="quick", options=PlanOptions(engines=(40,)))
    assert caught.value.tried[-1].startswith(
        "alternative product | rest: step product: A[0] engine 40 {}: CUDNN_STATUS_NOT_SUPPORTED"
    )


def test_options_apply_to_every_step(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_whole(30)
    (report,) = load(write(SPLIT), tune="quick", options=PlanOptions(engines=(42,)))
    assert [step.engine for step in report.steps] == [42, 42]
    (report,) = load(write(SPLIT), tune="quick", options=PlanOptions(max_workspace_bytes=600))
    assert report.alternative is None
    assert (
        report.rejected[-1]
        == "alternative product | rest: workspace of 1280 bytes is over the limit of 600"
    )


def test_step_of_several_graphs_is_tuned_once(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    """A quick tune measures three of cuDNN's choices for a step without float32, and one if it has
    no products."""
    fake_cudnn.fake_whole(8)
    fake_cudnn.fake_offer(7)
    messages: list[str] = []
    path = write(SPLIT, calls=2, flags=("-DTHEN=1",))
    reports = load(path, tune="quick", progress=lambda what, done, count: messages.append(what))
    assert [report.alternative for report in reports] == [SPLIT.name] * 2
    assert [what for what in messages if what.startswith("timing ")] == [
        "timing 5 plans of conv",
        "timing 3 plans of product",
        "timing 1 plans of rest",
        "timing 5 plans of other",
    ]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def record_of(
    cache: Path, change: Callable[[dict[str, Any]], None] = lambda _: None
) -> dict[str, Any]:
    """The record of the graph with an alternative, after a change."""
    records = {
        path: json.loads(path.read_text())["records"][0]
        for path in (cache / "plans").glob("*.json")
    }
    (file,) = (
        path for path, record in records.items() if record["report"].get("alternative") is not None
    )
    content = json.loads(file.read_text())
    change(content["records"][0])
    file.write_text(json.dumps(content))
    return dict(content["records"][0])


def test_restore_from_the_store(write: Write, fake_cudnn: ctypes.CDLL, cache: Path) -> None:
    fake_cudnn.fake_whole(8)
    path = write(SPLIT)
    (tuned,) = load(path, tune="quick", plan_cache=cache)
    assert tuned.alternative == SPLIT.name
    messages: list[str] = []
    for tune in ("off", "quick"):
        (report,) = load(
            path,
            tune=tune,
            plan_cache=cache,
            progress=lambda what, done, count: messages.append(what),
        )
        changes = {
            "origin": "stored plan",
            "steps": tuple(replace(step, origin="stored plan") for step in tuned.steps),
        }
        assert report == replace(tuned, **changes)
    assert not any("timing" in what for what in messages)
    # With another driver each step is rebuilt from its engine and knobs.
    record_of(cache, lambda record: record.update(driver=12000))
    (report,) = load(path, plan_cache=cache)
    assert (report.alternative, report.origin) == (SPLIT.name, "stored engine and knobs")
    assert [(step.engine, step.origin) for step in report.steps] == [
        (41, "stored engine and knobs")
    ] * 2


def test_stored_alternative_must_match_the_graphs(
    write: Write, fake_cudnn: ctypes.CDLL, cache: Path
) -> None:
    fake_cudnn.fake_whole(8)
    load(write(SPLIT), tune="quick", plan_cache=cache)
    kept = record_of(cache)

    def rejected(path: Path) -> str:
        (report,) = load(path, plan_cache=cache)
        assert (report.engine, report.origin) == (41, "heuristics")
        return report.rejected[0]

    message = (
        "stored plan: alternative product | rest: expected a plan of step product, got one "
        "of another graph"
    )
    assert rejected(write(SPLIT, flags=("-DPRODUCT=6",))) == message
    for text, reason in (
        ("[]", "alternative product | rest: expected plans of 2 steps, got 0"),
        ("junk", "Expecting value: line 1 column 1 (char 0)"),
    ):
        load(write(SPLIT), tune="full", plan_cache=cache)
        record_of(cache, lambda record, text=text: record.update({**kept, "plan": text}))
        assert rejected(write(SPLIT)) == f"stored plan: {reason}"
    # Options and known engine errors apply to each step.
    load(write(SPLIT), tune="full", plan_cache=cache)
    kept["report"]["steps"][1]["behavior_notes"] = ["REQUIRES_BIAS_INT8x32_REORDER"]
    record_of(cache, lambda record: record.update(kept))
    assert rejected(write(SPLIT)) == "stored plan: engine 41 of rest needs reordered int8 weights"
    # With other alternatives, or none, the key differs.
    (report,) = load(write(), plan_cache=cache)
    assert report.origin == "heuristics"
    assert not any("stored" in line for line in report.rejected)


def test_alternative_in_the_artifact(
    write: Write,
    fake_cudnn: ctypes.CDLL,
    cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONVOY_CACHE", str(cache))
    fake_cudnn.fake_whole(8)
    path, tuned = as_compiled(write(SPLIT)), tmp_path / "tuned.convoy"
    assert convoy(["tune", str(path), "-o", str(tuned)]) == 0
    assert re.search(
        r"^conv +1 +product \| rest on engine 41", capsys.readouterr().out, re.MULTILINE
    )
    (report,) = load(tuned, strict=True)
    assert (report.alternative, report.origin, report.tuned) == (
        SPLIT.name,
        "plan in the artifact",
        "quick",
    )
    # The artifact's contents, without loading it.
    assert convoy(["explain", str(tuned)]) == 0
    printed = capsys.readouterr().out
    assert "1 groups (1 distinct graphs)" in printed
    assert "      or product | rest, if tuning finds it faster\n" in printed
    assert re.search(
        r"^conv: product \| rest on engine 41, engine 41 {} \[TENSOR_CORE\] workspace 1280 bytes$",
        printed,
        re.MULTILINE,
    )
    assert (
        "  step product: engine 41 {} workspace 512 bytes\n  step rest: engine 41 {} "
        "workspace 512 bytes\n"
    ) in printed
    assert re.search(
        r"^ +\S+ us  product \| rest on engine 41, engine 41 {} workspace 1280 bytes \(chosen\)$",
        printed,
        re.MULTILINE,
    )
    page = tmp_path / "page.html"
    assert convoy(["explain", str(tuned), "--html", str(page)]) == 0
    assert (
        "<li>product: engine 41, knobs <code>none</code>, workspace 512 B</li>" in page.read_text()
    )
    capsys.readouterr()
    assert convoy(["inspect", str(path)]) == 0
    assert re.search(
        (
            r"^conv +1 +convolution add relu +- +1 +model\.py:9\nproduct +- +product +- +- "
            r"+model\.py:9$"
        ),
        capsys.readouterr().out,
        re.MULTILINE,
    )


def test_graph_itself_runs_without_tuning(write: Write, fake_cudnn: ctypes.CDLL) -> None:
    fake_cudnn.fake_whole(8)
    created = fake_cudnn.fake_created()
    (report,) = load(write())
    plain = fake_cudnn.fake_created() - created
    (report,) = load(write(SPLIT))
    assert (report.engine, report.alternative, report.origin) == (41, None, "heuristics")
    # Nothing is built for steps.
    assert fake_cudnn.fake_created() - created == 2 * plain


def test_unused_alternatives_are_not_read(
    write: Write, fake_cudnn: ctypes.CDLL, cache: Path
) -> None:
    """Neither without tuning nor when tuning chose an engine."""

    def reads(whole: int, tune: Literal["off", "quick"]) -> tuple[str | None, bool]:
        fake_cudnn.fake_whole(whole)
        with convoy_runtime.load(write(SPLIT), plan_cache=cache / str(whole), tune=tune) as program:
            assert isinstance(program, CudaProgram)
            return program.plans[0].alternative, "alternatives" in program.timings

    assert reads(0, "off") == (None, False)
    assert (reads(0, "quick"), reads(0, "off")) == ((None, True), (None, False))
    assert (reads(8, "quick"), reads(8, "off")) == ((SPLIT.name, True), (SPLIT.name, True))


def test_graph_without_a_plan_runs_on_its_alternative(
    write: Write, fake_cudnn: ctypes.CDLL, cache: Path
) -> None:
    fake_cudnn.fake_refuse(3)
    path = write(REFUSED, SPLIT)
    with pytest.raises(PlanError, match="no stored plan"):
        load(path, strict=True)
    reason = (
        "alternative refused: step refused: model.py:13: graph refused: finalize operation "
        "graph failed: CUDNN_STATUS_NOT_SUPPORTED"
    )
    for origin in ("alternative", "stored plan"):
        (report,) = load(path, plan_cache=cache)
        assert (report.alternative, report.origin, report.heuristic, report.rank) == (
            SPLIT.name,
            origin,
            "alternatives",
            1,
        )
        assert report.rejected[-1].startswith(reason)
        expected = (
            "conv: product | rest on engine 41, engine 41 (alternatives[1], {}) {{}} "
            "[TENSOR_CORE] workspace 1280 bytes"
        )
        assert str(report) == expected.format(origin)
    assert load(path, plan_cache=cache, strict=True)[0].origin == "stored plan"
    # There is also no plan if no step has one.
    with pytest.raises(PlanError) as caught:
        load(write(REFUSED))
    assert caught.value.tried[-1].startswith(reason)


def test_graph_that_cudnn_refuses_runs_on_its_alternative(write: Write) -> None:
    path = write(SPLIT, symbol="refused_build")
    (report,) = load(path)
    assert (report.alternative, report.origin) == (SPLIT.name, "alternative")
    assert report.rejected[0].startswith(
        "model.py:13: graph conv: finalize operation graph failed: CUDNN_STATUS_NOT_SUPPORTED"
    )
    (tuned,) = load(path, tune="full")
    assert (tuned.alternative, tuned.rejected[0]) == (SPLIT.name, report.rejected[0])
    assert [(trial.name, trial.first) for trial in tuned.trials] == [
        ("product | rest on engine 46, engine 46", True)
    ]
    assert tuned.reference == "the median of 1 plans"


@pytest.mark.parametrize("tune", ["off", "quick"])
def test_forbidden_kernel_is_replaced_by_an_alternative(write: Write, tune: str) -> None:
    """E.g. a stem in float32, whose kernels use TF32: cuDNN has no engine for it as a whole."""
    kernel = GraphKernel(
        "conv_fast", "fast", grid=1, block=32, shared_bytes=0, chip="sm_80", tf32=True
    )
    ptx = {kernel_member(kernel.name): pack_ptx(b"// PTX\n.visible .entry conv_fast(\n")}
    path = write(
        SPLIT,
        members=ptx,
        flags=("-Dconv_build=unused",),
        symbol=None,
        kernels=(kernel,),
        preference="only_kernel",
    )
    (report,) = load(path)
    assert (report.kernel, report.alternative) == ("fast", None)
    (report,) = load(path, tune=tune, options=PlanOptions(allow_tf32=False))
    assert (report.kernel, report.alternative) == (None, SPLIT.name)
    assert report.rejected[0] == "kernel fast: uses TF32, which allow_tf32=False forbids"


def test_zeros_operand_is_zero(write: Write) -> None:
    """The tensor of zeros follows a workspace full of NaN."""
    with convoy_runtime.load(
        write(ZEROS, symbol="refused_build"), plan_cache=False, poison=True
    ) as program:
        for _ in range(2):
            assert not program.run_numpy(X)[0].reshape(-1)[:8].any()


def test_workspaces_of_all_steps_are_cleared_at_the_start(
    write: Write, fake_cudnn: ctypes.CDLL
) -> None:
    """Two calls of two steps with a memset and two copies each: one memset at the start replaces
    all four. A step does not see what another one leaves in its workspace."""
    path = write(SPLIT, symbol="refused_build", flags=("-DTHEN=0",))
    with convoy_runtime.load(path, plan_cache=False, poison=True) as program:
        assert isinstance(program, CudaProgram)
        assert (program.form, program.plans[0].alternative) == (
            "calls one after another, cleared once",
            SPLIT.name,
        )
        with program._device.current():
            assert Stopwatch(program._driver, program._loaded.stream).once(
                program._loaded.capture()
            ) == pytest.approx(1 + 2 * 2 * 2)
    fake_cudnn.fake_counters(1)
    with convoy_runtime.load(path, plan_cache=False, poison=True) as program:
        assert program.form == "calls one after another, cleared once"  # type: ignore[attr-defined]
        for _ in range(2):
            # The eight values of the result are followed by the counters that the last step found.
            found = program.run_numpy(X)[0].reshape(-1)[:16]
            np.testing.assert_array_equal(found, [*X.reshape(-1)[:8], *[0] * 8])


def test_offline_plan_of_an_alternative(
    write: Write, fake_cudnn: ctypes.CDLL, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graph without a plan is planned by its alternative, offline as well."""
    describe()
    described = tmp_path / "fake-cudnn9.19.json"
    described.write_text(capsys.readouterr().out)
    fake_cudnn.fake_refuse(3)
    path = write(SPLIT)
    opened = open_artifact(path)
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    plans = offline_planner(str(described)).plan(
        opened.manifest, load_native(members["native.so"]), opened.alternatives()
    )
    (result,) = plans.results
    assert isinstance(result, PlanReport)
    assert (result.alternative, result.origin, len(plans.members)) == (SPLIT.name, "offline", 1)
    write_artifact(path, opened.manifest, {**members, **plans.members}, opened.weights())
    (report,) = load(path, strict=True)
    assert (report.alternative, report.origin) == (SPLIT.name, "offline plan in the artifact")
