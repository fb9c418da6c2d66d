# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chooses the plans of a program, stored or new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Captured
from convoy_runtime.cuda.graphs.forms import Form
from convoy_runtime.cuda.plans.load_options import LoadOptions
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.plan_file import LEVELS
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudaError, PlanError
from convoy_runtime.manifest import Manifest
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

if TYPE_CHECKING:
    from convoy_runtime.cuda.plans.build_pool import BuildPool

    from .overlap import Overlap
    from .tuner import Tuner

__all__ = ["Context", "ProgramForms", "drop_large_workspaces", "select_plans"]


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
    overlap: Overlap | None = None

    def progress(what: str) -> None:
        context.report_progress(what, len(found) + len(missing), len(graphs))

    def keep(index: int, plans: list[Plan]) -> None:
        found[index] = plans
        planner.stored.keep(*graphs[index], plans[0])

    try:
        with planner.kernels.compiling(graphs.values(), tuned):
            for done, (index, (graph, build)) in enumerate(graphs.items()):
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
                    if tuner is None or overlap is None:
                        # Imported here, because a load without tuning does not need them.
                        from .levels import TUNE_LEVELS
                        from .overlap import Overlap
                        from .tuner import Tuner

                        overlap = Overlap(keep)
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
                    overlap.begin(index, tuner.tuning(graph, build, progress))
            if overlap is not None:
                overlap.finish()
        if missing:
            raise missing[0].with_others(missing[1:])
    except BaseException:
        if overlap is not None:
            overlap.close()
        for plans in found.values():
            for plan in plans:
                plan.close()
        raise
    return {index: found[index] for index in graphs}


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
