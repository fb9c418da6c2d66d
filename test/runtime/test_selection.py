"""How close results are decided, with a stopwatch that returns predefined times."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.tuning import in_context
from convoy_runtime.cuda.tuning.in_context import _compare, choose_in_context
from convoy_runtime.cuda.tuning.selection import Context, ProgramForms

OLD, NEW = cast("Captured", "old"), cast("Captured", "new")


class FakeStopwatch(Stopwatch):
    """Each launch of a graph takes the next of its times, or the last one."""

    def __init__(self, **times: Sequence[float]) -> None:
        self.times = {name: list(figures) for name, figures in times.items()}
        self.launches: list[tuple[Any, int]] = []

    def close(self) -> None:
        pass

    def once(self, captured: Captured, launches: int = 1) -> float:
        self.launches.append((captured, launches))
        figures = self.times[cast("str", captured)]
        return figures.pop(0) if len(figures) > 1 else figures[0]


def test_known_times_need_no_first_launch() -> None:
    watch = FakeStopwatch(old=[9.0], new=[10.0])
    assert watch.rounds([OLD, NEW], rounds=2, microseconds=30, known=[5.0, None]) == [
        [9.0, 9.0],
        [10.0, 10.0],
    ]
    assert watch.launches == [(NEW, 1), (NEW, 1), *([(OLD, 6), (NEW, 3)] * 2)]


#: What the two launches take that determine the launches per round.
FIRST = [5000.0, 5000.0]


@pytest.mark.parametrize(
    ("new", "faster", "rounds"),
    [
        # As fast, or slower, in most of the short rounds.
        ([5000.0], False, 3),
        ([*FIRST, 4900.0, 5100.0, 4900.0, 5100.0], False, 5),
        # Faster in those and in the long ones.
        ([4900.0], True, 12),
        ([*FIRST, 5100.0, 5100.0, 4900.0], True, 12),
        # Only by noise.
        ([4998.0], False, 12),
        # Slower in most of the long rounds, of which the others are not run.
        ([*FIRST, *[4900.0] * 5, 5100.0], False, 9),
        ([*FIRST, *[4900.0] * 6, 5100.0], False, 10),
        ([*FIRST, *[4900.0] * 5, *[5100.0] * 3, 4900.0], True, 12),
    ],
)
def test_comparison_of_two_programs(new: list[float], faster: bool, rounds: int) -> None:
    watch = FakeStopwatch(old=[5000.0], new=new)
    found, ours, theirs = _compare(watch, NEW, OLD, None)
    assert (found, ours) == (faster, 5000.0)
    assert theirs in new
    assert sum(captured == OLD for captured, _ in watch.launches) == 2 + rounds
    # A graph that was timed before is not launched to determine its time.
    watch = FakeStopwatch(old=[5000.0], new=new)
    assert _compare(watch, NEW, OLD, 5000.0)[0] is faster
    assert sum(captured == OLD for captured, _ in watch.launches) == rounds


def test_short_rounds_come_first() -> None:
    watch = FakeStopwatch(old=[100.0], new=[90.0])
    assert _compare(watch, NEW, OLD, 100.0)[0]
    counts = [launches for captured, launches in watch.launches if captured == OLD]
    assert counts == [10] * 5 + [40] * 7


class FakeCaptured(str):
    """A program, named after the number of plans that are not the first ones."""

    __slots__ = ()

    def close(self) -> None:
        pass


def plan(place: int, microseconds: float, workspace: int = 0) -> Any:
    """The plan at this place of a graph's finalists."""
    trials = [SimpleNamespace(microseconds=microseconds)]
    report = SimpleNamespace(
        name=f"engine {place}", knobs={}, trials=trials, workspace_bytes=workspace
    )
    return SimpleNamespace(place=place, report=report)


