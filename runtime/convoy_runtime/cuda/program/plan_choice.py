# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the plans and the form of a program, and captures it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.cuda.graphs.forms import SERIAL, Arguments, Form, ProgramCapture
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.cuda.tuning.form_choice import choose_form
from convoy_runtime.cuda.tuning.selection import (
    Context,
    choose_in_context,
    drop_large_workspaces,
)
from convoy_runtime.errors import CudaError

__all__ = ["capture_with_fallback", "close_with"]


def capture_with_fallback(
    context: Context,
    store: PlanStore | None,
    program: ProgramCapture,
    finalists: dict[int, list[Plan]],
    arguments: Arguments,
    stack: ExitStack,
) -> tuple[dict[int, Plan], Form, Captured]:
    """Captures a program with the best of its plans that the device has memory for.

    Args:
        context: The program and the device.
        store: Stores the form.
        program: The program.
        finalists: Graph index to plans. Each plan is closed with `stack`.
        arguments: The buffers of the program.
        stack: Closes the plans that replace those with too large workspaces.

    Returns:
        Graph index to plan, the form, and the captured program.

    Raises:
        CudaError: The program cannot be captured, e.g. because of too little memory.
    """
    while True:
        try:
            plans = choose_in_context(context, program, finalists)
            form = choose_form(context, store, program, plans, arguments)
            form, captured = _capture(program, plans, form)
        except CudaError as error:
            finalists = drop_large_workspaces(context, finalists, error)
            close_with(stack, finalists)
            continue
        for index, candidates in finalists.items():
            if len(candidates) > 1:
                graph = context.manifest.graphs[index]
                context.planner.stored.keep(
                    graph, context.native.builder(graph.symbol), plans[index]
                )
        return plans, form, captured


def close_with(stack: ExitStack, finalists: Mapping[int, list[Plan]]) -> None:
    """Closes plans with `stack`, after the graphs captured from them, which are pushed later."""
    for plans in finalists.values():
        for plan in plans:
            stack.callback(plan.close)


def _capture(program: ProgramCapture, plans: dict[int, Plan], form: Form) -> tuple[Form, Captured]:
    """Captures the program in `form`, or if there is too little memory in the serial form, which
    needs the least."""
    try:
        return form, program.capture(plans, form)
    except CudaError as error:
        if form == SERIAL or not error.out_of_memory:
            raise
    return SERIAL, program.capture(plans, SERIAL)
