# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions of complex numbers: absolute value, norms, powers, exponential and trigonometric
functions."""

from __future__ import annotations

import math
from typing import Any

import torch

from convoy.frontend._builder import Unsupported
from convoy.frontend._complex_rules import Complex, ComplexCall, imag_of, parts_of, rule
from convoy.frontend.complex_products import absolute, divide, multiply

__all__: list[str] = []

#: The largest integer power that is computed by products.
_MOST_PRODUCTS = 64


def _full(x: Any) -> Complex:
    """Both parts as tensors; a number stays a number."""
    return Complex(0 if parts_of(x).re is None else parts_of(x).re, imag_of(x))


@rule("abs")
def absolute_value(call: ComplexCall) -> torch.Tensor:
    return absolute(call["self"])


@rule("sgn")
def sgn(call: ComplexCall) -> Complex:
    """x / |x|, and 0 for 0."""
    x = call["self"]
    size = absolute(x)
    return divide(x, torch.where(size == 0, torch.ones_like(size), size))


@rule("linalg_vector_norm", "norm")
def norm(call: ComplexCall) -> torch.Tensor:
    result: torch.Tensor = call.run(self=absolute(call["self"]))
    return result


@rule("var", "std")
def variance(call: ComplexCall) -> torch.Tensor:
    """The sum of the variances of both parts."""
    re, im = _full(call["self"])
    if call.target._opname == "var":
        total: torch.Tensor = call.run(self=re) + call.run(self=im)
        return total
    return torch.hypot(call.run(self=re), call.run(self=im))


def _exp(x: Any) -> Complex:
    re, im = _full(x)
    size = torch.exp(re)
    return Complex(size * torch.cos(im), size * torch.sin(im))


def _log(x: Any) -> Complex:
    re, im = _full(x)
    return Complex(torch.log(absolute(x)), torch.atan2(im, re))


def _sqrt(x: Any) -> Complex:
    """The root whose real part is not negative. The part without cancellation comes first: the
    other one is half of the imaginary part, divided by it."""
    re, im = _full(x)
    large = torch.sqrt((absolute(x) + torch.abs(re)) / 2)
    small = torch.abs(im) / torch.where(large == 0, torch.ones_like(large), 2 * large)
    right = re >= 0
    return Complex(
        torch.where(right, large, small), torch.copysign(torch.where(right, small, large), im)
    )


@rule("exp")
def exp(call: ComplexCall) -> Complex:
    return _exp(call["self"])


@rule("log")
def log(call: ComplexCall) -> Complex:
    return _log(call["self"])


@rule("log2", "log10")
def log_of_base(call: ComplexCall) -> Complex:
    base = 2 if call.target._opname == "log2" else 10
    return multiply(_log(call["self"]), 1 / math.log(base))


@rule("sqrt")
def sqrt(call: ComplexCall) -> Complex:
    return _sqrt(call["self"])


@rule("rsqrt")
def rsqrt(call: ComplexCall) -> Complex:
    return divide(1, _sqrt(call["self"]))


@rule("pow")
def power(call: ComplexCall) -> Complex:
    """Products for integers, else exp(exponent * log(self)); 0 to a power is 0."""
    x, exponent = call["self"], call["exponent"]
    if isinstance(exponent, (int, float)) and float(exponent).is_integer():
        number = int(exponent)
        if abs(number) <= _MOST_PRODUCTS:
            result = _by_products(x, abs(number))
            return divide(1, result) if number < 0 else result
    if isinstance(exponent, float) and exponent == 0.5:
        return _sqrt(x)
    if not isinstance(x, (Complex, torch.Tensor)):
        base = complex(x)
        if base == 0:
            msg = "expected a base other than 0"
            raise Unsupported(msg)
        return _exp(multiply(exponent, complex(math.log(abs(base)), _phase(base))))
    re, im = _exp(multiply(_log(x), exponent))
    zero = absolute(x) == 0
    return Complex(torch.where(zero, 0.0, re), torch.where(zero, 0.0, im))


def _phase(number: complex) -> float:
    return math.atan2(number.imag, number.real)


def _by_products(x: Any, exponent: int) -> Complex:
    if exponent == 0:
        return Complex(torch.ones_like(parts_of(x).re), None)
    result: Any = None
    factor = parts_of(x)
    while exponent:
        if exponent & 1:
            result = factor if result is None else multiply(result, factor)
        exponent >>= 1
        if exponent:
            factor = multiply(factor, factor)
    return parts_of(result)


def _tanh(x: Any) -> Complex:
    """(tanh(a) + i tan(b)) / (1 + i tanh(a) tan(b)), whose parts do not overflow."""
    re, im = _full(x)
    a, b = torch.tanh(re), torch.tan(im)
    return divide(Complex(a, b), Complex(torch.ones_like(a), a * b))


@rule("tanh")
def tanh(call: ComplexCall) -> Complex:
    return _tanh(call["self"])


@rule("tan")
def tan(call: ComplexCall) -> Complex:
    return multiply(_tanh(multiply(call["self"], 1j)), -1j)


@rule("sin")
def sin(call: ComplexCall) -> Complex:
    re, im = _full(call["self"])
    return Complex(torch.sin(re) * torch.cosh(im), torch.cos(re) * torch.sinh(im))


@rule("cos")
def cos(call: ComplexCall) -> Complex:
    re, im = _full(call["self"])
    return Complex(torch.cos(re) * torch.cosh(im), -(torch.sin(re) * torch.sinh(im)))


@rule("sinh")
def sinh(call: ComplexCall) -> Complex:
    re, im = _full(call["self"])
    return Complex(torch.sinh(re) * torch.cos(im), torch.cosh(re) * torch.sin(im))


@rule("cosh")
def cosh(call: ComplexCall) -> Complex:
    re, im = _full(call["self"])
    return Complex(torch.cosh(re) * torch.cos(im), torch.sinh(re) * torch.sin(im))


@rule("sigmoid")
def sigmoid(call: ComplexCall) -> Complex:
    re, im = _exp(multiply(call["self"], -1))
    return divide(1, Complex(1 + re, im))
