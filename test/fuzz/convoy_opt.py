"""Runs convoy-opt on many modules at once: one process reads a file of them, split at `// -----`,
each with a separate context."""

from __future__ import annotations

import mmap
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MARKER", "Failure", "Tool", "encode"]

MARKER = "// -----"
#: A module that does not parse. Its error at the end of a batch shows that all modules before it
#: were processed.
_SENTINEL = "end_of_batch"
#: Address space of a process. Debian's convoy-opt maps about 200 MB at startup.
_MEMORY = 6 << 30


@dataclass(frozen=True)
class Failure:
    """The failure of a batch: how the process ended, and the end of its output."""

    how: str
    output: str


class Tool:
    """The convoy-opt of the build in `folder`."""

    def __init__(self, folder: Path, *, seconds: float = 10.0, start: float = 4.0) -> None:
        """Each module may take `seconds`; the process may take `start` more for its startup."""
        self.path = folder / "convoy-opt"
        self.seconds, self.start = seconds, start
        with (
            self.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            # AddressSanitizer reserves terabytes of address space.
            self._limited = content.find(b"__asan_init") < 0

    def check(
        self, flags: Sequence[str], modules: Sequence[str], *, symbols: bool = False
    ) -> Failure | None:
        """Runs the modules; returns None if the process reaches the end. Its diagnostics are not
        failures."""
        with tempfile.TemporaryDirectory(prefix="convoy-fuzz-") as folder:
            path = Path(folder) / "batch.mlir"
            path.write_bytes(_joined([*modules, _SENTINEL]))
            # The whole batch may exceed the time of one module; a module counts as a hang only if
            # it also does so by itself.
            code, output = self._run(
                [*flags, str(path), "--split-input-file", "-o", "/dev/null"],
                folder,
                self._limit(modules),
                symbols,
            )
        if code is None:
            return Failure(f"took longer than {self._limit(modules):g} s", _end(output))
        if code < 0 or code > 1:
            return Failure(
                f"was killed by signal {-code}" if code < 0 else f"exited with {code}", _end(output)
            )
        if f"'{_SENTINEL}'" in output or (
            code == 1 and "LLVM ERROR" not in output and self._refuses(flags)
        ):
            return None
        return Failure(f"exited with {code} before the end", _end(output))

    def _refuses(self, flags: Sequence[str]) -> bool:
        """Whether the flags themselves are an error, e.g. an unknown phase; then no module is
        processed."""
        with tempfile.TemporaryDirectory(prefix="convoy-fuzz-") as folder:
            path = Path(folder) / "batch.mlir"
            path.write_text(_SENTINEL)
            code, output = self._run(
                [*flags, str(path), "-o", os.devnull], folder, self.seconds + self.start, False
            )
        return code == 1 and f"'{_SENTINEL}'" not in output and "LLVM ERROR" not in output

    def results(self, flags: Sequence[str], modules: Sequence[str]) -> list[str]:
        """The text of each module that the flags succeed on, except those of a batch whose process
        fails."""
        found: list[str] = []
        with tempfile.TemporaryDirectory(prefix="convoy-fuzz-") as folder:
            path, result = Path(folder) / "batch.mlir", Path(folder) / "result.mlir"
            for begin in range(0, len(modules), 16):
                path.write_bytes(_joined(modules[begin : begin + 16]))
                splits = ["--split-input-file", f"--output-split-marker={MARKER}"]
                code, _ = self._run(
                    [*flags, str(path), *splits, "-o", "-"], folder, 60, False, output=result
                )
                if code in (0, 1):
                    text = result.read_text(errors="surrogateescape")
                    found += [each.strip("\n") for each in text.split(MARKER) if each.strip()]
        return found

    def first(self, flags: Sequence[str], modules: Sequence[str]) -> int:
        """The index of the first module that makes a failing batch fail."""
        passes, fails = 0, len(modules)
        while fails - passes > 1:
            middle = (passes + fails) // 2
            if self.check(flags, modules[:middle]) is None:
                passes = middle
            else:
                fails = middle
        return fails - 1

    def _limit(self, modules: Sequence[str]) -> float:
        return self.seconds + self.start + 0.5 * (len(modules) - 1)

    def _run(
        self,
        arguments: Sequence[str],
        folder: str,
        seconds: float,
        symbols: bool,
        *,
        output: Path | None = None,
    ) -> tuple[int | None, str]:
        """The exit status (None after `seconds`) and standard error; standard output goes to the
        file `output`."""
        environment = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}
        if symbols:
            del environment["LLVM_DISABLE_SYMBOLIZATION"]
        errors = Path(folder) / "errors"
        with errors.open("wb") as file, (output or Path(os.devnull)).open("wb") as results:
            process = subprocess.Popen(
                [self.path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=results,
                stderr=file,
                env=environment,
            )
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
            if self._limited:
                resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
        return code, errors.read_bytes().decode(errors="replace")


def encode(text: str) -> bytes:
    """The bytes of a module; byte flips leave text that is not valid in any encoding."""
    return text.encode(errors="surrogateescape")


def _joined(modules: Sequence[str]) -> bytes:
    # A mutant with a marker line would count as two.
    return f"\n{MARKER}\n".encode().join(
        encode(re.sub(rf"^{MARKER}", "//", each, flags=re.MULTILINE)) for each in modules
    )


def _end(output: str) -> str:
    """The stack trace, or the last lines."""
    begin = output.find("PLEASE submit a bug report")
    fatal = output.find("LLVM ERROR")
    places = [place for place in (begin, fatal) if place >= 0]
    return output[min(places) :][:6000] if places else output[-3000:]
