# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Collects a report from an artifact, with or without a profile from a GPU."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from convoy.errors import ConvoyError
from convoy.explain import signature
from convoy.report.model import Choice, Gpu, Report, SourceFile, Step, StepChoice
from convoy.report.peaks import gpu_of

if TYPE_CHECKING:
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.inspection import PlanReport
    from convoy_runtime.manifest import Manifest, Products
    from convoy_runtime.profile import Profile, Timing

__all__ = ["collect_report"]

#: The number of source lines that are shown before and after the line of a step.
_CONTEXT_LINES = 2


def collect_report(
    artifact: Artifact,
    profile: Profile | None = None,
    plans: Sequence[PlanReport] = (),
    options: str = "",
) -> Report:
    """Collects the report of an artifact of the `cuda` target.

    Args:
        artifact: The artifact.
        profile: The profile of the loaded program. None for the plans and times of tuning in the
            artifact.
        plans: The plans of the loaded program.
        options: The text of its PlanOptions.

    Returns:
        The report.

    Raises:
        ConvoyError: The artifact has another target.
        ArtifactError: The artifact is damaged.
    """
    from convoy_runtime.inspection import program_calls

    manifest = artifact.manifest
    if manifest.target != "cuda":
        message = (
            f"{artifact.path}: expected an artifact of the cuda target, got one of "
            f"{manifest.target}, which has no plans"
        )
        raise ConvoyError(message)
    gpu: Gpu | None = None
    times: Literal["measured", "tuning", "none"]
    if profile is not None:
        gpu, times = gpu_of(profile.gpu), "measured"
        choices = [
            _choice(plan, gpu.name, gpu.cudnn, gpu.driver, options, used=True) for plan in plans
        ]
        timings: Sequence[Timing] = profile.timings
    else:
        choices = _shipped(artifact)
        timings = [_tuned(timing, manifest, choices) for timing in program_calls(artifact)]
        times = "tuning" if any(timing.microseconds is not None for timing in timings) else "none"
    lives: Sequence[int | None] = manifest.live or [None] * len(timings)
    steps = tuple(
        _limited(_step(timing, manifest, live), gpu)
        for timing, live in zip(timings, lives, strict=True)
    )
    return Report(
        model=Path(artifact.path).name,
        target=manifest.target,
        producer=dict(manifest.producer),
        times=times,
        gpu=gpu,
        memory={
            "prepared weights": sum(spec.bytes for spec in manifest.prepared),
            "inputs": sum(spec.bytes for spec in manifest.inputs),
        }
        | (
            {"outputs": sum(spec.bytes for spec in manifest.own_outputs)}
            if manifest.own_outputs
            else {}
        ),
        arena_bytes=manifest.arena_bytes,
        form=profile.form if profile is not None else None,
        replay_microseconds=profile.replay_microseconds if profile is not None else None,
        steps=steps,
        choices=tuple(choices),
        outside=manifest.outside,
        sources=tuple(_sources(step.location for step in steps)),
    )


# Plans.


def _choice(
    plan: PlanReport, gpu: str, cudnn: int, driver: int, options: str, *, used: bool
) -> Choice:
    return Choice(
        graph=plan.graph, gpu=gpu, cudnn=cudnn, driver=driver, options=options, used=used,
        origin=plan.origin, tuned=plan.tuned,
        engine=plan.engine, knobs=plan.knobs, numerical_notes=plan.numerical_notes,
        behavior_notes=plan.behavior_notes,
        workspace_bytes=plan.workspace_bytes, heuristic=plan.heuristic, rank=plan.rank,
        candidates=plan.trials,
        rejected=plan.rejected, reference=plan.reference, kernel=plan.kernel,
        alternative=plan.alternative, cublaslt=plan.cublaslt,
        steps=tuple(StepChoice(step.graph, step.name, step.knobs,
        step.workspace_bytes) for step in plan.steps),
    )  # fmt: skip


def _shipped(artifact: Artifact) -> list[Choice]:
    """The plans in an artifact. `used` are those of the GPU, cuDNN, driver and options with the
    most measured plans."""
    from convoy_runtime.inspection import shipped_plans

    choices = [
        _choice(each.report, each.gpu, each.cudnn, each.driver, each.options, used=False)
        for each in shipped_plans(artifact)
    ]
    measured = Counter(_scope(choice) for choice in choices if choice.candidates)
    if not measured:
        return choices
    best = max(measured, key=lambda scope: measured[scope])
    return [replace(choice, used=_scope(choice) == best) for choice in choices]


