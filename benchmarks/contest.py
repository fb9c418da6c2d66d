"""Contenders as child processes: started, given a limit, told to run in turn.

Each has a process of its own, because torch and JAX would fight over memory and threads in one, a
compilation can be stopped by ending its process only, and what one leaves in caches of the
libraries must not help or hurt the next. Only the one that was told to run uses the GPU.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Child", "ContenderError", "environment", "medians", "output_path"]

ROOT = Path(__file__).resolve().parent.parent
#: Seconds within which a process has to load, or to answer with a time: far more than it needs.
_PATIENCE = 300.0


class ContenderError(Exception):
    """A contender that gives no figure; the text is the reason."""


def environment(cache: Path, threads: int | None = None) -> dict[str, str]:
    """The variables of a child: peers keep what they compile under `cache`; inductor compiles with
    `threads` processes."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(ROOT), str(ROOT / "runtime"), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
        "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
        **({"TORCHINDUCTOR_COMPILE_THREADS": str(threads)} if threads else {}),
        "JAX_COMPILATION_CACHE_DIR": str(cache / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        # By default JAX takes three quarters of the GPU's memory at once.
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }


class Child:
    """A process that speaks as `benchmarks.contenders` does: it says that it is loaded, that it is
    prepared, and then times."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, log: Path
    ) -> None:
        self._log = log
        with log.open("wb") as stderr:
            # A group of its own, so that the processes that a peer starts end with it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env=env,
                cwd=ROOT,
                process_group=0,
            )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @classmethod
    def of(
        cls,
        name: str,
        artifact: Path,
        *,
        folder: Path,
        cache: Path,
        tune: str,
        threads: int | None = None,
    ) -> Child:
        """The contender `name` of an artifact; result and log go into `folder`."""
        paths = {
            "--output": output_path(folder, name),
            "--cache": cache,
            "--lock": cache / "gpu.lock",
        }
        command = [
            sys.executable,
            "-m",
            "benchmarks.contenders",
            name,
            str(artifact),
            "--tune",
            tune,
        ]
        command += [str(word) for pair in paths.items() for word in pair]
        return cls(command, env=environment(cache, threads), log=folder / f"{name}.log")

    def loaded(self) -> None:
        """Waits until it has imported what it needs, and has its model on the CPU. Raises
        ContenderError."""
        self._receive(_PATIENCE, f"not loaded after {_PATIENCE:.0f} s")

    def prepare(self, limit: float) -> dict[str, Any]:
        """Lets it compile for at most `limit` seconds; its `seconds` and `details`. Raises
        ContenderError."""
        self._send("prepare")
        return self._receive(limit, f"not compiled after {limit:.0f} s")

    def time(self, repeats: int) -> float:
        """Milliseconds of a run, over `repeats` in a row. Raises ContenderError."""
        self._send(str(repeats))
        return float(self._receive(_PATIENCE, f"no time after {_PATIENCE:.0f} s")["ms"])

    def close(self) -> None:
        """Ends it and all that it started. Calling it again does nothing."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put("")

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        # One that has ended says so in _receive.
        with contextlib.suppress(BrokenPipeError):
            print(line, file=self._process.stdin, flush=True)

    def _receive(self, limit: float, late: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise ContenderError(late) from None
        if not line:
            code = self._process.wait()
            said = self._log.read_text(errors="replace").strip().splitlines()
            raise ContenderError(f"ended with {_name(code)}" + (f": {said[-1]}" if said else ""))
        message: dict[str, Any] = json.loads(line)
        if "failure" in message:
            raise ContenderError(message["failure"])
        return message


def output_path(folder: Path, name: str) -> Path:
    """Where a contender puts its result."""
    return folder / f"{name}.npy"


def _name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def medians(
    children: Mapping[str, Child], *, rounds: int, target_ms: float
) -> tuple[dict[str, float], dict[str, str]]:
    """Median milliseconds of each, and the reasons of those that failed. A round times each in
    turn, about `target_ms` of runs, so that what the clock does in the meantime hits all alike."""
    repeats: dict[str, int] = {}
    times: dict[str, list[float]] = {name: [] for name in children}
    failures: dict[str, str] = {}
    for number in range(rounds + 1):
        for name, child in children.items():
            if name in failures:
                continue
            try:
                ms = child.time(repeats.get(name, 3))
            except ContenderError as error:
                failures[name] = str(error)
                continue
            if number == 0:
                repeats[name] = max(3, int(target_ms / max(ms, 1e-3)))
            else:
                times[name].append(ms)
    return {
        name: statistics.median(values) for name, values in times.items() if name not in failures
    }, failures
