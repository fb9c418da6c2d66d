# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels whose innermost loop is short, so that a thread has elements of several iterations of the
loop before it, as for nearest resizing. Emulated and compared with PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module


def _numbers(*shape: int, dtype: torch.dtype = torch.float16, most: int = 125) -> Tensor:
    numbers = torch.arange(torch.Size(shape).numel(), dtype=torch.int32).reshape(shape)
    return (numbers % (2 * most + 1) - most).to(dtype)


def _nearest(x: Tensor, times: int = 2) -> Tensor:
    n, c, h, w = x.shape
    repeated = x[:, :, :, None, :, None].expand(n, c, h, times, w, times)
    return repeated.reshape(n, c, h * times, w * times)


def _turned(x: Tensor, y: Tensor) -> Tensor:
    """Complex numbers, of which the factor of each has one part."""
    return x * y[:, :, None]


def _mixed(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """Sums of products whose terms each thread loads once for all of them."""
    weights = w[:, :, None, None, None]
    sums = sum(x[i] * weights[:, i] for i in range(3))
    assert isinstance(sums, Tensor)
    return sums * y[:, :, None]


#: The function, its inputs, and the elements that a thread stores at once. Threads have more elements
#: if there are 32768 of them.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], str]] = {
    "nearest": (_nearest, (_numbers(4, 16, 32, 32),), "8xf16"),
    "nearest of bytes": (_nearest, (_numbers(4, 16, 32, 32, dtype=torch.int8),), "8xi8"),
    "four times": (lambda x: _nearest(x, 4), (_numbers(4, 4, 32, 32),), "8xf16"),
    "three times": (lambda x: _nearest(x, 3), (_numbers(4, 8, 32, 32),), ""),
    "pairs of pixels": (_nearest, (_numbers(4, 16, 32, 34),), "4xf16"),
    "odd rows": (_nearest, (_numbers(4, 16, 32, 33),), "2xf16"),
    "flags": (lambda x: _nearest(x > 0), (_numbers(4, 16, 32, 32),), ""),
    "joined": (
        lambda x, y: torch.cat([_nearest(x), y], 1),
        (_numbers(4, 16, 32, 32), _numbers(4, 8, 64, 64)), "8xf16",
    ),
    "bias": (
        lambda x, b, y: (_nearest(x) + b[:, None, None]).relu() + y,
        (_numbers(4, 16, 32, 32), _numbers(16), _numbers(4, 16, 64, 64)), "8xf16",
    ),
    "pixel shuffle": (lambda x: F.pixel_shuffle(x, 2), (_numbers(4, 64, 32, 32),), "8xf16"),
    "complex": (_turned, (_numbers(1024, 128, 2), _numbers(1024, 128)), "8xf16"),
    "repeated": (
        _mixed,
        (_numbers(3, 1024, 64, 2, most=4), _numbers(1024, 64, most=5), _numbers(4, 3, most=3)),
        "4xf16",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, stored = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    text = lower_to_host(imported.text)
    last = text[text.rindex('"gpu.func"') :]
    stores = re.findall(r'"vector\.store".*vector<(\w+)>', last)
    assert set(stores) == ({stored} if stored else set())
    wanted = function(*inputs)
    got = torch.zeros_like(wanted)
    run_main(text, inputs, [got])
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)
