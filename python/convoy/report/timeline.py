"""Where the calls of a report are in its timeline: how long each takes is measured, when it begins
follows from what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10

from convoy.report.model import Report, Step

__all__ = ["Bar", "Timeline", "timeline"]

#: At most this many marks on the time axis.
_TICKS = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """A call: place and width in percent of the timeline, the reached part of the roofline in
    percent of the bar. Calls of different lanes may run side by side."""

    number: int
    step: Step
    lane: int
    left: float
    width: float
    share: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """Calls that were measured on `lanes` lanes, marks of the axis (place in percent,
    microseconds), and the width in percent of a replay; `microseconds` is when the last call
    ends."""

    bars: tuple[Bar, ...]
    lanes: int
    ticks: tuple[tuple[float, str], ...]
    replay: float
    microseconds: float


def timeline(report: Report) -> Timeline:
    """The timeline of a report; without bars where nothing was measured."""
    begins = _begins(report.steps)
    times = [_time(step) for step in report.steps]
    end = max(
        (begin + (time or 0.0) for begin, time in zip(begins, times, strict=True)), default=0.0
    )
    span = max(end, report.replay_microseconds or 0.0)
    if not span:
        return Timeline((), 0, (), 0.0, 0.0)
    lanes = _lanes(report.steps, begins)
    bars = []
    for number, (step, time) in enumerate(zip(report.steps, times, strict=True)):
        if time is not None:
            reached = (step.limit_microseconds or 0.0) / time if time else 0.0
            bars.append(
                Bar(
                    number,
                    step,
                    lanes[number],
                    100 * begins[number] / span,
                    100 * time / span,
                    100 * min(1.0, reached),
                )
            )
    return Timeline(
        tuple(bars),
        max(lanes) + 1,
        tuple(_ticks(span)),
        100 * (report.replay_microseconds or 0.0) / span,
        end,
    )


def _time(step: Step) -> float | None:
    """Microseconds of a bar: in place where that was measured, where noise may be below zero."""
    return (
        step.microseconds
        if step.in_place_microseconds is None
        else max(0.0, step.in_place_microseconds)
    )


def _begins(steps: Sequence[Step]) -> list[float]:
    """Microseconds after which each call begins, when it waits for nothing else than it has to."""
    ends: list[float] = []
    begins = []
    for step in steps:
        begins.append(max((ends[other] for other in step.after), default=0.0))
        ends.append(begins[-1] + (_time(step) or 0.0))
    return begins


def _lanes(steps: Sequence[Step], begins: Sequence[float]) -> list[int]:
    """A lane for each call: that of a call it waits for, if nothing else is there by then, else the
    first one that is free."""
    lanes = [0] * len(steps)
    ends: list[float] = []
    for number in sorted(range(len(steps)), key=lambda each: (begins[each], each)):
        free = [lane for lane, end in enumerate(ends) if end <= begins[number]]
        followed = [lane for other in steps[number].after if (lane := lanes[other]) in free]
        lane = next(iter(sorted(followed) or free), len(ends))
        if lane == len(ends):
            ends.append(0.0)
        lanes[number], ends[lane] = lane, begins[number] + (_time(steps[number]) or 0.0)
    return lanes


def _ticks(span: float) -> Iterator[tuple[float, str]]:
    """Marks of the time axis at round numbers."""
    magnitude = 10.0 ** floor(log10(span / _TICKS))
    step = next(
        factor * magnitude for factor in (1, 2, 5, 10) if span / (factor * magnitude) <= _TICKS
    )
    for index in range(int(span / step) + 1):
        yield 100 * index * step / span, f"{index * step:g}"
