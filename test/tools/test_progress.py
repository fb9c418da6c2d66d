# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`tools/progress.py` shows how far a command is, and why it fails."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import progress

TOOL = [sys.executable, progress.__file__]


def _run(tmp_path: Path, script: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [*TOOL, "a step", "--logs", str(tmp_path), *flags, "--", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_success_is_two_lines_and_a_log(tmp_path: Path) -> None:
    done = _run(tmp_path, "echo '[1/2] one'; echo two >&2")
    assert done.returncode == 0
    assert done.stdout == "convoy: a step\nconvoy: a step: done in 0 s\n"
    assert (tmp_path / "a-step.log").read_text() == "[1/2] one\ntwo\n"


def test_failure_prints_the_end_of_the_log_and_keeps_the_code(tmp_path: Path) -> None:
    done = _run(tmp_path, "seq 100; echo 'error: no space'; exit 7")
    assert done.returncode == 7
    lines = done.stdout.splitlines()
    assert lines[1] == str(100 - progress.TAIL_LINES + 2)
    assert lines[-2:] == [
        "error: no space",
        f"convoy: a step: failed after 0 s; the output is in {tmp_path}/a-step.log",
    ]


def test_killed_command_fails(tmp_path: Path) -> None:
    assert _run(tmp_path, "kill -9 $$").returncode == 128 + 9


def test_warnings_are_shown(tmp_path: Path) -> None:
    done = _run(tmp_path, "echo one; echo 'a.cpp:1: warning: unused'; echo two")
    assert done.stdout.splitlines()[1:-1] == ["a.cpp:1: warning: unused"]


def test_missing_command_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert progress.main(["step", "--logs", str(tmp_path), "--", "no-such-command"]) == 127
    assert capfd.readouterr().err == "convoy: step: no-such-command is not installed\n"


def _main(script: str, tmp_path: Path, interval: str, *flags: str) -> str:
    """Runs the tool with another interval between lines. Returns what it prints."""
    code = (
        "import sys; from tools import progress; progress.INTERVAL_SECONDS = float(sys.argv[1]);"
        "sys.exit(progress.main(sys.argv[2:]))"
    )
    command = [sys.executable, "-c", code, interval, "step", "--logs", str(tmp_path), *flags]
    return subprocess.run(
        [*command, "--", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=progress.LOGS.parents[1],
        timeout=60,
    ).stdout


def test_no_silence_without_a_terminal(tmp_path: Path) -> None:
    printed = _main("echo '[3/12] Building x.o'; sleep 1.5", tmp_path, "0.5")
    states = [line for line in printed.splitlines() if "Building" in line]
    assert len(states) >= 2
    assert re.fullmatch(r"convoy: step: 25%, \d s \[3/12\] Building x\.o", states[0])


def test_whole_output_with_a_line_in_silence(tmp_path: Path) -> None:
    printed = _main("printf ..; sleep 1.4; echo ..", tmp_path, "0.8", "--all").splitlines()
    assert printed[1:-1] == ["..", printed[2], ".."]
    assert re.fullmatch(r"convoy: step: still running after \d s", printed[2])


def test_terminal_has_one_updated_line(tmp_path: Path) -> None:
    reader, writer = pty.openpty()
    script = "echo '[1/4] one'; sleep 1; echo '[4/4] two'; sleep 1"
    command = [*TOOL, "step", "--logs", str(tmp_path), "--", "sh", "-c", script]
    subprocess.run(command, stdout=writer, check=True, timeout=60)
    os.close(writer)
    printed = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert "\r\x1b[Kconvoy: step: 25%, " in printed
    assert "\r\x1b[Kconvoy: step: 100%, " in printed
    assert printed.count("\n") == 2
