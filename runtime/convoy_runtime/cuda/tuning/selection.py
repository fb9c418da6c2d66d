"""Which plans a program runs on: those that the store knows, or new ones; close calls are decided
inside the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.graphs.forms import Form
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import LEVELS
from convoy_runtime.errors import CudaError, PlanError
from convoy_runtime.manifest import Manifest
from convoy_runtime.program import Progress
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

if TYPE_CHECKING:
    from convoy_runtime.cuda.plans.build_pool import BuildPool

    from .tuner import Tuner

__all__ = [
    "GAIN",
    "ROUNDS",
    "ROUND_MICROSECONDS",
    "Context",
    "ProgramForms",
    "decide",
    "give_way",
    "select",
]

#: How whole programs are compared; after a few rounds it may be clear already.
ROUNDS = 7
_FIRST_ROUNDS = 3
ROUND_MICROSECONDS = 4000.0
#: A change must make the whole program this much faster to be taken: less is noise.
GAIN = 0.999
#: The form in which plans are compared: a memset node that is not there in the end must not count.
_IN_PLACE = Form(clear_once=True)


@value_type(frozen=True, slots=True)
class Context:
    """What is to be planned, where, and how much work to put into it (`tune`: off, quick, full,
    exhaustive). `pool` builds plans that compile a kernel, if that level of work wants one."""

    manifest: Manifest
    native: NativeLibrary
    device: Device
    queue: Queue
    planner: Planner
    tune: str
    progress: Progress | None
    pool: BuildPool | None = None

    def tell(self, what: str, done: int, count: int) -> None:
        """Tells the caller's progress."""
        if self.progress is not None:
            self.progress(what, done, count)


@part("plans")
def select(context: Context) -> dict[int, list[Plan]]:
    """Plans of each graph that is called, by its index, best first: one, or several that tuning
    found to be equally good. What is tuned is stored at once, so that an interrupt loses nothing.
    Raises what planning and tuning raise."""
    manifest, planner, tune = context.manifest, context.planner, context.tune
    used = {index: manifest.graphs[index] for index in manifest.called_graphs}
    graphs = {index: (graph, context.native.builder(graph.symbol)) for index, graph in used.items()}
    # What is stored will do when as much work went into it.
    tuned = None if tune == "off" else LEVELS[LEVELS.index(tune) :]
    found: dict[int, list[Plan]] = {}
    missing: list[PlanError] = []
    tuner: Tuner | None = None
    try:
        with planner.compiling(graphs.values(), tuned):
            for done, (index, (graph, build)) in enumerate(graphs.items()):

                def tell(what: str, done: int = done) -> None:
                    context.tell(what, done, len(graphs))

                tell(f"plan of {graph.name}")
                if tuned is None:
                    try:
                        found[index] = [planner.plan(graph, build)]
                    except PlanError as error:
                        # What is not stored is told of all graphs at once.
                        if not planner.strict:
                            raise
                        missing.append(error)
                elif (known := planner.stored(graph, build, [], tuned)) is not None:
                    found[index] = [known]
                else:
                    if tuner is None:
                        # Only here, because it imports much that a load without tuning does not
                        # need.
                        from .levels import TUNE_LEVELS
                        from .tuner import Tuner

                        tuner = Tuner(
                            planner, context.device, context.queue, TUNE_LEVELS[tune], context.pool
                        )
                        tuner.ahead(
                            [
                                each
                                for each in list(graphs.values())[done:]
                                if not planner.is_stored(*each, tuned)
                            ]
                        )
                    found[index] = tuner.tune(graph, build, tell)
                    planner.keep(graph, build, found[index][0])
        if missing:
            raise missing[0].with_others(missing[1:])
    except BaseException:
        for plans in found.values():
            for plan in plans:
                plan.close()
        raise
    return found


def give_way(
    context: Context, finalists: dict[int, list[Plan]], error: CudaError
) -> dict[int, list[Plan]]:
    """Plans in place of `finalists` when the device has no memory for their largest workspace:
    those with smaller ones, or else what the planner has. Raises `error` when workspaces are not at
    fault, and what planning raises."""
    size = max(
        (plan.report.workspace_bytes for plans in finalists.values() for plan in plans), default=0
    )
    if not error.out_of_memory or not size:
        raise error
    context.planner.without_workspaces_of(size)
    left = {}
    for index, plans in finalists.items():
        left[index] = [plan for plan in plans if plan.report.workspace_bytes < size]
        if not left[index]:
            graph = context.manifest.graphs[index]
            left[index] = [context.planner.plan(graph, context.native.builder(graph.symbol))]
    return left


class ProgramForms(Protocol):
    """What is needed of a `forms.ProgramCapture`."""

    def forms(self, plans: Mapping[int, Plan]) -> list[Form]: ...

    def capture(self, plans: Mapping[int, Plan], form: Form) -> Captured: ...


@part("plans in the whole program")
def decide(
    context: Context, program: ProgramForms, finalists: dict[int, list[Plan]]
) -> dict[int, Plan]:
    """One plan a graph: what alone looked equally fast is tried in place, one graph after another,
    those first that take most time. What the program reads should be random (`fill_inputs`,
    `fill_weights`)."""
    calls = [site.graph for site in context.manifest.calls]

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
        took: float | None = None
        best = [program.capture(chosen, _IN_PLACE)]
        stack.callback(lambda: best[0].close())
        for done, index in enumerate(open_graphs):
            context.tell(
                f"{context.manifest.graphs[index].name} in the whole program",
                done,
                len(open_graphs),
            )
            for plan in finalists[index][1:]:
                other = program.capture({**chosen, index: plan}, _IN_PLACE)
                try:
                    faster, ours, theirs = _compared(watch, other, best[0], took)
                    took = theirs if faster else ours
                    if faster:
                        best[0], other = other, best[0]
                        chosen[index] = plan
                finally:
                    other.close()
    return chosen


def _compared(
    watch: Stopwatch, new: Captured, best: Captured, took: float | None
) -> tuple[bool, float, float]:
    """Whether a program is faster than the best one before, not by noise alone; and microseconds of
    that one, which `took` so long where it was timed already, and of the new one. What is slower in
    each of the first rounds is timed no longer."""
    from statistics import median  # only here: a load that measures nothing is to be short

    both = [best, new]
    ours, theirs = watch.rounds(
        both, rounds=_FIRST_ROUNDS, microseconds=ROUND_MICROSECONDS, known=[took, None]
    )
    if all(their >= our for our, their in zip(ours, theirs, strict=True)):
        return False, median(ours), median(theirs)
    known = [median(ours), median(theirs)]
    more = watch.rounds(
        both, rounds=ROUNDS - _FIRST_ROUNDS, microseconds=ROUND_MICROSECONDS, known=known
    )
    our, their = median([*ours, *more[0]]), median([*theirs, *more[1]])
    return their < our * GAIN, our, their