def _scope(choice: Choice) -> tuple[str, int, int, str]:
    return choice.gpu, choice.cudnn, choice.driver, choice.options


def _tuned(timing: Timing, manifest: Manifest, choices: Iterable[Choice]) -> Timing:
    """Adds the time that tuning measured for the graph's plan."""
    if timing.kind != "graph":
        return timing
    name = manifest.graphs[manifest.calls[timing.index].graph].name
    for choice in choices:
        if choice.used and choice.graph == name:
            chosen = (each.microseconds for each in choice.candidates if choice.is_chosen(each))
            return replace(timing, microseconds=next(chosen, None))
    return timing


# Steps.


def _rate(dtype: str, *, allow_tf32: bool) -> str:
    """The key of a product's arithmetic in the table of `peaks`. `allow_tf32` is that of the
    model."""
    if dtype == "float32" and allow_tf32:
        return "tf32"
    return "float8" if dtype.startswith("float8") else dtype


def _step(timing: Timing, manifest: Manifest, live: int | None) -> Step:
    def make(
        name: str,
        form: str,
        tensors: str,
        location: str,
        size: int,
        of: Products | None = None,
        untuned: str | None = None,
    ) -> Step:
        allow_tf32 = manifest.cudnn is None or manifest.cudnn.allow_tf32
        flops, rate = (
            (of.flops, _rate(of.dtype, allow_tf32=allow_tf32)) if of is not None else (None, None)
        )
        return Step(
            kind=timing.kind, name=name, form=form, tensors=tensors, location=location, bytes=size,
            flops=flops, rate=rate,
            microseconds=timing.microseconds, in_place_microseconds=timing.in_place_microseconds,
            limit_microseconds=None, bound=None, live_bytes=live,
            after=timing.after, untuned=untuned,
        )  # fmt: skip

    if timing.kind == "graph":
        call = manifest.calls[timing.index]
        graph = manifest.graphs[call.graph]
        size = sum(tensor.bytes for tensor in graph.tensors)
        untuned = (
            "cuDNN's first plan"
            if graph.preference == "plan"
            else f"kernel {graph.kernels[0].variant}"
        )
        return make(
            graph.name,
            " + ".join(graph.ops),
            signature(graph),
            call.location,
            size,
            graph.products,
            untuned,
        )
    if timing.kind == "kernel":
        kernel = manifest.kernels[timing.index]
        sizes = ", ".join(
            f"{argument.role} {argument.bytes} bytes" for argument in kernel.arguments
        )
        return make(kernel.name, "generated kernel", sizes, kernel.location, kernel.bytes)
    return make(f"copy {timing.index}", "copy", f"{timing.bytes // 2} bytes", "", timing.bytes)


def _limited(step: Step, gpu: Gpu | None) -> Step:
    """Adds the roofline limit: the time to move the bytes at copy speed, or to compute the products
    at the highest clock."""
    if gpu is None:
        return step
    memory = step.bytes / gpu.copy_bytes * 1e6
    peak = gpu.flops.get(step.rate or "")
    compute = step.flops / peak * 1e6 if step.flops and peak else 0.0
    return replace(
        step,
        limit_microseconds=max(memory, compute),
        bound="compute" if compute > memory else "memory",
    )


# Source.


def _sources(locations: Iterable[str]) -> Iterable[SourceFile]:
    """The source lines of steps with context, from files that can be read."""
    wanted: dict[str, set[int]] = {}
    for location in locations:
        path, _, number = location.rpartition(":")
        if path and number.isdecimal():
            wanted.setdefault(path, set()).add(int(number))
    for path, numbers in sorted(wanted.items()):
        try:
            text = Path(path).read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        shown = {
            near
            for number in numbers
            for near in range(number - _CONTEXT_LINES, number + _CONTEXT_LINES + 1)
        }
        lines = tuple(
            (number, text[number - 1]) for number in sorted(shown) if 0 < number <= len(text)
        )
        if lines:
            yield SourceFile(os.fspath(path), lines)
