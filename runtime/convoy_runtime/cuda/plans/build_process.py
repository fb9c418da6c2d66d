# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A process that builds plans, and the exchange of messages with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["BuildProcess", "ProcessEnded", "loaded_libraries"]


class ProcessEnded(Exception):
    """A process has ended. The message has the reason."""


class BuildProcess:
    """A process that runs `build_worker`. Not thread-safe.

    Args:
        cudnn: The path of cuDNN.
    """

    def __init__(self, cudnn: str) -> None:
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        environment = {**os.environ, "CONVOY_CUDNN": cudnn, "PYTHONPATH": paths}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._ending = threading.Lock()
        self._limit: float | None = None
        self._killed = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.build_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    def ask(self, message: bytes, *, timeout: float | None = None) -> dict[str, Any]:
        """Sends a message and returns the answer. Raises ProcessEnded if the process ends, or if
        there is no answer within `timeout` seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = b""
        timer = threading.Timer(timeout, self._time_out, [timeout]) if timeout is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        with suppress(OSError, ValueError):
            self._process.stdin.write(message)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if timer is not None:
            timer.cancel()
        with suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        raise ProcessEnded(self.end())

    def kill(self) -> None:
        """Ends the process at once."""
        self._killed = True
        self._process.kill()

    def _time_out(self, timeout: float) -> None:
        self._limit = timeout
        self.kill()

    def end(self) -> str:
        """Ends the process if it is still running. Returns how it ended. May be called again."""
        with self._ending:
            if not self._killed:
                # A process that crashes closes its pipes before it ends.
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout=1)
                self._process.kill()
            code = self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            last = ""
            if not self._errors.closed:
                self._errors.seek(0)
                last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                self._errors.close()
            if self._limit is not None:
                return f"the build exceeded {self._limit:g} s"
            return f"the build process ended: {how}" + (f": {last}" if last else "")


def loaded_libraries(names: Sequence[str]) -> list[str]:
    """Returns the paths of these libraries in this process; empty on other systems than Linux."""
    found: dict[str, None] = {}
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.partition("/")[2]
            if path.rpartition("/")[2].startswith(tuple(names)):
                found["/" + path] = None
    return list(found)
