# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rows that begin and end between aligned groups of elements, which kernels read as whole groups
and single elements around them, emulated and compared with PyTorch in float64."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor
from torch.nn.functional import layer_norm

from convoy.frontend import import_module

_HALF, _FLOAT = torch.float16, torch.float32


def _random(*shape: int, dtype: torch.dtype = _HALF) -> Tensor:
    # The mean is not zero, so that the sum of a row shows each missing or additional element.
    values = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))) / 4 + 1
    return values.to(dtype)


def _softmax(x: Tensor) -> Tensor:
    return x.softmax(-1)


def _share(x: Tensor) -> Tensor:
    return x / x.amax(-1, keepdim=True)


def _sum(x: Tensor) -> Tensor:
    return x.sum(-1)


def _norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return layer_norm(x, weight.shape, weight, bias)


def _with_mask(x: Tensor, mask: Tensor) -> Tensor:
    return (x + mask).softmax(-1)


def _norm_inputs(rows: int, length: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
    return tuple(_random(*shape, dtype=dtype) for shape in ((rows, length), (length,), (length,)))


#: The function, its inputs, and elements per access.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], int]] = {
    # Eight rows begin at all places between groups of eight.
    "shortest": (_softmax, (_random(9, 513),), 8),
    "shortest of smaller groups": (_sum, (_random(9, 257),), 4),
    "too short": (_sum, (_random(9, 255),), 1),
    "block": (_softmax, (_random(9, 2049),), 8),
    "float32": (_softmax, (_random(5, 1027, dtype=_FLOAT),), 4),
    "to float32": (lambda x: x.float().softmax(-1), (_random(5, 1025),), 4),
    "pairs": (_softmax, (_random(4, 1030),), 8),
    "one row": (_softmax, (_random(1, 2051),), 8),
    "copied slices": (lambda x: x[:, 3:].softmax(-1), (_random(3, 1032),), 8),
    "norm": (lambda x: layer_norm(x, (1029,)), (_random(5, 1029),), 8),
    "norm with weights": (_norm, _norm_inputs(5, 1029, _HALF), 1),
    "residual": (lambda x, y: _softmax(x + y), (_random(3, 1025), -_random(3, 1025)), 8),
    "epilogue": (lambda x: x.sum(-1).relu() * 2, (_random(9, 1027, dtype=_FLOAT),), 4),
    "other starts": (_with_mask, (_random(3, 1025), _random(3, 1)), 8),
    "rows at other places": (_with_mask, (_random(2, 3, 1025), _random(2, 1, 1025)), 1),
    # Rows that registers do not hold.
    "long": (_share, (_random(3, 53301),), 8),
    "small groups": (_share, (_random(2, 50257),), 4),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, width = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    text = lower_to_host(imported.text)
    assert max(map(int, re.findall(r"vector<(\d+)x", text)), default=1) == width
    wanted = function(*(each.double() for each in inputs)).double()
    got = torch.full(wanted.shape, torch.nan, dtype=function(*inputs).dtype)
    run_main(text, inputs, [got])
    tolerance = {_HALF: 2e-3, _FLOAT: 2e-6}[got.dtype]
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance)
