# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""One test of LoadGen: its settings, its run, and its verdict."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlperf_loadgen as loadgen

from benchmarks.mlperf.engine import Engine
from benchmarks.mlperf.sut import SystemUnderTest

__all__ = ["Outcome", "Settings", "read_outcome", "run_test"]

#: The value of a line of mlperf_log_detail.txt follows this.
_RECORD = ":::MLLOG "


@dataclass(frozen=True)
class Settings:
    """The settings of a test, in performance mode.

    Attributes:
        scenario: LoadGen's name of the scenario: SingleStream, Offline or Server.
        expected: The expected samples per second. Server queries arrive at this rate; LoadGen makes
            as many of the others as it takes for `seconds`.
        seconds: The shortest duration.
        queries: The fewest queries.
        latency: In Server, the seconds that 99 % of the queries may take.
        samples: The number of different samples.
        logs: The folder for LoadGen's logs; None for a temporary one.
    """

    scenario: str
    expected: float
    seconds: float
    queries: int = 100
    latency: float = 0.015
    samples: int = 1024
    logs: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """LoadGen's verdict.

    Attributes:
        scenario: The scenario.
        valid: Whether the test is valid.
        reason: Why it is not; empty if it is.
        rate: Completed samples per second.
        target: In Server, the rate at which queries arrived; else 0.
        queries: The number of queries.
        p50: Median latency in seconds.
        p90: 90th percentile.
        p99: 99th percentile.
    """

    scenario: str
    valid: bool
    reason: str
    rate: float
    target: float
    queries: int
    p50: float
    p90: float
    p99: float


def run_test(settings: Settings, engine: Engine, system: SystemUnderTest) -> Outcome:
    """Runs a test.

    Args:
        settings: The settings.
        engine: Holds the samples.
        system: Receives the queries; closed at the end.

    Returns:
        The verdict.

    Raises:
        Exception: A batch failed.
    """
    with ExitStack() as stack:
        folder = settings.logs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        stack.callback(system.close)
        # Not in LoadGen's callback, in which an exception would end the process.
        engine.load(range(settings.samples))
        library = loadgen.ConstructQSL(settings.samples, settings.samples, _keep, _keep)
        stack.callback(loadgen.DestroyQSL, library)
        handle = loadgen.ConstructFastSUT(system.issue, _flush)
        stack.callback(loadgen.DestroyFastSUT, handle)
        loadgen.StartTestWithLogSettings(
            handle, library, _test_settings(settings), _log_settings(folder)
        )
        text = (folder / "mlperf_log_detail.txt").read_text()
    system.check()
    return read_outcome(settings.scenario, text)


def read_outcome(scenario: str, text: str) -> Outcome:
    """Reads mlperf_log_detail.txt.

    Args:
        scenario: The scenario.
        text: The content of the file.

    Returns:
        The verdict.

    Raises:
        ValueError: The test has no result.
    """
    found: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith(_RECORD):
            record = json.loads(line.removeprefix(_RECORD))
            found[record["key"]] = record["value"]
    if "result_validity" not in found:
        msg = f"LoadGen's log has no result: {found.get('error_invalid_config', 'no reason')}"
        raise ValueError(msg)
    rate = next(
        float(found[key])
        for key in (
            "result_samples_per_second",
            "result_completed_samples_per_sec",
            "result_qps_with_loadgen_overhead",
        )
        if key in found
    )
    unmet = [
        name.removesuffix("_met").removeprefix("result_").replace("_", " ")
        for name in (
            "result_perf_constraints_met",
            "result_min_duration_met",
            "result_min_queries_met",
            "early_stopping_met",
        )
        if not found.get(name, True)
    ]
    p50, p90, p99 = (
        found[f"result_{percent}.00_percentile_latency_ns"] / 1e9 for percent in (50, 90, 99)
    )
    return Outcome(
        scenario,
        found["result_validity"] == "VALID",
        f"not met: {', '.join(unmet)}" if unmet else "",
        rate,
        float(found.get("result_scheduled_samples_per_sec", 0)),
        int(found["result_query_count"]),
        p50,
        p90,
        p99,
    )


def _keep(_: list[int]) -> None:
    """Called by LoadGen to load and to unload samples. The engine has all of them."""


def _flush() -> None:
    """Called by LoadGen after the last query. No system waits for more queries than it has."""


def _test_settings(settings: Settings) -> Any:
    made = loadgen.TestSettings()
    made.scenario = getattr(loadgen.TestScenario, settings.scenario)
    made.mode = loadgen.TestMode.PerformanceOnly
    made.min_duration_ms = round(settings.seconds * 1e3)
    made.min_query_count = settings.queries
    made.offline_expected_qps = made.server_target_qps = settings.expected
    made.single_stream_expected_latency_ns = round(1e9 / settings.expected)
    made.server_target_latency_ns = round(settings.latency * 1e9)
    made.server_target_latency_percentile = 0.99
    # Queries whose time has come are issued in one call.
    made.server_coalesce_queries = True
    return made


def _log_settings(folder: Path) -> Any:
    output = loadgen.LogOutputSettings()
    output.outdir = str(folder)
    output.copy_summary_to_stdout = False
    made = loadgen.LogSettings()
    made.log_output = output
    made.enable_trace = False
    return made
