"""No mutated artifact crashes the runtime or makes it access memory out of bounds, and the fuzzer
detects both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import artifacts
import pytest
from artifact_mutations import Sample
from guarded import aligned_empty, check_canaries

HERE = Path(__file__).resolve().parent
#: Processes a job like artifact_child.py; mutants 3 and 6 end it, and mutant 8 times out.
FAKE = """
import mmap, os, pickle, signal, sys, time
sys.path.insert(0, {here!r})
sys.path.insert(0, {runtime!r})
from artifact_child import PROGRESS
sys.modules["__main__"].Job = __import__("artifact_child").Job
job = pickle.loads(open(sys.argv[1], "rb").read())
with job.progress.open("r+b") as file:
    progress = mmap.mmap(file.fileno(), PROGRESS.size)
    for index in range(job.begin, job.end):
        PROGRESS.pack_into(progress, 0, index, time.monotonic())
        if index == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if index == 6:
            sys.exit("a message at the end")
        if index == 8:
            time.sleep(60)
    PROGRESS.pack_into(progress, 0, job.end, time.monotonic())
print("refused=1")
"""


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return artifacts.samples()


def test_no_mutant_ends_the_runtime(tmp_path: Path) -> None:
    outcome = artifacts.run(300, seed=5, jobs=2, keep=tmp_path)
    assert [path.with_suffix(".txt").read_text() for path in outcome.failures] == []
    assert outcome.count == 300
    assert "300 mutants of 4" in outcome.summary[0]


def test_crashes_and_hangs_are_kept(
    samples: list[Sample], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Also the limit for the start of the process, on a busy machine.
    monkeypatch.setattr(artifacts, "_SECONDS", 3.0)
    script = tmp_path / "child.py"
    script.write_text(FAKE.format(here=str(HERE), runtime=str(HERE.parents[1] / "runtime")))
    counts = artifacts.check(samples, 1, 0, 12, tmp_path, script=script)
    assert counts == {"refused": 1}
    kept = sorted(tmp_path.glob("*.convoy"))
    assert [path.name for path in kept] == [
        "artifact-1-3.convoy",
        "artifact-1-6.convoy",
        "artifact-1-8.convoy",
    ]
    texts = [path.with_suffix(".txt").read_text() for path in kept]
    assert texts[0].startswith("was killed by signal 11\n")
    assert texts[1].startswith("exited with 1\na message at the end\n")
    assert texts[2].startswith("took longer than 3 s\n")
    assert "mutant 3 of seed 1\n" in texts[0]


def test_arrays_are_between_guard_pages() -> None:
    array = aligned_empty((3, 5), "float32")
    assert array.ctypes.data % 64 == 0
    array.fill(1)
    assert check_canaries()
    raw = aligned_empty((60,), "uint8")
    # The four bytes after the array are outside of it.
    behind = raw.ctypes.data + 60
    code = "import ctypes; ctypes.memset({}, 0, 1)"
    exec(code.format(behind))
    assert not check_canaries()
    assert check_canaries()
    text = f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1] / 'runtime')!r}]\n"
    for place in ("a.ctypes.data + 64", "a.ctypes.data - 4096"):
        program = (
            f"{text}from guarded import aligned_empty; a = aligned_empty((64,), 'uint8'); "
            f"import ctypes; ctypes.memset({place}, 0, 1)"
        )
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -11
