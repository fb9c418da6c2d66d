# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures the throughput of `convoy_runtime.Replicas` on one device and on several.

    python -m benchmarks.serving.replicas resnet50-256.convoy --devices cuda:0 cuda:1

Calls have one batch of the largest size. Host arrays are copied to the device and results back, as
`Replicas` does; with --programs 2 these copies overlap the runs of the other program of a device.
On GPUs further rows are without copies: the program of each device replays its CUDA graph, which is
the most that `Replicas` can reach. Rounds of all rows alternate, and their medians are compared.
Weights are random unless the artifact has some.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.mlperf.weights import random_weights
from benchmarks.serving.measure import rate
from convoy_runtime import ConvoyRuntimeError, Program, Replicas
from convoy_runtime.host_arrays import aligned_empty, logical
from convoy_runtime.loader import load_each
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.random_arrays import random_array

__all__ = ["main"]

#: The calls of each program that are not finished: one runs, and two wait (`most_waiting`).
_WINDOW = 3
#: Replays are enqueued for about this many seconds before the host waits for them, so that the wait
#: is a small part of the time.
_ENQUEUED_SECONDS = 0.05


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        arrays: Where the arrays of a call are: "host" or "device".
        devices: The devices.
        per_second: Samples per second of all devices.
        of_one: That, divided by the samples per second of the first device alone.
    """

    arrays: str
    devices: list[str]
    per_second: float
    of_one: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints a table. Returns the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.serving.replicas",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--devices", nargs="+", required=True, help='"cuda:N" or "cpu", for each')
    parser.add_argument("--programs", type=int, default=1, help="programs on each device")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--json", type=Path, help="writes the figures")
    options = parser.parse_args(arguments)
    try:
        rows = _measure(options)
    except ConvoyRuntimeError as error:
        print(f"benchmarks.serving.replicas: error: {error}", file=sys.stderr)
        return error.exit_code
    print("| arrays | devices | samples per second | of one device |\n|---|---|---|---|")
    for row in rows:
        devices = ", ".join(row.devices)
        print(f"| {row.arrays} | {devices} | {row.per_second:.1f} | {row.of_one:.3f} |")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


def _measure(options: argparse.Namespace) -> list[Row]:
    """The rows of the first device and of all, with arrays on the host and on the devices."""
    devices: list[str] = options.devices
    groups = [devices[:1], devices] if len(devices) > 1 else [devices]
    runs: dict[str, list[Callable[[float], float]]] = {}
    with ExitStack() as stack:
        programs = [stack.enter_context(each) for each in load_each(options.artifact, devices)]
        first = programs[0]
        weights = None
        if not first.has_weights:
            weights = random_weights(first.weights)
            prepared = first.prepare(weights)
            for program in programs:
                program.install_all(prepared)
        arrays = [_placed(spec, random_array(spec)) for spec in first.example_inputs]
        for group in groups:
            names = group * options.programs
            replicas = stack.enter_context(Replicas(options.artifact, names, weights=weights))
            runs.setdefault("host", []).append(_host_run(replicas, arrays, len(names)))
        if first.manifest.target == "cuda":
            largest = [_largest(program) for program in programs]
            runs["device"] = [_device_run(largest[: len(group)]) for group in groups]
        for each in runs.values():
            for run in each:
                run(0)  # the first run captures CUDA graphs and touches memory
        rates = [
            {place: [run(options.seconds) for run in each] for place, each in runs.items()}
            for _ in range(options.rounds)
        ]
    rows = []
    for place in runs:
        per_second = [
            len(arrays[0]) * median(found)
            for found in zip(*(each[place] for each in rates), strict=True)
        ]
        rows += [
            Row(place, group, value, value / per_second[0])
            for group, value in zip(groups, per_second, strict=True)
        ]
    return rows


def _host_run(replicas: Replicas, arrays: list[np.ndarray], count: int) -> Callable[[float], float]:
    """A function that measures calls per second with host arrays on `count` programs."""

    def submit(given: list[np.ndarray]) -> Callable[[], Any]:
        return replicas.submit(*given).result

    return lambda seconds: (
        rate(submit, arrays, seconds, _WINDOW * count, time.process_time).per_second
    )


def _device_run(programs: Sequence[Program]) -> Callable[[float], float]:
    """A function that measures replays per second of several programs, each in a thread. It is the
    sum of their rates, because they do not end at the same time."""

    def replay(program: Any, seconds: float, rates: list[float]) -> None:
        program.replay()
        program.synchronize()
        start = time.perf_counter()
        program.replay()
        program.synchronize()
        enqueued = max(1, round(_ENQUEUED_SECONDS / (time.perf_counter() - start)))
        count, start = 0, time.perf_counter()
        while not count or time.perf_counter() - start < seconds:
            for _ in range(enqueued):
                program.replay()
            program.synchronize()
            count += enqueued
        rates.append(count / (time.perf_counter() - start))

    def run(seconds: float) -> float:
        rates: list[float] = []
        threads = [
            threading.Thread(target=replay, args=(program, seconds, rates)) for program in programs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(rates) != len(programs):
            raise ConvoyRuntimeError("a replay failed; see its traceback above")
        return sum(rates)

    return run


def _largest(program: Program) -> Program:
    """The static program of the last point."""
    return list(program.static_programs.values())[-1]


def _placed(spec: TensorSpec, values: np.ndarray) -> np.ndarray:
    """An array with the order in memory of an input, so that no call permutes it."""
    array = logical(aligned_empty(spec.stored.shape, spec.dtype), spec)
    array[...] = values
    return array


if __name__ == "__main__":
    raise SystemExit(main())
