# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the plans of a program, stored or new ones. Candidates that are equally fast alone are
compared inside the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.graphs.forms import Form
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.plan_file import LEVELS
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudaError, PlanError
from convoy_runtime.manifest import Manifest
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

from .workspaces import has_large_workspace

if TYPE_CHECKING:
    from convoy_runtime.cuda.plans.build_pool import BuildPool

    from .tuner import Tuner

__all__ = [
    "MIN_GAIN",
    "ROUNDS",
    "ROUND_MICROSECONDS",
    "Context",
    "ProgramForms",
    "choose_in_context",
    "drop_large_workspaces",
    "select_plans",
]

#: Rounds for comparing whole programs, after short ones that drop most of them.
ROUNDS = 7
ROUND_MICROSECONDS = 4000.0
_SHORT_ROUNDS = 5
_SHORT_ROUND_MICROSECONDS = 1000.0
#: A change is accepted if it reduces the time of the whole program below this share; a smaller gain
#: is noise.
MIN_GAIN = 0.999
#: The same threshold for a plan with a large workspace that would replace one without.
_MIN_GAIN_OF_LARGE = 0.99
#: A plan that is slower alone is faster inside the program by at most this share of its time,
#: because its operands are in the L2 cache there.
_MAX_GAIN_IN_PLACE = 0.25
#: The form for comparing plans. It clears workspaces once, so that memset nodes that the final form
#: does not have are not measured.
_COMPARED_FORM = Form(clear_once=True)


@value_type(frozen=True, slots=True)
class Context:
    """A program to plan, and the device.

    Attributes:
        manifest: The program.
        native: Its native library.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle to measure on.
        planner: The plans of the program.
        options: The options of the load.
        pool: Builds the plans that compile a kernel, if plans are measured.
    """

    manifest: Manifest
    native: NativeLibrary
    device: Device
    queue: Queue
    planner: Planner
    options: LoadOptions
    pool: BuildPool | None = None

    def report_progress(self, step: str, done: int, count: int) -> None:
        """Calls the user's `progress`, if any."""
        if self.options.progress is not None:
            self.options.progress(step, done, count)


@part("plans")
def select_plans(context: Context) -> dict[int, list[Plan]]:
    """Chooses or tunes the plans of a program. Tuned plans are stored at once, so that an interrupt
    loses nothing.

    Args:
        context: The program and the device.

    Returns:
        Index of a called graph to its plans, best first: one, or several that are equally fast.

    Raises:
        PlanError: A graph has no plan.
        CudnnError: cuDNN rejects an operation graph.
        CudaError: The driver fails.
    """
    manifest, planner, tune = context.manifest, context.planner, context.options.tune
    used = {index: manifest.graphs[index] for index in manifest.called_graphs}
    graphs = {index: (graph, context.native.builder(graph.symbol)) for index, graph in used.items()}
    # Plans of this tuning level or a higher one need not be tuned again.
    tuned = LEVELS[LEVELS.index(tune) :] if context.options.tunes else None
    found: dict[int, list[Plan]] = {}
    missing: list[PlanError] = []
    tuner: Tuner | None = None
    try:
        with planner.kernels.compiling(graphs.values(), tuned):
            for done, (index, (graph, build)) in enumerate(graphs.items()):

                def progress(what: str, done: int = done) -> None:
                    context.report_progress(what, done, len(graphs))

                progress(f"plan of {graph.name}")
                if tuned is None:
                    try:
                        found[index] = [planner.plan(graph, build)]
                    except PlanError as error:
                        # With `strict`, one error lists all graphs without a plan.
                        if not context.options.strict:
                            raise
                        missing.append(error)
                elif (known := planner.stored.find(graph, build, [], tuned)) is not None:
                    found[index] = [known]
                else:
                    if tuner is None:
                        # Imported here, because a load without tuning does not need it.
                        from .levels import TUNE_LEVELS
                        from .tuner import Tuner

                        tuner = Tuner(
                            planner, context.device, context.queue, TUNE_LEVELS[tune], context.pool
                        )
                        tuner.ahead(
                            [
                                each
                                for each in list(graphs.values())[done:]
                                if not planner.stored.has(*each, tuned)
                            ]
                        )
                    found[index] = tuner.tune(graph, build, progress)
                    planner.stored.keep(graph, build, found[index][0])
        if missing:
            raise missing[0].with_others(missing[1:])
    except BaseException:
        for plans in found.values():
            for plan in plans:
                plan.close()
        raise
    return found


