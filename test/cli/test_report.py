"""Reports: figures, JSON, text and the HTML page."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_fixtures import FACTS, Page
from runtime_fixtures import affine_manifest

import convoy.report
from convoy.errors import ConvoyError
from convoy.report import Report, collect_report, read_report, report_lines, report_page
from convoy.report.model import Choice, OutsideOp, SourceFile, Step, StepChoice
from convoy.report.page_data import op_kind, page_data
from convoy.report.peaks import gpu_of
from convoy.report.timeline import timeline
from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.manifest import Call, Cudnn, Graph, Products
from convoy_runtime.plan_report import Trial
from convoy_runtime.profile import Profile, Timing

VENDOR = Path(convoy.report.__file__).parent / "vendor"


def step(number: int, **changes: Any) -> Step:
    fields = Step(
        kind="graph", name=f"conv_{number % 7}", form="convolution + relu",
        tensors="float16[1x4] -> float16[1x8]", location="m<o>del.py:2",
        bytes=4300, flops=10_000, rate="float16", microseconds=2.0, in_place_microseconds=1.5,
        limit_microseconds=0.001, bound="memory", live_bytes=3_000_000,
        after=(), untuned="cuDNN's first plan",
    )  # fmt: skip
    return replace(fields, **changes)


def choice(graph: str, **changes: Any) -> Choice:
    candidates = (
        Trial(41, {"TILE": 1}, 0, 2.0, None, False),
        Trial(3, {}, 0, None, "writes after <tensor> 4", True),
    )
    fields = Choice(
        graph=graph, gpu="NVIDIA H200", cudnn=91900, driver=13000, options="", used=True,
        origin="stored plan", tuned="quick", engine=41,
        knobs={"TILE": 1}, numerical_notes=("TENSOR_CORE",), behavior_notes=(),
        workspace_bytes=512, heuristic="A", rank=1,
        reference="the median of 5 plans",
        candidates=candidates,
        rejected=("A[0] engine 4 {}: CUDNN_STATUS_NOT_SUPPORTED: Reason: x < <b>y</b>",),
    )  # fmt: skip
    return replace(fields, **changes)


@pytest.fixture
def report() -> Report:
    """300 groups, two kernels and a copy."""
    kernel = step(
        0,
        kind="kernel",
        name="main_relu_0",
        form="generated kernel",
        flops=None,
        rate=None,
        location="other.py:9",
    )
    copy = step(0, kind="copy", name="copy 0", form="copy", flops=None, rate=None, location="")
    steps = kernel, *(step(number) for number in range(300)), kernel, copy
    return Report(
        model="m.convoy", target="cuda", producer={"convoy": "1"}, times="measured",
        gpu=gpu_of(FACTS), memory={"prepared weights": 1000, "inputs": 2000, "outputs": 4},
        arena_bytes=5_000_000, form="calls side by side",
        replay_microseconds=500.0, steps=tuple(replace(each,
        after=(number - 1,) if number else ()) for number, each in enumerate(steps)),
        choices=tuple(choice(f"conv_{number}") for number in range(7)),
        outside=(OutsideOp("tcp.sin", "model.py:3", "no <reason>"),),
        sources=(SourceFile("m<o>del.py", ((1, "def f(x):"), (2, "    return x < 1"), (7,
        "end"))),),
    )  # fmt: skip


def test_page_is_self_contained(report: Report) -> None:
    text = report_page(report)
    page = Page(text)
    assert not {tag for tag, _ in page.tags} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "source",
        "video",
        "audio",
    }
    assert not page.all("src")
    assert not page.all("srcset")
    assert all(link.startswith("#") for link in page.all("href"))
    # The policy forbids requests of the libraries, which name other hosts in namespaces and texts.
    own = text
    for library in ("d3.min.js", "dagre.min.js"):
        vendored = (VENDOR / library).read_text()
        assert vendored in text
        own = own.replace(vendored, "")
    assert not re.search(
        r"https?:|//\w|url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import\s*\(", own
    )
    (policy,) = (
        each["content"]
        for tag, each in page.tags
        if tag == "meta" and each.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_libraries_have_their_digests() -> None:
    text = (VENDOR / "README.md").read_text()
    for library in VENDOR.glob("*.js"):
        assert hashlib.sha256(library.read_bytes()).hexdigest() in text
        assert (VENDOR / library.name.replace(".min.js", ".LICENSE")).exists()


def test_data_of_the_page_cannot_end_its_script(report: Report) -> None:
    named = replace(report.steps[0], name="</script><script>alert(1)", form="a <!-- b + relu")
    text = page_data(replace(report, steps=(named,)), {})
    assert "<" not in text
    (read,) = json.loads(text)["steps"]
    assert (read["name"], read["rows"]) == (named.name, ["a <!-- b", "relu"])


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("convolution + add + relu", "convolution"),
        ("matmul + add", "product"),
        ("sdpa_forward", "attention"),
        ("layernorm", "norm"),
        ("avgpool_include_padding", "reduction"),
        ("add + relu", "elementwise"),
    ],
)
def test_kind_of_op(form: str, kind: str) -> None:
    assert op_kind(step(0, form=form)) == kind


def test_page_is_consistent(report: Report) -> None:
    page = Page(report_page(report))
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    targets = {link.removeprefix("#") for link in page.all("href")}
    assert targets <= set(ids)
    # One bar and one row for each call; the bars fill the timeline from end to end.
    rows = [f"call-{number}" for number in range(303)]
    assert [each for each in ids if each.startswith("call-")] == rows
    assert page.all("data-call") == [str(number) for number in range(303)]
    bars = [each for tag, each in page.tags if tag == "svg" and "x" in each]
    end = float((bars[-1]["x"] or "").rstrip("%")) + float((bars[-1]["width"] or "").rstrip("%"))
    # The replay takes 500 us, the sum of its calls 454.5.
    assert end == pytest.approx(100 * 454.5 / 500, abs=0.01)
    # A source line links to its calls, and each call links to its source line.
    assert {"call-1", "source-0-2", "plan-conv_3"} <= targets
    assert "606.0 us" in page.text
    assert "454.5 us" in page.text
    assert "CUDNN_STATUS_NOT_SUPPORTED: Reason: x < <b>y</b>" in page.text
    assert "writes after <tensor> 4" in page.text
    assert "no <reason>" in page.text


def test_page_is_accessible(report: Report) -> None:
    text = report_page(report)
    page = Page(text)
    assert dict(page.tags)["html"] == {"lang": "en"}
    assert "prefers-color-scheme: dark" in text
    labelled = [each for tag, each in page.tags if tag == "section"]
    assert labelled
    assert {each["aria-labelledby"] for each in labelled} <= set(page.all("id"))
    assert all(
        each.get("aria-label") for tag, each in page.tags if tag == "a" and "data-call" in each
    )
    assert all(each.get("scope") for tag, each in page.tags if tag == "th")
    assert (
        sum(tag == "caption" for tag, _ in page.tags)
        >= sum(tag == "table" for tag, _ in page.tags) - 1
    )


def test_page_without_times(report: Report) -> None:
    unknown = {
        "microseconds": None,
        "in_place_microseconds": None,
        "limit_microseconds": None,
        "bound": None,
    }
    steps = tuple(replace(each, **unknown) for each in report.steps)
    bare = replace(
        report,
        times="none",
        gpu=None,
        form=None,
        replay_microseconds=None,
        steps=steps,
        choices=(),
        sources=(),
        outside=(),
    )
    page = Page(report_page(bare))
    assert "m.convoy, not measured" in page.text
    assert "Timeline" not in page.text
    assert "convoy tune" in page.text
    assert {link.removeprefix("#") for link in page.all("href")} <= set(page.all("id"))


def test_json_has_everything(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    tried = Trial(None, {}, 512, 2.0, None, False, None, "conv2d | relu", ("engine 4", "engine 1"))
    steps = (
        StepChoice("conv2d_0", "engine 4", {"TILE": 2}, 0),
        StepChoice("relu_0", "engine 1", {}, 256),
    )
    split = replace(
        choice("conv_8"),
        engine=None,
        knobs={},
        candidates=(tried,),
        alternative="conv2d | relu",
        steps=steps,
    )
    report = replace(report, choices=(*report.choices, split))
    path.write_text(report.to_json())
    assert read_report(path) == report
    assert split.is_chosen(tried)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "{",
        lambda _: "[]",
        lambda tree: json.dumps({**tree, "version": 1}),
        lambda tree: json.dumps({**tree, "extra": 1}),
        lambda tree: json.dumps({key: value for key, value in tree.items() if key != "steps"}),
        lambda tree: json.dumps({**tree, "steps": [{"kind": "graph"}]}),
    ],
)
def test_invalid_report_files_are_refused(
    damage: Callable[[dict[str, Any]], str], report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    path.write_text(damage(json.loads(report.to_json())))
    with pytest.raises(
        ConvoyError,
        match=r"report\.json: expected a report of version 4, written by `convoy explain --json`",
    ):
        read_report(path)


def test_text_report(report: Report) -> None:
    lines = list(report_lines(report))
    assert lines[0] == "m.convoy measured on NVIDIA H200 (driver 13.0, cuDNN 9.19.0)"
    assert "  one replay 500.0 us (calls side by side)" in lines
    assert (
        "  303 calls, sum of each measured alone: 606.0 us; the roofline allows 0.30 us, 0 %"
        in lines
    )
    assert "  sum of each measured in place: 454.5 us" in lines
    assert "       2.00 us  engine 41 {TILE=1} workspace 0 bytes (chosen)" in lines
    assert "  not engine 3 {}: writes after <tensor> 4" in lines


def test_omitted_rows_are_counted(report: Report) -> None:
    many = replace(
        choice("conv_0"),
        candidates=tuple(Trial(number, {}, 0, 1.0 + number, None, False) for number in range(8)),
        rejected=tuple(f"engine {number}" for number in range(6)),
    )
    lines = list(report_lines(replace(report, choices=(many,))))
    assert "  and 3 more slower plans" in lines
    assert "  and 1 more rejection" in lines


def test_speeds_of_an_h200() -> None:
    """Compares with NVIDIA's data sheet: 4.8 TB/s, and 989 TFLOPs dense of float16 at a clock of
    1.83 GHz; the highest clock is 1.98."""
    gpu = gpu_of(FACTS)
    assert gpu.peak_bytes == pytest.approx(4.8e12, rel=0.03)
    assert gpu.flops["float16"] == pytest.approx(989e12 * 1.98 / 1.83, rel=0.01)
    assert gpu.flops["tf32"] == gpu.flops["float16"] / 2
    assert gpu.flops["float32"] == pytest.approx(67e12, rel=0.01)
    assert any("4.3 TB/s, measured" in note for note in gpu.notes)


def test_speeds_of_an_unknown_gpu() -> None:
    gpu = gpu_of(replace(FACTS, compute_capability=(99, 1)))
    assert gpu.flops == {}
    assert gpu.notes[-1] == (
        "arithmetic: unknown for compute capability 99.1; the roofline uses only the copy speed"
    )


@pytest.mark.parametrize(
    ("dtype", "allow_tf32", "rate"),
    [
        ("float32", True, "tf32"),
        ("float32", False, "float32"),
        ("bfloat16", True, "bfloat16"),
        ("float8_e4m3fn", True, "float8"),
        ("int8", False, "int8"),
    ],
)
def test_rate_depends_on_type_and_tf32(dtype: str, allow_tf32: bool, rate: str) -> None:
    cudnn = Cudnn(91900, 90000, "float32", allow_tf32)
    graphs = (
        Graph("g", "g_build", ("matmul",), "m.py:1", (), products=Products(64, dtype)),
        Graph("r", "r_build", ("relu",), "m.py:2", ()),
    )
    manifest = affine_manifest(
        target="cuda",
        graphs=graphs,
        calls=(Call(0, "m.py:1"), Call(1, "m.py:2")),
        cudnn=cudnn,
        files={},
    )
    opened = Artifact(Path("m.convoy"), manifest, {})
    report = collect_report(
        opened,
        Profile(
            FACTS,
            "calls one after another",
            (Timing("graph", 0, 0, 1.0), Timing("graph", 1, 0, 1.0)),
            2.0,
        ),
    )
    assert [(each.flops, each.rate) for each in report.steps] == [(64, rate), (None, None)]
    # A rate that the GPU has, so that the limit applies.
    assert report.gpu is not None
    assert rate in report.gpu.flops


def test_plans_of_an_artifact_in_the_report(report: Report) -> None:
    """The GPUs, the levels of the plans, and what runs on other GPUs."""
    steps = tuple(
        replace(each, untuned="kernel 32x64") if each.name == "conv_1" else each
        for each in report.steps
    )
    tuned = choice("conv_0", options=repr(PlanOptions(deterministic=True)))
    offline = [
        choice(f"conv_{number}", tuned="offline", gpu="NVIDIA L4", candidates=(), origin="offline")
        for number in range(1, 7)
    ]
    shipped = replace(
        report,
        times="tuning",
        gpu=None,
        form=None,
        replay_microseconds=None,
        steps=steps,
        choices=(tuned, *offline),
    )
    lines = list(report_lines(shipped))
    assert (
        "for NVIDIA H200, cuDNN 9.19.0, driver 13.0, deterministic=True: 1 of 7 graphs, "
        "1 tuned (quick)"
    ) in lines
    assert "  conv_1 has none: kernel 32x64" in lines
    assert (
        "for NVIDIA L4, cuDNN 9.19.0, driver 13.0: 6 of 7 graphs, 6 made without the "
        "GPU, not measured"
    ) in lines
    assert "  conv_0 has none: cuDNN's first plan" in lines
    assert "with another cuDNN or driver, plans are rebuilt from their engines and knobs" in lines
    assert (
        "plans made without the GPU are not used with another cuDNN, nor instead of a "
        "kernel that the graph prefers"
    ) in lines
    place = lines.index("conv_1: engine 41 {TILE=1} [TENSOR_CORE] workspace 512 bytes")
    assert lines[place + 2] == "  not used without tuning: kernel 32x64 is preferred"
    assert lines.count(lines[place + 2]) == 1
    assert (
        "for NVIDIA L4, cuDNN 9.19.0, driver 13.0: 6 of 7 graphs" in Page(report_page(shipped)).text
    )
    # A measured report is from one GPU and lists itself what was refused there.
    assert not any(line.startswith("for NVIDIA") for line in report_lines(report))


def lanes(*calls: tuple[float, tuple[int, ...]]) -> list[tuple[int, float, float]]:
    """Lane, begin and end of calls in a timeline, in microseconds, from the time that each call
    adds to a replay and its dependencies."""
    steps = tuple(step(0, in_place_microseconds=time, after=after) for time, after in calls)
    report = Report(
        "m", "cuda", {}, "measured", None, {}, 0, "calls side by side", None, steps, (), (), ()
    )
    shown = timeline(report)
    assert shown.lanes == 1 + max(bar.lane for bar in shown.bars)
    scale = shown.microseconds / 100
    return [
        (bar.lane, round(bar.left * scale, 6), round((bar.left + bar.width) * scale, 6))
        for bar in shown.bars
    ]


def test_timeline_of_branches() -> None:
    """A call begins when its last dependency has ended, on a lane that is free by then."""
    assert lanes((1, ()), (2, (0,)), (3, (1,))) == [(0, 0, 1), (0, 1, 3), (0, 3, 6)]
    # A diamond: both branches begin at once. The call that joins them begins after the longer one,
    # on the lane of either.
    assert lanes((1, ()), (4, (0,)), (2, (0,)), (1, (1, 2))) == [
        (0, 0, 1),
        (0, 1, 5),
        (1, 1, 3),
        (0, 5, 6),
    ]
    # A branch stays on its lane, even if another one is free.
    assert lanes((1, ()), (1, (0,)), (2, (0,)), (1, (2,))) == [
        (0, 0, 1),
        (0, 1, 2),
        (1, 1, 3),
        (1, 3, 4),
    ]
    # The third of three independent calls takes the lane that is free first. The order of the bars
    # differs from that of the program.
    assert lanes((3, ()), (1, ()), (1, (1,)), (1, (0,)), (2, (1,))) == [
        (0, 0, 3),
        (1, 0, 1),
        (1, 1, 2),
        (0, 3, 4),
        (2, 1, 3),
    ]
    # Noise below zero counts as zero time.
    assert lanes((2, ()), (-0.1, (0,)), (1, (1,))) == [(0, 0, 2), (0, 2, 2), (0, 2, 3)]


def test_page_explains_the_timeline(report: Report) -> None:
    assert (
        "a bar starts at the end of the calls that it waits for" in Page(report_page(report)).text
    )
    serial = replace(report, times="tuning", gpu=None, form=None, replay_microseconds=None)
    assert (
        "The calls are shown one after another; only a measured program shows concurrent calls."
    ) in Page(report_page(serial)).text
    branches = tuple(
        replace(each, after=()) if number == 2 else each for number, each in enumerate(report.steps)
    )
    page = Page(report_page(replace(report, steps=branches)))
    assert {each["y"] for tag, each in page.tags if tag == "svg" and "x" in each} == {"8", "52"}
    # Call 2 has no dependencies, so calls 0 and 1, 1.5 us each, are not on the longest path.
    assert "451.5 us" in page.text
    lines = list(report_lines(replace(report, steps=branches)))
    assert (
        "  sum of each measured in place: 454.5 us; critical path of concurrent calls 451.5 us"
    ) in lines
