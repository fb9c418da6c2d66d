# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""convoy compile of a .mlir module that declares symbols: one artifact with a program for each
point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import convoy_runtime
from convoy.cli.main import main
from convoy_runtime.dynamic.program import DynamicProgram
from convoy_runtime.errors import ArgumentError

MODULE = """
func.func @pool(%x: tensor<?x3x?xf32>) -> (tensor<?x3xf32>, tensor<?x?x3xf32>) {
  %batch = tcp.symbolic_int "batch" {min_val = 1, max_val = 16} : i64
  %half = tcp.symbolic_int "half" {min_val = 2, max_val = 8, divisor = 2} : i64
  tcp.bind_symbolic_shape %x, [%batch, %half], affine_map<()[s0, s1] -> (s0, 3, 2 * s1 + 1)> : tensor<?x3x?xf32>
  %0 = tcp.reduce_sum %x {dims = array<i64: 2>} : tensor<?x3x?xf32> -> tensor<?x3x1xf32>
  %1 = tcp.reshape %0 : tensor<?x3x1xf32> -> tensor<?x3xf32>
  %2 = tcp.transpose %x {perm = array<i64: 2, 0, 1>} : tensor<?x3x?xf32> -> tensor<?x?x3xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<?x?x3xf32>
}
"""


def _compile(tmp_path: Path, text: str, *flags: str) -> int:
    (tmp_path / "pool.mlir").write_text(text)
    arguments = ["compile", str(tmp_path / "pool.mlir"), "--compile-from", "tcp", "--target", "cpu"]
    return main([*arguments, "-o", str(tmp_path / "pool.convoy"), *flags])


def test_module_with_symbols_runs_at_its_points_and_between(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _compile(tmp_path, MODULE, "--points", "batch=1,4", "--points", "half=2,6") == 0
    printed = capsys.readouterr().out
    assert "4 points" in printed
    assert "half: 2 to 8, multiples of 2; points 2, 6; points only: the size 2*half+1 of" in printed
    program = convoy_runtime.load(tmp_path / "pool.convoy")
    assert isinstance(program, DynamicProgram)
    assert [str(symbol) for symbol in program.symbols] == [
        "batch: 1 to 16",
        "half: 2 to 8, multiples of 2",
    ]
    # 2 and 3 are padded to 4.
    for batch in (1, 2, 3, 4):
        for half in (2, 6):
            x = np.random.default_rng(batch).random((batch, 3, 2 * half + 1), dtype=np.float32)
            total, moved = program(x)
            np.testing.assert_allclose(total, x.sum(2), rtol=1e-6)
            np.testing.assert_array_equal(moved, x.transpose(2, 0, 1))
    with pytest.raises(ArgumentError, match="batch"):
        program(np.zeros((5, 3, 5), np.float32))
    with pytest.raises(ArgumentError, match="half"):
        program(np.zeros((1, 3, 7), np.float32))


def test_default_points_are_powers_of_two(tmp_path: Path) -> None:
    assert _compile(tmp_path, MODULE, "-q") == 0
    program = convoy_runtime.load(tmp_path / "pool.convoy")
    assert isinstance(program, DynamicProgram)
    assert len(program.points) == 5 * 3


def test_default_points_are_multiples_of_the_divisor(tmp_path: Path) -> None:
    text = MODULE.replace("min_val = 2, max_val = 8, divisor = 2", "max_val = 24, divisor = 3")
    text = text.replace('"half" {', '"half" {min_val = 1, ')
    assert _compile(tmp_path, text, "-q") == 0
    program = convoy_runtime.load(tmp_path / "pool.convoy")
    assert isinstance(program, DynamicProgram)
    assert sorted({point["half"] for point in program.points}) == [3, 6, 12, 24]


STATIC = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
REFUSED = {
    "dynamic": (
        MODULE, ("--dynamic", "x:0=1..4"),
        "expected no --dynamic for a .mlir file, which declares its symbols",
    ),
    "range": (
        MODULE, ("--points", "batch=32", "--points", "half=2"),
        "points: expected values of batch: 1 to 16, got 32",
    ),
    "name": (
        MODULE, ("--points", "batch=1"),
        "points: expected values of batch, half, got batch",
    ),
    "static": (
        STATIC, ("--points", "batch=1"),
        "or a .mlir file with tcp.symbolic_int and --compile-from tcp, got a .mlir file without "
        "dynamic sizes",
    ),
    "text": (
        MODULE, ("--compile-to", "normalize"),
        "or replace the symbols by numbers with convoy-opt --tcp-specialize-symbols",
    ),
    "expression": (
        MODULE.replace("(s0, 3, 2 * s1 + 1)", "(s0, 3, s0 * s1)"), (),
        "input 0: expected sizes such as 2*name+1 of one symbol, got another expression for dim 2",
    ),
    "unused": (
        MODULE.replace("(s0, 3, 2 * s1 + 1)", "(s0, 3, s0 + 1)"), (),
        "expected an input with a size such as 2*half+1, from which each call reads the symbol "
        "'half', got none",
    ),
    "constraint": (
        MODULE.replace(
            "  return", "  %3 = tcp.concat %0, %x {dim = 0 : i64} : tensor<?x3x1xf32>, "
            "tensor<?x3x?xf32> -> tensor<?x3x1xf32>\n  return"
        ), (),
        "expects inputs with equal dims except dim 0, but got [batch, 3, 1] and "
        "[batch, 3, half * 2 + 1]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, flags, message = REFUSED[case]
    assert _compile(tmp_path, text, *flags) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_comment_declares_no_symbol(tmp_path: Path) -> None:
    assert _compile(tmp_path, f"// Without tcp.symbolic_int.\n{STATIC}", "-q") == 0
    assert not isinstance(convoy_runtime.load(tmp_path / "pool.convoy"), DynamicProgram)
