# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the scenarios with one loaded artifact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.mlperf.engine import Engine
from benchmarks.mlperf.find_rate import highest_valid
from benchmarks.mlperf.server import Server
from benchmarks.mlperf.sut import Offline, SingleStream
from benchmarks.mlperf.trial import Outcome, Settings, run_test

__all__ = ["SCENARIOS", "Options", "Row", "run_scenarios", "seconds_of"]

SCENARIOS = ("SingleStream", "Offline", "Server")
#: A test of Server without a rate uses this share of the rate of Offline.
_SERVER_SHARE = 0.84


@dataclass(frozen=True)
class Options:
    """What is run.

    Attributes:
        scenarios: The scenarios.
        settings: The settings of all tests; their scenario and rate are ignored.
        rate: The rate of Server in queries per second; None for a share of that of Offline.
        find: The seconds of the search for the highest valid rate; None for one test.
        deadline: See `Server`, in seconds.
    """

    scenarios: Sequence[str]
    settings: Settings
    rate: float | None = None
    find: float | None = None
    deadline: float = 0.0005


@dataclass(frozen=True)
class Row:
    """The result of a scenario.

    Attributes:
        outcome: The verdict.
        batch: The largest batch.
        replay: The seconds of its replay, or on the host of its run.
        offline: The samples per second of Offline in this process; None if it was not run.
        tests: In Server, the rates that were tried, and whether each was valid.
    """

    outcome: Outcome
    batch: int
    replay: float
    offline: float | None = None
    tests: tuple[tuple[float, bool], ...] = ()

    @property
    def peak(self) -> float:
        """The samples per second of replays without pauses: batch / replay."""
        return self.batch / self.replay

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON."""
        figures = {**asdict(self.outcome), "batch": self.batch, "replay": self.replay}
        figures |= {"peak": self.peak, "rate / peak": self.outcome.rate / self.peak}
        if self.offline is not None:
            figures["rate / Offline"] = self.outcome.rate / self.offline
        return {**figures, "tests": self.tests}


def seconds_of(engine: Engine) -> dict[int, float]:
    """Size of each compiled batch to the seconds of its run. The smallest and the largest one are
    measured, and the others lie on the line between them."""
    sizes, least, most = engine.sizes, engine.sizes[0], engine.most
    begin, end = engine.seconds(least), engine.seconds(most)
    return {size: begin + (end - begin) * (size - least) / max(1, most - least) for size in sizes}


def run_scenarios(engine: Engine, options: Options, report: Callable[[Row], None]) -> list[Row]:
    """Runs the scenarios in their order.

    Args:
        engine: The engine.
        options: What is run.
        report: Called with each row.

    Returns:
        The rows.

    Raises:
        ValueError: A test has no result.
        Exception: A batch failed.
    """
    seconds, rows, offline = seconds_of(engine), list[Row](), None
    most = engine.most
    for scenario in options.scenarios:
        settings = replace(options.settings, scenario=scenario)
        replay = seconds[most]
        if scenario == "Server":
            limit = most / replay if offline is None else offline
            row = _server(engine, options, settings, seconds, limit)
        elif scenario == "Offline":
            expected = replace(settings, expected=most / replay)
            outcome = run_test(expected, engine, Offline(engine))
            # A device may be slower when it is warm: the mean of the times before and after.
            replay, offline = (replay + engine.seconds(most)) / 2, outcome.rate
            row = Row(outcome, most, replay)
        else:
            # Twice the rate that is possible, so that LoadGen makes enough queries.
            expected = replace(settings, expected=2 / seconds[engine.sizes[0]])
            outcome = run_test(expected, engine, SingleStream(engine))
            row = Row(outcome, engine.sizes[0], seconds[engine.sizes[0]])
        rows.append(replace(row, offline=offline))
        report(rows[-1])
    return rows


def _server(
    engine: Engine, options: Options, settings: Settings, seconds: dict[int, float], limit: float
) -> Row:
    """The row of Server."""

    def run(rate: float) -> Outcome:
        system = Server(engine, seconds, options.deadline)
        return run_test(replace(settings, expected=rate), engine, system)

    most = engine.most
    if options.find is None:
        outcomes = [run(options.rate or _SERVER_SHARE * limit)]
        best = outcomes[0]
    else:
        best, outcomes = highest_valid(run, limit, options.find)
    tests = tuple((each.target, each.valid) for each in outcomes)
    return Row(best, most, seconds[most], tests=tests)
