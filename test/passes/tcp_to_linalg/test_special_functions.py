"""The error of functions that the frontend computes by formulas, on the CPU, and their results for
NaN, infinities and zeros. The reference is PyTorch in float64."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import pytest
import torch
from op_cases import Function, Together
from torch import Tensor

import convoy

_special = torch.special
#: Function, range, and the error of PyTorch in float64, relative to the result.
_FUNCTIONS: dict[str, tuple[Callable[[Tensor], Tensor], float, float, float]] = {
    "acos": (torch.acos, -1.0, 1.0, 0.0),
    "acosh": (torch.acosh, 1.0, 1e4, 0.0),
    "asin": (torch.asin, -1.0, 1.0, 0.0),
    "asinh": (torch.asinh, -1e4, 1e4, 0.0),
    "atan": (torch.atan, -10.0, 10.0, 0.0),
    "atanh": (torch.atanh, -1.0, 1.0, 0.0),
    "cosh": (torch.cosh, -80.0, 80.0, 0.0),
    "exp": (torch.exp, -87.0, 88.0, 0.0),
    "exp2": (torch.exp2, -120.0, 120.0, 0.0),
    "expm1": (torch.expm1, -1.0, 80.0, 0.0),
    "expm1_near_zero": (torch.expm1, -1e-3, 1e-3, 0.0),
    "log10": (torch.log10, 1e-3, 1e6, 0.0),
    "log1p": (torch.log1p, -0.99, 10.0, 0.0),
    "log2": (torch.log2, 1e-3, 1e6, 0.0),
    "sigmoid": (torch.sigmoid, -87.0, 20.0, 0.0),
    "mish": (torch.nn.functional.mish, -80.0, 80.0, 0.0),
    "silu": (torch.nn.functional.silu, -80.0, 80.0, 0.0),
    "sinc": (torch.sinc, -0.9, 0.9, 0.0),
    "sinh": (torch.sinh, -80.0, 80.0, 0.0),
    "sinh_near_zero": (torch.sinh, -1e-3, 1e-3, 0.0),
    "tan": (torch.tan, -20.0, 20.0, 0.0),
    "digamma": (torch.digamma, 2.0, 1e3, 0.0),
    "erfc": (torch.erfc, -3.0, 9.0, 0.0),
    "erfcx": (_special.erfcx, -3.0, 100.0, 0.0),
    "erfinv": (torch.erfinv, -1.0, 1.0, 0.0),
    "lgamma": (torch.lgamma, 3.0, 1e3, 0.0),
    "log_ndtr": (_special.log_ndtr, -30.0, 4.0, 0.0),
    "ndtri": (_special.ndtri, 0.0, 0.4, 0.0),
    "polygamma": (lambda x: torch.polygamma(2, x), -4.0, 50.0, 1e-12),
    "i0e": (_special.i0e, -50.0, 50.0, 0.0),
    "i1": (_special.i1, 0.1, 50.0, 0.0),
    "bessel_j0": (_special.bessel_j0, 0.0, 2.0, 1e-9),
    "bessel_j1": (_special.bessel_j1, 0.1, 3.0, 1e-9),
    "bessel_y0": (_special.bessel_y0, 1e-3, 0.8, 1e-9),
    "bessel_y1": (_special.bessel_y1, 1e-3, 2.0, 1e-9),
    "modified_bessel_k0": (_special.modified_bessel_k0, 1e-3, 50.0, 0.0),
    "scaled_modified_bessel_k1": (_special.scaled_modified_bessel_k1, 1e-3, 50.0, 0.0),
}
_EDGES = torch.tensor(
    [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 1e30, -1e30]
)
#: For infinite x, PyTorch's i0, i1 and Bessel functions are NaN; the functions have limits.
_NO_LIMIT = ("i1", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "polygamma")
_PAIRS = {
    name: getattr(torch, name)
    for name in (
        "atan2",
        "copysign",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "logaddexp",
        "logaddexp2",
        "nextafter",
        "remainder",
        "xlogy",
    )
}


@functools.cache
def _results(dtype: torch.dtype) -> dict[str, tuple[Tensor, Tensor]]:
    """Input and result of each function: the edges, and numbers in the function's range."""
    generator = torch.Generator().manual_seed(0)
    inputs = [
        torch.cat([_EDGES, torch.empty(500).uniform_(low, high, generator=generator)]).to(dtype)
        for _, low, high, _ in _FUNCTIONS.values()
    ]
    modules = [Function(function) for function, *_ in _FUNCTIONS.values()]
    compiled = convoy.compile(
        Together(modules, [1] * len(modules)).eval(), tuple(inputs), target="cpu"
    )
    results = [torch.from_dlpack(result) for result in compiled(*inputs)]
    return dict(zip(_FUNCTIONS, zip(inputs, results, strict=True), strict=True))


