# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the fastest form (`forms.Form`) of a program, which is stored with the plans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch, finished
from convoy_runtime.cuda.graphs.forms import SERIAL, Arguments, Form, ProgramCapture
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.plans.plan_file import LEVELS
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.errors import CudaError
from convoy_runtime.manifest import Manifest
from convoy_runtime.program import POISON
from convoy_runtime.timings import part

from .accuracy import mismatch
from .in_context import MIN_GAIN, ROUND_MICROSECONDS, ROUNDS
from .scratch import read_tensor
from .selection import Context

__all__ = ["choose_form", "form_member"]


@part("form of the program")
def choose_form(
    context: Context,
    store: PlanStore | None,
    program: ProgramCapture,
    plans: Mapping[int, Plan],
    arguments: Arguments,
) -> Form:
    """Chooses the form to capture a program in: the stored form for these plans, if it was found at
    the tuning level of `context` or a higher one; else the fastest form, measured on the contents
    of the program's buffers and then stored; without tuning, `program.default`.

    Args:
        context: The program and the device.
        store: Stores the form.
        program: The program.
        plans: Graph index to plan.
        arguments: The buffers of the program.

    Returns:
        The form.

    Raises:
        CudaError: The program cannot be captured or run.
    """
    content, options = _content(context.manifest, plans), repr(context.options.plan_options)
    if (known := _stored(store, content, options, context.options.tune)) is not None:
        return known
    if not context.options.tunes:
        return program.default(plans)
    form, times = _measured(context, program, plans, arguments)
    if store is not None:
        store.store(
            content,
            options,
            context.options.tune,
            "",
            {"form": asdict(form), "microseconds": times},
        )
    return form


def form_member(
    manifest: Manifest, store: PlanStore, options: str, plans: Mapping[int, Plan]
) -> dict[str, bytes]:
    """Returns the record of the program's form as a member of an artifact, name to content; empty
    if there is none."""
    content = _content(manifest, plans)
    new = store.new(content, options)
    for record in [new] if new is not None else store.load(content, options):
        if store.fits(record):
            return dict([store.member(content, options, record.level, record.plan, record.report)])
    return {}


def _content(manifest: Manifest, plans: Mapping[int, Plan]) -> str:
    """Returns the key of a form in the store: the code of the calls, the kernels, and the
    plans."""
    code = {
        name: manifest.files[name].sha256
        for name in ("native.so", "kernels.ptx")
        if name in manifest.files
    }
    engines = [[index, *plan.report.choice] for index, plan in sorted(plans.items())]
    return "program " + json.dumps({"files": code, "plans": engines}, sort_keys=True)


def _stored(store: PlanStore | None, content: str, options: str, level: str) -> Form | None:
    for record in store.load(content, options) if store is not None else []:
        if (
            store is not None
            and store.fits(record)
            and LEVELS.index(record.level) >= LEVELS.index(level)
        ):
            return _form(record.report.get("form"))
    return None


def _form(value: Any) -> Form | None:
    """Returns the form of a stored value; None if it is malformed."""
    if not isinstance(value, dict) or set(value) != {"branches", "clear_once"}:
        return None
    known = value["branches"] in ("none", "small", "all") and isinstance(value["clear_once"], bool)
    return Form(value["branches"], value["clear_once"]) if known else None


def _measured(
    context: Context, program: ProgramCapture, plans: Mapping[int, Plan], arguments: Arguments
) -> tuple[Form, dict[str, float | str]]:
    """Returns the fastest form, and for each form the microseconds of a run or the reason why it
    was dropped."""
    from statistics import median  # imported here, because only measuring needs it

    forms = program.forms(plans)
    times: dict[str, float | str] = {}
    if len(forms) == 1:
        return SERIAL, times
    best, best_form = program.capture(plans, SERIAL), SERIAL
    watch = Stopwatch(context.queue.driver, context.queue.stream)
    try:
        expected = _results(context, best, arguments)
        for done, form in enumerate(forms[1:]):
            context.report_progress(f"program with {form}", done, len(forms) - 1)
            try:
                other = program.capture(plans, form)
            except CudaError as error:
                times[str(form)] = str(error)
                continue
            try:
                if (
                    reason := _differs(
                        context.manifest, expected, _results(context, other, arguments)
                    )
                ) is not None:
                    times[str(form)] = reason
                    continue
                ours, theirs = map(
                    median,
                    watch.rounds([best, other], rounds=ROUNDS, microseconds=ROUND_MICROSECONDS),
                )
                times[str(best_form)], times[str(form)] = ours, theirs
                if theirs < ours * MIN_GAIN:
                    best, other, best_form = other, best, form
            finally:
                other.close()
    finally:
        watch.close()
        best.close()
    return best_form, times


def _results(context: Context, captured: Captured, arguments: Arguments) -> list[np.ndarray]:
    """Returns the outputs of a run on poisoned memory, so that they are independent of earlier
    runs."""
    queue, manifest = context.queue, context.manifest
    pairs = list(zip(manifest.outputs, arguments.outputs, strict=True))
    for pointer, size in (
        *((pointer, spec.bytes) for spec, pointer in pairs),
        (arguments.arena, manifest.arena_bytes),
    ):
        if size:
            queue.driver.call("cuMemsetD8Async", pointer, POISON, size, queue.stream)
    with finished(queue.driver, queue.stream):
        captured.launch(queue.stream)
        return [
            read_tensor(queue.driver, queue.stream, pointer, spec.bytes, spec.dtype)
            for spec, pointer in pairs
        ]


def _differs(manifest: Manifest, expected: list[np.ndarray], got: list[np.ndarray]) -> str | None:
    """Returns how the outputs of a form differ from the expected ones, or None if they are within
    the tolerance."""
    for spec, ours, theirs in zip(manifest.outputs, expected, got, strict=True):
        if (difference := mismatch(ours, theirs, spec.dtype)) is not None:
            return f"output {spec.name} differs from that of the serial form {difference}"
    return None
