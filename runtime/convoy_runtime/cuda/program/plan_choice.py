# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the plans and the form of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from convoy_runtime.cuda.graphs.forms import SERIAL, Arguments, Form, ProgramCapture
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.cuda.tuning.form_choice import choose_form
from convoy_runtime.cuda.tuning.in_context import choose_in_context
from convoy_runtime.cuda.tuning.selection import Context, drop_large_workspaces
from convoy_runtime.errors import CudaError

__all__ = ["Prepare", "choose_with_fallback", "close_with"]

#: Prepares a program to run with these plans in this form.
Prepare = Callable[[dict[int, Plan], Form], None]


def choose_with_fallback(
    context: Context,
    store: PlanStore | None,
    program: ProgramCapture,
    finalists: dict[int, list[Plan]],
    arguments: Arguments,
    stack: ExitStack,
    prepare: Prepare,
) -> tuple[dict[int, Plan], Form]:
    """Chooses the best of a program's plans that the device has memory for.

    Args:
        context: The program and the device.
        store: Stores the form.
        program: The program.
        finalists: Graph index to plans. Each plan is closed with `stack`.
        arguments: The buffers of the program.
        stack: Closes the plans that replace those with too large workspaces.
        prepare: Called with each choice until it does not raise CudaError.

    Returns:
        Graph index to plan, and the form.

    Raises:
        CudaError: The program cannot be captured, e.g. because of too little memory.
    """
    while True:
        try:
            plans = choose_in_context(context, program, finalists)
            form = choose_form(context, store, program, plans, arguments)
            form = _prepared(prepare, plans, form)
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
        return plans, form


def close_with(stack: ExitStack, finalists: Mapping[int, list[Plan]]) -> None:
    """Closes plans with `stack`, after the graphs captured from them, which are pushed later."""
    for plans in finalists.values():
        for plan in plans:
            stack.callback(plan.close)


def _prepared(prepare: Prepare, plans: dict[int, Plan], form: Form) -> Form:
    """Prepares the program in `form`, or if there is too little memory in the serial form, which
    needs the least. Returns the form."""
    try:
        prepare(plans, form)
    except CudaError as error:
        if form == SERIAL or not error.out_of_memory:
            raise
        prepare(plans, SERIAL)
        return SERIAL
    return form
