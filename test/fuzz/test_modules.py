"""No mutated module crashes convoy-opt, and the fuzzer detects a crash."""

from __future__ import annotations

import stat
from pathlib import Path
from random import Random

import modules
import pytest
from convoy_opt import Tool
from mutations import Pool, mutate
from seeds import TEST, run_lines

#: Reads a batch like convoy-opt; crashes, hangs or exits at modules that request it.
FAKE = """#!/usr/bin/env python3
import os, signal, sys, time
text = open(next(argument for argument in sys.argv if argument.endswith(".mlir"))).read()
for module in text.split("\\n// -----\\n"):
    if "crashes" in module:
        sys.stderr.write("PLEASE submit a bug report\\n #4 0x1 convoy::place()\\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    if "hangs" in module:
        time.sleep(60)
    if "exits" in module:
        sys.exit("LLVM ERROR: Cannot select")
sys.exit("error: " + module)
"""


@pytest.fixture
def fake(tmp_path: Path) -> Tool:
    path = tmp_path / "convoy-opt"
    path.write_text(FAKE)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Tool(tmp_path, seconds=0.5, start=3.0)


def test_flags_of_run_lines() -> None:
    """A batch ends with an error, which a process that compares diagnostics would not report."""
    text = "// RUN: convoy-opt %s -split-input-file --tcp-x=a=b -verify-diagnostics=only-expected\n"
    text += "// RUN: convoy-opt %s --tcp-y -verify-diagnostics -o /dev/null\n"
    assert list(run_lines(text, TEST)) == [("--tcp-x=a=b",), ("--tcp-y",)]


def test_no_mutant_ends_the_compiler(tmp_path: Path) -> None:
    outcome = modules.run(300, seed=11, jobs=2, keep=tmp_path)
    assert [path.read_text(errors="replace")[:600] for path in outcome.failures] == []
    assert outcome.count == 300
    assert "300 mutants" in outcome.summary[0]


def test_crashes_exits_and_hangs_are_kept(fake: Tool, tmp_path: Path) -> None:
    mutants = [f"module {number}" for number in range(9)]
    mutants[2], mutants[5], mutants[8] = "this one crashes", "this one exits", "this one hangs"
    kept = modules.check(fake, ("--flag=a b",), mutants, tmp_path / "module-1-0")
    assert [path.name for path in kept] == [
        "module-1-0-2.mlir",
        "module-1-0-5.mlir",
        "module-1-0-8.mlir",
    ]
    first, second, third = (path.read_text() for path in kept)
    assert first.startswith(
        f"// convoy-opt was killed by signal 11\n// {fake.path} {kept[0]} '--flag=a b'\n"
    )
    assert "convoy::place()" in first
    assert first.endswith("\nthis one crashes")
    assert second.startswith("// convoy-opt exited with 1 before the end\n")
    assert "// LLVM ERROR: Cannot select\n" in second
    assert third.startswith("// convoy-opt took longer than ")


def test_module_that_needs_earlier_ones_is_kept_with_them(tmp_path: Path) -> None:
    class Second(Tool):
        def __init__(self) -> None:
            self.path = tmp_path / "convoy-opt"

        def check(self, flags: object, modules: object, *, symbols: bool = False) -> object:  # type: ignore[override]
            from convoy_opt import Failure

            return (
                Failure("was killed by signal 11", "")
                if "b" in modules and "a" in modules
                else None
            )  # type: ignore[operator]

    kept = modules.check(Second(), (), ["a", "x", "b", "y"], tmp_path / "m")
    assert kept[0].read_text().endswith("a\n// -----\nx\n// -----\nb")
    assert "--split-input-file" in kept[0].read_text()


def test_seed_determines_the_mutants() -> None:
    text = """func.func @main(%x: tensor<4x8xf32> {tcp.input = "x"}) -> tensor<4x8xf32> {
  %y = tcp.abs %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}"""
    pool = Pool.of([text])
    once = [mutate(Random(number), text, pool) for number in range(200)]
    assert once == [mutate(Random(number), text, pool) for number in range(200)]
    assert sum(each != text for each in once) > 190
    assert len(set(once)) > 120
