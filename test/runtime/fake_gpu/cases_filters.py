"""Plan options are guarantees: wherever a plan comes from, one that violates an option is neither
chosen nor measured."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_gpu.cases_alternatives import SPLIT, contents
from fake_gpu.fixtures import zeros

import convoy_runtime
from convoy.artifact import write_artifact
from convoy_runtime._native import load_native
from convoy_runtime.artifact import WEIGHTS
from convoy_runtime.cuda.cudnn.device_properties import main as describe
from convoy_runtime.cuda.cudnn.enums import NumericalNote
from convoy_runtime.cuda.plans.options import PlanOptions
from convoy_runtime.inspection import offline_planner
from convoy_runtime.opening import open_artifact
from convoy_runtime.plan_report import PlanReport

#: The option; the note given to engine 41, the fastest precompiled one; the engines that are
#: forbidden then, and the reason.
FILTERS: tuple[tuple[dict[str, Any], str, set[int], str], ...] = (
    ({"deterministic": True}, "NONDETERMINISTIC", {41}, "is not deterministic"),
    ({"allow_winograd": False}, "WINOGRAD", {41}, "uses Winograd transforms"),
    ({"allow_winograd": False}, "WINOGRAD_TILE_6x6", {41}, "uses Winograd transforms"),
    ({"allow_fft": False}, "FFT", {41}, "uses Fourier transforms"),
    (
        {"allow_reduced_precision_reduction": False},
        "REDUCED_PRECISION_REDUCTION",
        {41},
        "accumulates in less than the compute type",
    ),
    (
        {"allow_tensor_cores": False},
        "",
        {41, 46, 47},
        "uses tensor cores, which allow_tensor_cores=False forbids",
    ),
    ({"allow_tf32": False}, "", {41, 46, 47}, "uses TF32, which allow_tf32=False forbids"),
    ({"exclude_engines": (41,)}, "", {41}, "is an excluded engine"),
    ({"engines": (42,)}, "", {41, 46, 47}, "is not one of the allowed engines"),
    (
        {"max_workspace_bytes": 64 << 10},
        "",
        {41},
        "workspace of 1048576 bytes is over the limit of 65536",
    ),
    (
        {"exclude_numerical_notes": ("fft",)},
        "FFT",
        {41},
        "has the note FFT, which exclude_numerical_notes forbids",
    ),
    (
        {"exclude_behavior_notes": ["cudnn_behavior_note_runtime_compilation"]},
        "",
        {46, 47},
        "has the note RUNTIME_COMPILATION, which exclude_behavior_notes forbids",
    ),
    ({"allow_runtime_compilation": False}, "", {46, 47}, "compiles at run time"),
)


@pytest.fixture
def cudnn(fake_cudnn: ctypes.CDLL) -> Iterator[ctypes.CDLL]:
    fake_cudnn.fake_offer(3)
    # All others use tensor cores.
    fake_cudnn.fake_exact(42)
    yield fake_cudnn
    fake_cudnn.fake_offer(2)
    fake_cudnn.fake_note(0, 0)
    fake_cudnn.fake_exact(0)
    fake_cudnn.fake_knobs(0)
    fake_cudnn.fake_whole(0)
    fake_cudnn.fake_workspace(ctypes.c_int64(512))


@pytest.fixture
def write(tmp_path: Path, compile_c: Callable[..., bytes]) -> Callable[..., Path]:
    """Writes the artifact of alternatives.c, in a dtype, with or without an alternative."""

    def one(dtype: str, *, split: bool) -> Path:
        manifest, offered = contents(*([SPLIT] if split else []))
        graphs = tuple(
            replace(each, products=None, tensors=_in(dtype, each.tensors))
            for each in manifest.graphs
        )
        steps = tuple(replace(each, tensors=_in(dtype, each.tensors)) for each in offered.graphs)
        manifest, offered = replace(manifest, graphs=graphs), replace(offered, graphs=steps)
        members = {
            "native.so": compile_c("fake_gpu/alternatives.c"),
            "alternatives.json": offered.to_json().encode(),
        }
        write_artifact(tmp_path / "model", manifest, members, zeros(manifest))
        return tmp_path / "model"

    return one


def _in(dtype: str, tensors: Any) -> Any:
    # The same number of bytes, because that is the size of a step's temporary.
    count = 4 if dtype == "float32" else 8
    return tuple(
        replace(each, dtype=dtype, shape=(1, count), strides=(count, 1)) for each in tensors
    )


def engines(report: PlanReport) -> set[int]:
    """The engines that run a graph or its steps, and the engines that were also timed."""
    names = [
        report.name,
        *(trial.name for trial in report.trials if trial.microseconds is not None),
    ]
    return {int(number) for name in names for number in re.findall(r"engine (\d+)", name)}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize(("restricted", "note", "forbidden", "reason"), FILTERS)
def test_options_hold_for_every_origin_of_a_plan(
    write: Callable[..., Path], cudnn: ctypes.CDLL, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    restricted: dict[str, Any], note: str, forbidden: set[int], reason: str, *, split: bool,
) -> None:  # fmt: skip
    path = write("float32" if "allow_tf32" in restricted else "float16", split=split)
    options, cache = PlanOptions(**restricted), tmp_path / "cache"
    if note:
        cudnn.fake_note(41, NumericalNote[note])
    if "max_workspace_bytes" in restricted:
        cudnn.fake_workspace(ctypes.c_int64(1 << 20))
    # The whole graph takes longer than its steps, if it has any, and turned knobs would make engine
    # 47 the fastest.
    cudnn.fake_whole(8 if split else 0)
    cudnn.fake_knobs(2)

    def check(path: Path, **others: Any) -> PlanReport:
        with convoy_runtime.load(path, options=options, **others) as program:
            (report,) = program.plans  # type: ignore[attr-defined]
        assert engines(report)
        assert not engines(report) & forbidden
        return report  # type: ignore[no-any-return]

    untuned = check(path, plan_cache=cache)
    assert untuned.origin == "heuristics"
    # Heuristics propose no engine that compiles.
    assert any(line.endswith(reason) for line in untuned.rejected) == (41 in forbidden)
    assert check(path, plan_cache=cache) == replace(untuned, origin="stored plan")
    levels: tuple[Any, ...] = ("quick", "exhaustive")
    for level in levels:
        tuned = check(path, plan_cache=cache, tune=level)
        assert tuned.tuned == level
        assert (tuned.alternative is not None) == split
        assert any(line.endswith(reason) for line in tuned.rejected) == (
            level != "quick" or 41 in forbidden
        )
        assert check(path, plan_cache=cache, strict=True).choice == tuned.choice
    # Planned offline.
    describe()
    described = tmp_path / "fake-cudnn9.19.json"
    described.write_text(capsys.readouterr().out)
    opened = open_artifact(path)
    members = {name: bytes(content) for name, content in opened.members.items() if name != WEIGHTS}
    plans = offline_planner(str(described)).plan(
        opened.manifest, load_native(members["native.so"]), options=options
    )
    write_artifact(path, opened.manifest, {**members, **plans.members}, opened.weights())
    assert check(path, plan_cache=False, strict=True).origin == "offline plan in the artifact"


@pytest.mark.parametrize(
    ("restricted", "note", "chosen", "reasons"),
    [
        (
            {"require_numerical_notes": ("WINOGRAD",)},
            (42, "WINOGRAD"),
            42,
            [
                "A[0] engine 40 {}: has no note WINOGRAD, which require_numerical_notes demands",
                "A[1] engine 41 {}: has no note WINOGRAD, which require_numerical_notes demands",
            ],
        ),
        (
            {"forward_engines": (42,)},
            None,
            42,
            [
                "A[0] engine 40 {}: is not one of the allowed engines of forward_engines",
                "A[1] engine 41 {}: is not one of the allowed engines of forward_engines",
            ],
        ),
        (
            {"exclude_forward_engines": (40, 41)},
            None,
            42,
            [
                "A[0] engine 40 {}: is an excluded engine of exclude_forward_engines",
                "A[1] engine 41 {}: is an excluded engine of exclude_forward_engines",
            ],
        ),
        # The graph has no gradient.
        ({"dgrad_engines": (42,), "exclude_wgrad_engines": (41,)}, None, 41, None),
    ],
)
def test_engines_by_note_and_direction(
    conv: Path, cudnn: ctypes.CDLL, tmp_path: Path,
    restricted: dict[str, Any], note: tuple[int, str] | None, chosen: int,
    reasons: list[str] | None,
) -> None:  # fmt: skip
    """A plan that was stored without the restriction is not used with it."""
    if note is not None:
        cudnn.fake_note(note[0], NumericalNote[note[1]])

    def plan(options: PlanOptions) -> PlanReport:
        with convoy_runtime.load(conv, options=options, plan_cache=tmp_path / "cache") as program:
            (report,) = program.plans  # type: ignore[attr-defined]
        return report  # type: ignore[no-any-return]

    assert plan(PlanOptions()).engine == 41
    report = plan(PlanOptions(**restricted))
    assert (report.engine, report.origin) == (chosen, "heuristics")
    if reasons is not None:
        assert list(report.rejected) == reasons
    assert plan(PlanOptions(**restricted)).origin == "stored plan"


def test_unlimited_workspace(conv: Path, cudnn: ctypes.CDLL) -> None:
    cudnn.fake_workspace(ctypes.c_int64(513 << 20))
    for limit, engine in ((512 << 20, 42), (None, 41)):
        options = PlanOptions(max_workspace_bytes=limit)
        with convoy_runtime.load(conv, options=options, plan_cache=False) as program:
            assert program.plans[0].engine == engine  # type: ignore[attr-defined]