def choose(
    finalists: dict[str, list[Any]],
    calls: Sequence[int],
    watch: FakeStopwatch,
    arena_bytes: int = 0,
    gap: int = 0,
) -> tuple[list[int], list[str]]:
    """Chooses plans of graphs, by name, in a program that calls graphs by index. Graphs of the same
    first letter are similar. Returns the place of each graph's plan, and what was compared."""
    compared: list[str] = []
    tensors = [SimpleNamespace(shape=(1, 64, 56, 56), dtype="float16")]
    context = SimpleNamespace(
        manifest=SimpleNamespace(
            graphs=[
                SimpleNamespace(name=name, ops=(name[0],), tensors=tensors) for name in finalists
            ],
            calls=[SimpleNamespace(graph=index) for index in calls],
            graph_gaps=dict.fromkeys(calls, gap),
            arena_bytes=arena_bytes,
            inputs=[],
            own_outputs=[],
            prepared=[],
        ),
        queue=SimpleNamespace(driver=None, stream=0),
        report_progress=lambda what, *_: compared.append(what.partition(" in the")[0]),
    )

    def capture(chosen: dict[int, Any], form: object) -> FakeCaptured:
        return FakeCaptured(sum(plan.place for plan in chosen.values()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_context, "Stopwatch", lambda *_: watch)
        chosen = choose_in_context(
            cast("Context", context),
            cast("ProgramForms", SimpleNamespace(capture=capture)),
            cast("Any", dict(enumerate(finalists.values()))),
        )
    return [cast("Any", plan).place for plan in chosen.values()], compared


def test_graphs_without_a_measurable_share_keep_their_first_plan() -> None:
    """In a program of 1000 us, a gain of 1 us is accepted: a graph must take 4 us, in all of its
    calls."""
    watch = FakeStopwatch(**{"0": [1000.0], "1": [990.0], "2": [980.0]})
    alone = {"large": 5.0, "small": 3.0, "often": 3.0}
    finalists = {name: [plan(0, alone[name]), plan(1, alone[name])] for name in alone}
    places, compared = choose(finalists, (0, 1, 2, 2), watch)
    assert compared == ["often", "large"]
    assert places == [1, 0, 1]


def test_similar_graphs_change_together() -> None:
    """Each takes 3 us, which is too little in a program of 1000 us. Those with other plans are
    compared apart."""
    watch = FakeStopwatch(**{"0": [1000.0], "1": [1010.0], "2": [990.0], "3": [1010.0]})
    finalists = {name: [plan(0, 3.0), plan(1, 3.0)] for name in ("a1", "a2")}
    finalists["a3"] = [plan(0, 5.0), plan(1, 5.0)]
    finalists["a3"][0].report.name = "engine 7"
    places, compared = choose(finalists, (0, 1, 2), watch)
    assert compared == ["a1 and 1 similar graph", "a3"]
    assert places == [1, 1, 0]
    # A difference in a knob is one in the plan.
    finalists["a2"][1].report.knobs["STAGES"] = 3
    assert choose(finalists, (0, 1, 2), watch)[1] == ["a3"]


MIB = 1 << 20


@pytest.mark.parametrize(
    ("workspaces", "arena", "microseconds", "place"),
    [
        # The first plan has a large workspace: over 2 MiB, and over 0.15 of the arena.
        ((64 * MIB, 0), 100 * MIB, 993.0, 1),
        ((64 * MIB, 0), 100 * MIB, 980.0, 0),
        # Small ones, whose order is that of their times alone.
        ((14 * MIB, 0), 100 * MIB, 1000.0, 0),
        ((2 * MIB, 0), 0, 1000.0, 0),
        # Both are large.
        ((64 * MIB, 32 * MIB), 100 * MIB, 1000.0, 0),
    ],
)
def test_a_large_workspace_must_save_a_hundredth(
    workspaces: tuple[int, int], arena: int, microseconds: float, place: int
) -> None:
    """The program takes 1000 us with the second plan."""
    watch = FakeStopwatch(**{"0": [microseconds], "1": [1000.0]})
    finalists = {"graph": [plan(each, 500.0, size) for each, size in enumerate(workspaces)]}
    assert choose(finalists, [0], watch, arena)[0] == [place]


@pytest.mark.parametrize(("gap", "place"), [(64 * MIB, 0), (63 * MIB, 1)])
def test_a_workspace_in_the_arena_is_not_large(gap: int, place: int) -> None:
    watch = FakeStopwatch(**{"0": [993.0], "1": [1000.0]})
    finalists = {"graph": [plan(0, 500.0, 64 * MIB), plan(1, 500.0, 0)]}
    assert choose(finalists, [0], watch, 100 * MIB, gap)[0] == [place]
