# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that have an expansion of their own on the GPU, emulated and compared with PyTorch in
float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor
from torch.nn.functional import mish

from convoy.frontend import import_module

_EDGES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 2.0**17, 131071.99]


def _run(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    imported = import_module(Function(function).eval(), (x,))
    text = lower_to_host(imported.text)
    got = torch.full_like(x, math.nan)
    assert run_main(text, [x], [got]) == 1
    return got


@pytest.mark.parametrize("function", [torch.sin, torch.cos])
def test_sines_of_all_numbers(function: Callable[[Tensor], Tensor]) -> None:
    """Below 2^17 and above it, and the floats that are next to multiples of pi / 2, whose sines are
    the smallest."""
    random = torch.Generator().manual_seed(0)
    angles = torch.arange(1, 100000, 7, dtype=torch.float64) * (math.pi / 2)
    exponents = torch.rand(4096, generator=random, dtype=torch.float64) * 150 - 22
    numbers = torch.cat([torch.tensor(_EDGES, dtype=torch.float64), angles, 2**exponents])
    x = torch.cat([numbers, -numbers]).float()
    got, wanted = _run(function, x), function(x.double())
    torch.testing.assert_close(got.double(), wanted, rtol=2e-7, atol=0, equal_nan=True)
    zero = wanted == 0
    assert torch.equal(got[zero].signbit(), wanted[zero].signbit())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("exponent", [1.5, -0.75, 3.125, 11.0, -4.0])
def test_powers_of_short_floats(exponent: float, dtype: torch.dtype) -> None:
    numbers = torch.cat([torch.tensor(_EDGES), torch.linspace(-30, 30, 5000)]).to(dtype)
    got, wanted = _run(lambda x: x**exponent, numbers), numbers.double() ** exponent
    unit = torch.finfo(dtype).eps
    limit = torch.finfo(dtype).tiny * unit
    # Overflow is rounded as PyTorch rounds it.
    wanted = torch.where(wanted.isfinite(), wanted.to(dtype).double(), wanted)
    torch.testing.assert_close(got.double(), wanted, rtol=unit, atol=limit, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [torch.log, mish])
def test_functions_of_short_floats(
    function: Callable[[Tensor], Tensor], dtype: torch.dtype
) -> None:
    numbers = torch.cat([torch.tensor(_EDGES), torch.linspace(-20, 20, 5000)])
    near_one = torch.linspace(0.98, 1.02, 500)
    numbers = torch.cat([numbers, near_one]).to(dtype)
    got, wanted = _run(function, numbers), function(numbers.double())
    unit = torch.finfo(dtype).eps
    atol = torch.finfo(dtype).tiny * unit
    torch.testing.assert_close(
        got.double(), wanted.to(dtype).double(), rtol=unit, atol=atol, equal_nan=True
    )
