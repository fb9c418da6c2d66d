# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares Convoy with PyTorch on the models of the zoo.

    python -m benchmarks.zoo.build build/zoo
    python -m benchmarks.zoo build/zoo --json build/zoo.json

Each row is measured in a process of its own; with several GPUs, one row on each at a time.
--prepare N starts N rows on a GPU together: torch.compile compiles them side by side, which takes
most of a row's time, and then each has the GPU for itself in turn. --json keeps the figures of the
rows that are done, and the next run continues after them. Prints the table, the geometric means of
the fastest peer's time over Convoy's, and the rows below 1.

"load s" in the table is the time of a first load with tuning, until the first result: each row has
an empty cache of compiled kernels. For the time of a load alone on a host, leave out the peers, and
use one GPU and new plans:

    CUDA_VISIBLE_DEVICES=0 python -m benchmarks.zoo build/zoo --peers --prepare 8 \\
        --plans build/new-plans --json build/loads.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import torch

from benchmarks.zoo.measure import PEERS, Figures, measure
from benchmarks.zoo.models import MODELS, Row
from convoy_runtime._files import write_whole

__all__ = ["main", "mean", "measured", "ratio", "table", "visible_devices"]

_LIMIT_SECONDS = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the rows. Returns the exit code: 1 if Convoy failed in a row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the artifacts of benchmarks.zoo.build")
    parser.add_argument("--rows", nargs="+", default=["*"], metavar="PATTERN")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--tune", default="quick", choices=("off", "quick", "full"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--plans", type=Path, default=Path("build/zoo-plans"))
    parser.add_argument("--json", type=Path, default=Path("build/zoo.json"))
    parser.add_argument("--prepare", type=int, default=1, metavar="N")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        figures = measure(
            options.one, tune=options.tune, peers=options.peers, rounds=options.rounds,
            plans=options.plans, turn=_turn,
        )  # fmt: skip
        print(json.dumps(figures.as_dict()))
        return 0
    order = list(MODELS)
    paths = sorted(
        (path for path in options.folder.glob("*.convoy") if _matches(path.stem, options.rows)),
        key=lambda path: (order.index(Row.of(path).name), Row.of(path).dtype, Row.of(path).batch),
    )
    if not paths:
        parser.error(f"expected artifacts in {options.folder}; benchmarks.zoo.build writes them")
    done = _read(options.json)
    todo = [path for path in paths if path.stem not in done]
    waves = [
        todo[first : first + options.prepare] for first in range(0, len(todo), options.prepare)
    ]
    devices: queue.SimpleQueue[str] = queue.SimpleQueue()
    for device in visible_devices(
        os.environ.get("CUDA_VISIBLE_DEVICES"), torch.cuda.device_count()
    ):
        devices.put(device)

    def run(wave: Sequence[Path]) -> None:
        device = devices.get()
        try:
            for figures in measured(wave, device, options):
                done[figures.row] = figures
                _write(options.json, done)
                print(_line(figures), flush=True)
        finally:
            devices.put(device)

    with ThreadPoolExecutor(max(1, torch.cuda.device_count())) as pool:
        for _ in pool.map(run, waves):
            pass
    rows = [done[path.stem] for path in paths if path.stem in done]
    print(table(rows))
    return int(any("convoy" in row.failures for row in rows))


def visible_devices(visible: str | None, count: int) -> list[str]:
    """Returns the devices to measure on, as names for CUDA_VISIBLE_DEVICES of the child processes.

    Args:
        visible: CUDA_VISIBLE_DEVICES of this process: indices or UUIDs, separated by commas.
        count: The number of devices that CUDA finds.
    """
    names = [str(index) for index in range(count)] if visible is None else visible.split(",")
    return names[:count]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _read(path: Path) -> dict[str, Figures]:
    if not path.exists():
        return {}
    return {entry["row"]: Figures(**entry) for entry in json.loads(path.read_text())}