@pytest.mark.parametrize(
    ("dtype", "bound"), [(torch.float32, 2e-7), (torch.float64, 2e-14)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_accuracy(name: str, dtype: torch.dtype, bound: float) -> None:
    function, *_, inexact = _FUNCTIONS[name]
    x, got = (each[len(_EDGES) :].double() for each in _results(dtype)[name])
    expected = function(x)
    error = ((got - expected) / expected).abs().max()
    assert error < bound + inexact


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", [name for name in _FUNCTIONS if name not in _NO_LIMIT])
def test_edges(name: str, dtype: torch.dtype) -> None:
    """NaN, infinities and the signs of zeros are PyTorch's."""
    x, got = (each[: len(_EDGES)].double() for each in _results(dtype)[name])
    _assert_same(got, _FUNCTIONS[name][0](x), dtype)


def _assert_same(got: Tensor, expected: Tensor, dtype: torch.dtype) -> None:
    expected = expected.to(dtype).double()
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(got, expected, rtol=8 * eps, atol=1e-300, equal_nan=True)
    zero = expected == 0
    assert torch.equal(torch.signbit(got[zero]), torch.signbit(expected[zero]))


def test_limits_of_exponentials() -> None:
    """Results beyond the range of normal numbers: exp is rounded to subnormal numbers, and logistic
    functions are 0 or subnormal."""
    x = torch.tensor([-87.4, -88.8, -95.0, -103.2, -103.9, -104.5, -1e4, 88.7, 88.8, 1e4])
    compiled = convoy.compile(
        Function(lambda x: (x.exp(), x.sigmoid(), 1e-3 + x.exp(), 1e-30 + x.exp())).eval(),
        (x,),
        target="cpu",
    )
    exp, logistic, near, tiny = (torch.from_dlpack(each).double() for each in compiled(x))
    wide = x.double()
    smallest, least = torch.finfo(torch.float32).tiny, 2.0**-149
    torch.testing.assert_close(exp, wide.exp().float().double(), rtol=4e-7, atol=least)
    torch.testing.assert_close(logistic, wide.sigmoid(), rtol=4e-7, atol=smallest)
    # A sum is exact beside any constant.
    torch.testing.assert_close(near, (1e-3 + wide.exp()).float().double(), rtol=4e-7, atol=0)
    torch.testing.assert_close(tiny, (1e-30 + wide.exp()).float().double(), rtol=4e-7, atol=0)


@functools.cache
def _pairs() -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    values = torch.cat([_EDGES[:-4], torch.tensor([1e-42, 3.7, -12.5, 3e38])])
    x, y = torch.cartesian_prod(values, values).T.contiguous()
    compiled = convoy.compile(
        Function(lambda x, y: tuple(f(x, y) for f in _PAIRS.values())).eval(), (x, y), target="cpu"
    )
    results = [torch.from_dlpack(result) for result in compiled(x, y)]
    return x, y, dict(zip(_PAIRS, results, strict=True))


@pytest.mark.parametrize("name", _PAIRS)
def test_pairs(name: str) -> None:
    """All pairs of special numbers; the remainders are exact for any quotient."""
    x, y, results = _pairs()
    wide = () if name == "nextafter" else (torch.float64,)
    expected = _PAIRS[name](x.to(*wide), y.to(*wide)).to(torch.float32).double()
    got = results[name].double()
    # PyTorch rounds the logarithms of base 2 of 1 and 2 separately.
    atol = 1e-16 if name == "logaddexp2" else 1e-300
    torch.testing.assert_close(got, expected, rtol=1e-6, atol=atol, equal_nan=True)
