# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lays out the calls of a report on a timeline. Durations are measured; start times follow from the
dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10

from convoy.report.model import Report, Step

__all__ = ["Bar", "Timeline", "timeline"]

#: The largest number of ticks on the time axis.
_TICKS = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """A call on the timeline.

    Attributes:
        number: The index of the step.
        step: The step.
        lane: Calls in different lanes may run concurrently.
        left: The start, in percent of the timeline.
        width: The duration, in percent of the timeline.
        share: The share of the roofline, in percent of the bar.
    """

    number: int
    step: Step
    lane: int
    left: float
    width: float
    share: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline.

    Attributes:
        bars: The measured calls.
        lanes: The number of lanes.
        ticks: The ticks of the time axis: position in percent, label in microseconds.
        replay: The duration of a replay, in percent of the timeline.
        microseconds: The end of the last call.
    """

    bars: tuple[Bar, ...]
    lanes: int
    ticks: tuple[tuple[float, str], ...]
    replay: float
    microseconds: float


def timeline(report: Report) -> Timeline:
    """Computes the timeline of a report; it is empty if nothing is measured."""
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
    """Microseconds of a bar: in place if measured, clamped to 0 because of noise."""
    return (
        step.microseconds
        if step.in_place_microseconds is None
        else max(0.0, step.in_place_microseconds)
    )


def _begins(steps: Sequence[Step]) -> list[float]:
    """The earliest start of each call in microseconds."""
    ends: list[float] = []
    begins = []
    for step in steps:
        begins.append(max((ends[other] for other in step.after), default=0.0))
        ends.append(begins[-1] + (_time(step) or 0.0))
    return begins


def _lanes(steps: Sequence[Step], begins: Sequence[float]) -> list[int]:
    """The lane of each call: that of a call that it waits for if it is free, else the first free
    one."""
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
    """The ticks of the time axis at round numbers."""
    magnitude = 10.0 ** floor(log10(span / _TICKS))
    step = next(
        factor * magnitude for factor in (1, 2, 5, 10) if span / (factor * magnitude) <= _TICKS
    )
    for index in range(int(span / step) + 1):
        yield 100 * index * step / span, f"{index * step:g}"
