"""Quotients by constants in kernels (GpuQuotients.cpp), computed here as the kernel does."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tools.convoy_opt import convoy_opt

PIPELINE = "-pass-pipeline=builtin.module(gpu.module(llvm-gpu-to-nvvm))"
TEXT = """
gpu.module @kernels [#nvvm.target] {{
  gpu.func @kernel(%x: f32) -> f32 {{
    %c = arith.constant {divisor} : f32
    %q = arith.divf %x, %c : f32
    gpu.return %q : f32
  }}
}}
"""


def parts_of(divisor: float) -> tuple[np.float32, np.float32]:
    """The constants of `x * high + x * low` for `x / divisor`."""
    text = TEXT.format(divisor=f"0x{np.float32(divisor).view(np.uint32):08X}")
    made = convoy_opt(text, PIPELINE).stdout
    values = dict(re.findall(r"(%\w+) = llvm.mlir.constant\((\S+) : f32\)", made))
    assert "fdiv" not in made
    ((product, low),) = re.findall(r"(%\w+) = llvm.fmul %\w+, (%\w+)", made)
    ((high, rest),) = re.findall(r"llvm.intr.fma\(%\w+, (%\w+), (%\w+)\)", made)
    assert rest == product
    return np.float32(values[high]), np.float32(values[low])


def quotient(x: np.ndarray, divisor: float) -> np.ndarray:
    high, low = parts_of(divisor)
    # A product of two f32 values is exact in f64.
    wide = x.astype(np.float64)
    return (wide * np.float64(high) + x * low).astype(np.float32)


def numbers(count: int) -> np.ndarray:
    random = np.random.default_rng(0)
    exponents = random.uniform(-80, 80, count)
    return np.asarray(random.choice([-1, 1], count) * 2**exponents, np.float32)


@pytest.mark.parametrize("divisor", [3, 7, 9, -9, 49, 255, 1000, 50257, 1048575])
def test_quotients_by_integers_are_rounded_correctly(divisor: int) -> None:
    x = np.concatenate(
        [numbers(1 << 18), np.arange(1 << 10, dtype=np.float32) * np.float32(divisor)]
    )
    np.testing.assert_array_equal(quotient(x, divisor), x / np.float32(divisor))


@pytest.mark.parametrize("divisor", [0.1, 0.229, 1.4142135, 3.3e-15, -7.7e17])
def test_the_error_of_other_quotients_is_half_a_unit(divisor: float) -> None:
    x = numbers(1 << 18)
    exact = x.astype(np.float64) / np.float64(np.float32(divisor))
    x, exact = x[np.abs(exact) < 2**127], exact[np.abs(exact) < 2**127]
    got = quotient(x, divisor)
    units = np.abs(got - exact) / np.spacing(np.abs(got))
    assert units[np.abs(exact) >= 2**-98].max() < 0.5000005
    assert units.max() < 1


@pytest.mark.parametrize("divisor", [3, -3, 0.1, -0.1])
def test_special_values(divisor: float) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 3.4e38, -3.4e38, 1e-45], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        got, expected = quotient(x, divisor), x / np.float32(divisor)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("divisor", ["0.0", "4.0", "0x7F800000", "0x7FC00000", "3.0e38", "1.0e-30"])
def test_other_constants_keep_the_division(divisor: str) -> None:
    text = TEXT.format(divisor=divisor)
    assert "llvm.fdiv" in convoy_opt(text, PIPELINE).stdout
