# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sums, products and quotients of complex numbers, and the ops that consist of them: products of
matrices and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from convoy.frontend._complex_rules import Complex, ComplexCall, parts_of, rule

__all__ = ["absolute", "bilinear", "divide", "multiply"]


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _minus(a: Any, b: Any) -> Any:
    if b is None:
        return a
    return -b if a is None else a - b


def bilinear(product: Callable[[Any, Any], Any], a: Any, b: Any) -> Complex:
    """The product of two values by a function that multiplies real ones.

    Args:
        product: Multiplies two real values.
        a: A `Complex`, a tensor or a number.
        b: As `a`.

    Returns:
        The product.
    """
    x, y = parts_of(a), parts_of(b)

    def part(left: Any, right: Any) -> Any:
        return None if left is None or right is None else product(left, right)

    return Complex(
        _minus(part(x.re, y.re), part(x.im, y.im)), _plus(part(x.re, y.im), part(x.im, y.re))
    )


def multiply(a: Any, b: Any) -> Complex:
    """a * b, with PyTorch's broadcasting."""
    return bilinear(lambda x, y: x * y, a, b)


def absolute(x: Any) -> torch.Tensor:
    """The absolute values of a `Complex` or a tensor."""
    re, im = parts_of(x)
    return torch.abs(re) if im is None else torch.hypot(re, im)


def divide(a: Any, b: Any) -> Complex:
    """a / b. The divisor is scaled by its larger part, so that its square does not overflow."""
    x, y = parts_of(a), parts_of(b)
    if y.im is None or y.re is None:
        # 1 / i is -i.
        over = y.re if y.im is None else y.im
        quotient = Complex(*(None if part is None else part / over for part in x))
        return quotient if y.im is None else multiply(quotient, -1j)
    if not isinstance(y.re, torch.Tensor):
        return multiply(a, 1 / b)
    scale = torch.maximum(torch.abs(y.re), torch.abs(y.im))
    re, im = y.re / scale, y.im / scale
    product = multiply(x, Complex(re, -im))
    square = (re * re + im * im) * scale
    return Complex(*(None if part is None else part / square for part in product))


@rule("mul")
def mul(call: ComplexCall) -> Complex:
    return multiply(call["self"], call["other"])


@rule("square")
def square(call: ComplexCall) -> Complex:
    return multiply(call["self"], call["self"])


@rule("div", "true_divide")
def div(call: ComplexCall) -> Complex:
    return divide(call["self"], call["other"])


@rule("reciprocal")
def reciprocal(call: ComplexCall) -> Complex:
    return divide(1, call["self"])


@rule("add", "sub")
def add(call: ComplexCall) -> Complex:
    """self + alpha * other; for sub, self - alpha * other."""
    x, y = call["self"], multiply(call["other"], call["alpha"])
    return _sum(x, y) if call.target._opname == "add" else _difference(x, y)


@rule("rsub")
def rsub(call: ComplexCall) -> Complex:
    return _difference(call["other"], multiply(call["self"], call["alpha"]))


def _sum(a: Any, b: Any) -> Complex:
    return Complex(*map(_plus, parts_of(a), parts_of(b)))


def _difference(a: Any, b: Any) -> Complex:
    return Complex(*map(_minus, parts_of(a), parts_of(b)))


@rule("addcmul", "addcdiv")
def addcmul(call: ComplexCall) -> Complex:
    combine = multiply if call.target._opname == "addcmul" else divide
    return _sum(call["self"], multiply(combine(call["tensor1"], call["tensor2"]), call["value"]))


@rule("lerp")
def lerp(call: ComplexCall) -> Complex:
    start = call["self"]
    return _sum(start, multiply(_difference(call["end"], start), call["weight"]))


@rule("mm", "bmm", "matmul", "mv", "dot", "vdot")
def product(call: ComplexCall) -> Complex:
    """The product of vectors and matrices. vdot conjugates its first operand."""
    a, b = list(call.arguments)[:2]
    x = parts_of(call[a])
    if call.target._opname == "vdot":
        x = Complex(x.re, _minus(None, x.im))
        return bilinear(torch.dot, x, call[b])
    return bilinear(lambda left, right: call.run(**{a: left, b: right}), x, call[b])


@rule("addmm", "baddbmm", "addmv", "addbmm", "addr")
def add_product(call: ComplexCall) -> Complex:
    """beta * self + alpha * (a @ b). addbmm adds up the products of the batch."""
    c, a, b = list(call.arguments)[:3]
    function = torch.outer if call.target._opname == "addr" else torch.matmul
    result = multiply(bilinear(function, call[a], call[b]), call["alpha"])
    if call.target._opname == "addbmm":
        result = Complex(*(None if part is None else part.sum(0) for part in result))
    return result if call["beta"] == 0 else _sum(multiply(call[c], call["beta"]), result)


@rule("linear", "convolution", "conv1d", "conv2d", "conv3d", "_convolution")
def with_bias(call: ComplexCall) -> Complex:
    """A product with weights, and a bias along the channels, which come after the batch."""
    result = bilinear(
        lambda x, weight: call.run(input=x, weight=weight, bias=None), call["input"], call["weight"]
    )
    bias = call["bias"]
    if bias is None:
        return result
    if call.target._opname != "linear":
        spatial = call.result.ndim - 2
        bias = Complex(
            *(None if part is None else part.reshape(-1, *[1] * spatial) for part in parts_of(bias))
        )
    return _sum(result, bias)