def _write(path: Path, done: Mapping[str, Figures]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([each.as_dict() for each in done.values()], indent=1)
    write_whole(path, [text.encode()])  # an interruption loses no row


def _turn() -> None:
    """Tells the parent that this row is prepared, and waits until it has the GPU for itself."""
    print("prepared", flush=True)
    sys.stdin.readline()


def measured(wave: Sequence[Path], device: str, options: argparse.Namespace) -> Iterator[Figures]:
    """Measures artifacts in child processes on one GPU, which prepare together."""
    rows = [_Row(path, device, options) for path in wave]
    for row in rows:
        row.prepare()
    for row in rows:
        yield row.figures()


class _Row:
    """A child process that measures one row."""

    def __init__(self, path: Path, device: str, options: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks.zoo", str(options.folder), "--one", str(path)]
        command += ["--tune", options.tune, "--rounds", str(options.rounds)]
        command += ["--plans", str(options.plans), "--peers", *options.peers]
        # The driver keeps kernels that it compiled, which makes a second load of the same kernels
        # three to four times as fast.
        self._cache = tempfile.TemporaryDirectory()
        environment = {
            **os.environ,
            "CUDA_VISIBLE_DEVICES": device,
            "CUDA_CACHE_PATH": self._cache.name,
        }
        if options.prepare > 1:
            threads = max(1, (os.cpu_count() or 1) // options.prepare)
            environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(threads))
        self._name = path.stem
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115, figures() closes it
        self._process = subprocess.Popen(
            command, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        self._limit = threading.Timer(_LIMIT_SECONDS, self._process.kill)
        self._limit.start()

    def prepare(self) -> None:
        """Waits until the row is prepared, or has failed."""
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def figures(self) -> Figures:
        """Lets the row measure. Returns its figures."""
        output, _ = self._process.communicate("\n")
        self._limit.cancel()
        self._errors.seek(0)
        errors = self._errors.read().strip().splitlines()
        self._errors.close()
        self._cache.cleanup()
        if self._process.returncode == -signal.SIGKILL:
            return Figures(self._name, failures={"convoy": f"killed, after {_LIMIT_SECONDS} s"})
        if self._process.returncode:
            reason = (errors or [f"exit code {self._process.returncode}"])[-1]
            return Figures(self._name, failures={"convoy": reason})
        return Figures(**json.loads(output.splitlines()[-1]))


def ratio(row: Figures) -> float | None:
    """The time of the fastest peer over Convoy's, or None if one of them is missing."""
    peers = [row.ms[peer] for peer in PEERS if peer in row.ms]
    return min(peers) / row.ms["convoy"] if peers and "convoy" in row.ms else None


def _line(row: Figures) -> str:
    times = " ".join(
        f"{name} {row.ms[name]:.3f}" if name in row.ms else f"{name} -"
        for name in ("convoy", *PEERS)
    )
    found = ratio(row)
    failures = "; ".join(f"{name}: {reason[:300]}" for name, reason in row.failures.items())
    error = f" error {row.errors['convoy']:.1e}" if "convoy" in row.errors else ""
    seconds = f" {row.seconds['convoy']:.1f} s" if "convoy" in row.seconds else ""
    return (
        f"{row.row}: {times}"
        + (f" ratio {found:.2f}" if found else "")
        + error
        + seconds
        + (f" FAILED {failures}" if failures else "")
    )


def table(rows: Sequence[Figures]) -> str:
    """The table in Markdown, geometric means by batch size, and the rows below 1."""
    lines = [
        "| row | Convoy ms | eager | torch.compile | best peer / Convoy | error | load s "
        "| MB | torch.compile's MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    ratios: dict[int, list[float]] = {}
    for row in rows:
        found = ratio(row)
        if found is not None:
            ratios.setdefault(int(row.row.rsplit("-", 1)[1]), []).append(found)
        cells = [f"{row.ms[name]:.3f}" if name in row.ms else "-" for name in ("convoy", *PEERS)]
        cells += ["-" if found is None else f"{found:.2f}" if found >= 1 else f"**{found:.2f}**"]
        cells += [f"{row.errors['convoy']:.1e}" if "convoy" in row.errors else "-"]
        cells += [f"{row.seconds['convoy']:.1f}" if "convoy" in row.seconds else "-"]
        cells += [
            f"{row.megabytes[each]:.0f}" if each in row.megabytes else "-"
            for each in ("convoy", "compile")
        ]
        lines.append(f"| {row.row} | {' | '.join(cells)} |")
    everything = [each for values in ratios.values() for each in values]
    if everything:
        means = [f"{mean(values):.2f} at batch {batch}" for batch, values in sorted(ratios.items())]
        lines += ["", f"Geometric mean {mean(everything):.2f}: {', '.join(means)}."]
        below = [row.row for row in rows if (found := ratio(row)) is not None and found < 1]
        lines.append(f"{len(below)} of {len(everything)} rows below 1: {', '.join(below) or '-'}.")
    return "\n".join(lines)


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    raise SystemExit(main())
