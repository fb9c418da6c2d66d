# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares plans that are equally fast alone inside the whole program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.graphs.forms import Form
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.manifest import Manifest
from convoy_runtime.timings import part

from .kinds import kind_of
from .selection import Context, ProgramForms
from .workspaces import has_large_workspace

__all__ = ["MIN_GAIN", "ROUNDS", "ROUND_MICROSECONDS", "choose_in_context"]

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


@part("plans in the whole program")
def choose_in_context(
    context: Context, program: ProgramForms, finalists: dict[int, list[Plan]]
) -> dict[int, Plan]:
    """Chooses one plan for each graph. Finalists are compared inside the whole program, one group
    of similar graphs after another, starting with the group that takes the most time. A plan with a
    large workspace must be clearly faster than one without.

    Args:
        context: The program and the device.
        program: The program, on random inputs and weights (`fill_inputs`, `fill_weights`).
        finalists: Graph index to plans.

    Returns:
        Graph index to plan. Graphs whose share of the time is too small for a measurable gain have
        their first plan.

    Raises:
        CudaError: The program cannot be captured or run.
    """
    calls = Counter(site.graph for site in context.manifest.calls)
    is_large = has_large_workspace(context.manifest)
    finalists = {
        index: sorted(plans, key=partial(is_large, index)) for index, plans in finalists.items()
    }

    def share(index: int) -> float:
        return calls[index] * (finalists[index][0].report.trials[0].microseconds or 0.0)

    chosen = {index: plans[0] for index, plans in finalists.items()}
    changes = _changes(context.manifest, finalists)
    if not changes:
        return chosen
    with ExitStack() as stack:
        watch = Stopwatch(context.queue.driver, context.queue.stream)
        stack.callback(watch.close)
        best = [program.capture(chosen, _COMPARED_FORM)]
        stack.callback(lambda: best[0].close())
        watch.once(best[0])
        best_microseconds = watch.once(best[0])
        changes.sort(key=lambda change: sum(map(share, change)), reverse=True)
        for done, change in enumerate(changes):
            # The following ones take an even smaller share of the time.
            if sum(map(share, change)) * _MAX_GAIN_IN_PLACE < (1 - MIN_GAIN) * best_microseconds:
                break
            names = [context.manifest.graphs[index].name for index in change]
            more = len(names) - 1
            others = f" and {more} similar graph{'s' if more > 1 else ''}" if more else ""
            context.report_progress(f"{names[0]}{others} in the whole program", done, len(changes))
            larger = any(
                is_large(index, plan) and not is_large(index, chosen[index])
                for index, plan in change.items()
            )
            other = program.capture({**chosen, **change}, _COMPARED_FORM)
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
                    chosen.update(change)
            finally:
                other.close()
    return chosen


def _changes(manifest: Manifest, finalists: Mapping[int, Sequence[Plan]]) -> list[dict[int, Plan]]:
    """The changes to compare, each of which replaces the first plan of one graph or of several
    similar ones: of those with the same two plans. A DenseNet has 100 convolutions that differ in
    their input channels; one after another, they take 4 s, and each could change the program's time
    by little more than noise.

    Args:
        manifest: The program.
        finalists: Graph index to plans, first the one to replace.

    Returns:
        Graph index to new plan, for each change.
    """
    found: defaultdict[object, dict[int, Plan]] = defaultdict(dict)
    for index, (first, *others) in finalists.items():
        kind = kind_of(manifest.graphs[index])
        for plan in others:
            found[kind, _identity(first), _identity(plan)][index] = plan
    return list(found.values())


def _identity(plan: Plan) -> object:
    """What plans of similar graphs have in common."""
    return plan.report.name, tuple(sorted(plan.report.knobs.items()))


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
