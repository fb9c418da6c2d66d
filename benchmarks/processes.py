# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs each runner in a child process, with time limits, one at a time on the GPU.

Separate processes are needed for three reasons: torch and JAX compete for memory and threads in one
process, only ending a process stops a compilation, and the state of library caches must not affect
the next runner.
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

__all__ = ["Child", "RunnerError", "environment", "medians", "output_path"]

ROOT = Path(__file__).resolve().parent.parent
#: Timeout in seconds of loading and of a timing, far above what either takes.
_TIMEOUT = 300.0


class RunnerError(Exception):
    """A runner failed; the text is the reason."""


def environment(cache: Path, threads: int | None = None) -> dict[str, str]:
    """The environment of a child process.

    Args:
        cache: The folder of the peers' compilation caches.
        threads: The number of processes that inductor compiles with. Default: inductor's.
    """
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
    """A process with the protocol of `benchmarks.runners`: it reports that it has loaded, then that
    it is prepared, and then answers timing requests."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, log: Path
    ) -> None:
        self._log = log
        with log.open("wb") as stderr:
            # A separate process group, so that the processes that a peer starts end with it.
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
        """Starts the runner `name` on an artifact.

        Args:
            name: A key of `job.NAMES`.
            artifact: The artifact, `MODEL-DTYPE-BATCH.convoy`.
            folder: The folder of the result and the log.
            cache: The cache folder.
            tune: The tuning level, for Convoy.
            threads: The number of processes that inductor compiles with. Default: inductor's.
        """
        paths = {
            "--output": output_path(folder, name),
            "--cache": cache,
            "--lock": cache / "gpu.lock",
        }
        command = [
            sys.executable,
            "-m",
            "benchmarks.runners",
            name,
            str(artifact),
            "--tune",
            tune,
        ]
        command += [str(word) for pair in paths.items() for word in pair]
        return cls(command, env=environment(cache, threads), log=folder / f"{name}.log")

    def loaded(self) -> None:
        """Waits until the process has imported its modules and has its model on the CPU. Raises
        RunnerError."""
        self._receive(_TIMEOUT, f"not loaded after {_TIMEOUT:.0f} s")

    def prepare(self, limit: float) -> dict[str, Any]:
        """Compiles or tunes.

        Args:
            limit: The timeout in seconds.

        Returns:
            `seconds` and `details` of the `Runner`.

        Raises:
            RunnerError: The process fails or exceeds the limit.
        """
        self._send("prepare")
        return self._receive(limit, f"not compiled after {limit:.0f} s")

    def time(self, repeats: int) -> float:
        """Milliseconds per run, over `repeats` consecutive runs. Raises RunnerError."""
        self._send(str(repeats))
        return float(self._receive(_TIMEOUT, f"no time after {_TIMEOUT:.0f} s")["ms"])

    def close(self) -> None:
        """Ends the process group. Further calls have no effect."""
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
        # _receive reports a process that has ended.
        with contextlib.suppress(BrokenPipeError):
            print(line, file=self._process.stdin, flush=True)

    def _receive(self, limit: float, timeout_message: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise RunnerError(timeout_message) from None
        if not line:
            code = self._process.wait()
            log = self._log.read_text(errors="replace").strip().splitlines()
            raise RunnerError(f"ended with {_name(code)}" + (f": {log[-1]}" if log else ""))
        message: dict[str, Any] = json.loads(line)
        if "failure" in message:
            raise RunnerError(message["failure"])
        return message


def output_path(folder: Path, name: str) -> Path:
    """The file of a runner's result."""
    return folder / f"{name}.npy"


def _name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def medians(
    children: Mapping[str, Child], *, rounds: int, target_ms: float
) -> tuple[dict[str, float], dict[str, str]]:
    """Times prepared runners.

    Each round times all runners in turn, so that changes of the GPU clock affect all of them.

    Args:
        children: Name to prepared process.
        rounds: The number of rounds after a warm-up.
        target_ms: The time in milliseconds of a runner in a round; it runs at least 3 times.

    Returns:
        Name to median milliseconds per run, and name to reason of each failure.
    """
    repeats: dict[str, int] = {}
    times: dict[str, list[float]] = {name: [] for name in children}
    failures: dict[str, str] = {}
    for number in range(rounds + 1):
        for name, child in children.items():
            if name in failures:
                continue
            try:
                ms = child.time(repeats.get(name, 3))
            except RunnerError as error:
                failures[name] = str(error)
                continue
            if number == 0:
                repeats[name] = max(3, int(target_ms / max(ms, 1e-3)))
            else:
                times[name].append(ms)
    return {
        name: statistics.median(values) for name, values in times.items() if name not in failures
    }, failures
