# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sorting of dims that are too large to compare all pairs: every dtype in both orders, with ties,
NaN, infinities and zeros of both signs, in PyTorch's stable order."""

from __future__ import annotations

import math

import pytest
import torch
from op_cases import Function
from torch import Tensor

import convoy

_SPECIAL = torch.tensor([math.nan, 0.0, -0.0, math.inf, -math.inf, 1e-45, -1e-45, math.nan])
_FLOATS = torch.cat([_SPECIAL, torch.randn(400, generator=torch.Generator().manual_seed(0))])
_INTS = torch.cat(
    [
        torch.tensor([-(2**63), 2**63 - 1, 0, -1, 2**32, -(2**32), 2**31, -(2**31)]),
        torch.randint(-9, 9, (300,), generator=torch.Generator().manual_seed(1)) * 2**29,
    ]
)
_INPUTS = [
    *(torch.cat([_FLOATS, _FLOATS.flip(0)]).to(dtype) for dtype in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64)),
    *(torch.cat([_INTS >> shift, _INTS]).to(dtype) for dtype, shift in (
        (torch.int8, 30), (torch.uint8, 30), (torch.int16, 25), (torch.int32, 4), (torch.int64, 1))),
    _INTS > 0,
]  # fmt: skip


def _both(x: Tensor) -> tuple[Tensor, ...]:
    return (*x.sort(stable=True), *x.sort(stable=True, descending=True))


def _same(got: object, expected: Tensor) -> bool:
    mine = torch.from_dlpack(got)
    return bool(((mine == expected) | ((mine != mine) & (expected != expected))).all())


@pytest.mark.parametrize("x", _INPUTS, ids=lambda x: str(x.dtype))
def test_order_is_pytorchs(x: Tensor) -> None:
    results = convoy.compile(Function(_both).eval(), (x,), target="cpu")(x)
    assert all(_same(*pair) for pair in zip(results, _both(x), strict=True))


def test_large_dims() -> None:
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(2, 50257, generator=generator)
    numbers = torch.randint(0, 1000, (100000,), generator=generator)

    def both(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return (*x.topk(50), y.argsort(stable=True))

    results = convoy.compile(Function(both).eval(), (logits, numbers), target="cpu")(
        logits, numbers
    )
    assert all(_same(*pair) for pair in zip(results, both(logits, numbers), strict=True))