def drop_large_workspaces(
    context: Context, finalists: dict[int, list[Plan]], error: CudaError
) -> dict[int, list[Plan]]:
    """Replaces the plans with the largest workspace, for which the device has no memory.

    Args:
        context: The program and the device.
        finalists: Graph index to plans.
        error: The error of the allocation.

    Returns:
        Graph index to the finalists with smaller workspaces, or else the planner's plan.

    Raises:
        CudaError: `error`, if workspaces are not its cause.
    """
    size = max(
        (plan.report.workspace_bytes for plans in finalists.values() for plan in plans), default=0
    )
    if not error.out_of_memory or not size:
        raise error
    context.planner.builder.drop_workspaces_of(size)
    left = {}
    for index, plans in finalists.items():
        left[index] = [plan for plan in plans if plan.report.workspace_bytes < size]
        if not left[index]:
            graph = context.manifest.graphs[index]
            left[index] = [context.planner.plan(graph, context.native.builder(graph.symbol))]
    return left


class ProgramForms(Protocol):
    """The part of `forms.ProgramCapture` that this module needs."""

    def forms(self, plans: Mapping[int, Plan]) -> list[Form]: ...

    def capture(self, plans: Mapping[int, Plan], form: Form) -> Captured: ...


@part("plans in the whole program")
def choose_in_context(
    context: Context, program: ProgramForms, finalists: dict[int, list[Plan]]
) -> dict[int, Plan]:
    """Chooses one plan for each graph. Finalists are compared inside the whole program, one graph
    after another, starting with the graph that takes the most time. A plan with a large workspace
    must be clearly faster than one without.

    Args:
        context: The program and the device.
        program: The program, on random inputs and weights (`fill_inputs`, `fill_weights`).
        finalists: Graph index to plans.

    Returns:
        Graph index to plan. A graph whose share of the time is too small for a measurable gain has
        its first plan.

    Raises:
        CudaError: The program cannot be captured or run.
    """
    calls = [site.graph for site in context.manifest.calls]
    is_large = has_large_workspace(context.manifest)
    finalists = {index: sorted(plans, key=is_large) for index, plans in finalists.items()}

    def share(index: int) -> float:
        return calls.count(index) * (finalists[index][0].report.trials[0].microseconds or 0.0)

    open_graphs = sorted(
        (index for index, plans in finalists.items() if len(plans) > 1), key=share, reverse=True
    )
    chosen = {index: plans[0] for index, plans in finalists.items()}
    if not open_graphs:
        return chosen
    with ExitStack() as stack:
        watch = Stopwatch(context.queue.driver, context.queue.stream)
        stack.callback(watch.close)
        best = [program.capture(chosen, _COMPARED_FORM)]
        stack.callback(lambda: best[0].close())
        watch.once(best[0])
        best_microseconds = watch.once(best[0])
        for done, index in enumerate(open_graphs):
            # The following ones take an even smaller share of the time.
            if share(index) * _MAX_GAIN_IN_PLACE < (1 - MIN_GAIN) * best_microseconds:
                break
            context.report_progress(
                f"{context.manifest.graphs[index].name} in the whole program",
                done,
                len(open_graphs),
            )
            for plan in finalists[index][1:]:
                larger = is_large(plan) and not is_large(chosen[index])
                other = program.capture({**chosen, index: plan}, _COMPARED_FORM)
                try:
                    faster, ours, theirs = _compare(
                        watch,
                        other,
                        best[0],
                        best_microseconds,
                        _MIN_GAIN_OF_LARGE if larger else MIN_GAIN,
                    )
                    best_microseconds = theirs if faster else ours
                    if faster:
                        best[0], other = other, best[0]
                        chosen[index] = plan
                finally:
                    other.close()
    return chosen


def _compare(
    watch: Stopwatch,
    new: Captured,
    best: Captured,
    best_microseconds: float | None,
    min_gain: float = MIN_GAIN,
) -> tuple[bool, float, float]:
    """Compares a program with the best one so far. Stops once it is slower in most of the rounds,
    of which the first ones are short.

    Args:
        watch: Times both.
        new: The program.
        best: The best one so far.
        best_microseconds: Its time, if it is already timed.
        min_gain: The share of the time of `best` that `new` must be below.

    Returns:
        Whether `new` is faster by more than noise, the time of `best` and the time of `new` in
        microseconds.
    """
    from statistics import median  # imported here, because only measuring needs it

    known: list[float | None] = [best_microseconds, None]
    our = their = 0.0
    for rounds, microseconds in (
        (_SHORT_ROUNDS, _SHORT_ROUND_MICROSECONDS),
        (ROUNDS, ROUND_MICROSECONDS),
    ):
        ours: list[float] = []
        theirs: list[float] = []
        slower = 0
        while len(ours) < rounds and slower <= rounds // 2:
            (our,), (their,) = watch.rounds(
                [best, new], rounds=1, microseconds=microseconds, known=known
            )
            ours.append(our)
            theirs.append(their)
            slower += their >= our
            known = [our, their]
        our, their = median(ours), median(theirs)
        if slower > rounds // 2:
            return False, our, their
    return their < our * min_gain, our, their
