"""Results on the CPU in the model's own dtypes, compared with PyTorch's: scalars and casts at the
limits of a dtype, long reductions, functions at the limits of their domain. The other tests compare
with float64, where these do not differ."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from op_cases import Function, Together
from torch import Tensor, nn

import convoy

_X = torch.tensor([[-2.5, 0.0, 1.5, 3.0]])
_HALF = torch.tensor([1.0, 0.001, -60000.0]).half()
_INT8 = torch.tensor([1, 100, -5], dtype=torch.int8)
_INT32 = torch.tensor([1, 2, 3], dtype=torch.int32)
_ODD = torch.tensor(
    [math.nan, math.inf, -math.inf, 1e20, -1e20, 3e9, -3e9, 70000.5, 300.7, -300.7, 0.9, -0.9, -0.0]
)
_WIDE = torch.tensor(
    [1e9, 1e22, -1e300, 1.7e308, 3.0, -0.0, 5e-324, math.inf, math.nan], dtype=torch.float64
)


def _plain_zeros(x: Tensor) -> Tensor:
    """Without the signs of zeros: in PyTorch -7.5 % -7.5 is -0."""
    return torch.where(x == 0, 0.0, x)


_SIGNS = torch.tensor([3.0, -7.5, 1.0, 0.0, math.inf, -math.inf, math.nan])
_MASK = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])


def _long(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


_QKV = tuple(
    torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(3)
)


class _Standardized(nn.Module):
    """A convolution with weight standardization by a batch norm over its output channels, as in
    "Micro-Batch Training"."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 4, 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        weight = self.conv.weight
        flat = F.batch_norm(
            weight.reshape(1, weight.shape[0], -1),
            None,
            None,
            training=True,
            momentum=0.0,
            eps=1e-6,
        )
        return F.conv2d(x, flat.reshape_as(weight))


_CASES: dict[str, tuple[Any, tuple[Tensor, ...]]] = {
    # Casting to bool is `!= 0`.
    "full_like_bool_fraction": (lambda x: torch.full_like(x > 0, 2.5), (_X,)),
    "full_like_bool_two": (lambda x: torch.full_like(x > 0, 2), (_X,)),
    "full_bool_half": (lambda x: torch.full((2,), 0.5, dtype=torch.bool) & (x[0, :2] < 9), (_X,)),
    "full_bool_nan": (lambda x: torch.full_like(x > 0, math.nan), (_X,)),
    "fill_bool": (lambda x: (x > 0).clone().fill_(0.5), (_X,)),
    "masked_fill_bool": (lambda x: (x > 1).masked_fill(x < 0, 0.5), (_X,)),
    "masked_fill_int": (lambda x: x.masked_fill(x > 1, 2.7), (_INT32,)),
    "pad_bool": (lambda x: F.pad(x > 0, (1, 1), value=0.5), (_X,)),
    "pad_int": (lambda x: F.pad(x, (1, 1), value=-2.5), (_INT32,)),
    "full_int_fraction": (lambda x: x + torch.full((3,), -1.9, dtype=torch.int32), (_INT32,)),
    "hardtanh_int": (lambda x: F.hardtanh(x, 0.5, 2.5), (_INT32,)),
    "threshold_int": (lambda x: F.threshold(x, 1.5, 7), (_INT32,)),
    "clamp_nan": (lambda x: x.clamp(min=math.nan), (_X,)),
    "cast_bool": (lambda x: x.bool(), (_ODD,)),
    # Values out of the dtype's range.
    "int8_plus_300": (lambda x: x + 300, (_INT8,)),
    "int8_times_300": (lambda x: x * 300, (_INT8,)),
    "int8_above_300": (lambda x: x > 300, (_INT8,)),
    "int32_below_2_40": (lambda x: x < 2**40, (_INT32,)),
    "half_times_small": (lambda x: x * 1e-8, (_HALF,)),
    "half_times_large": (lambda x: x * 1e5, (_HALF,)),
    "half_over_large": (lambda x: x / 1e5, (_HALF,)),
    "large_over_half": (lambda x: 1e5 / x, (_HALF,)),
    "half_above_large": (lambda x: x > 70000, (_HALF,)),
    "where_half_large": (lambda x: torch.where(x > 0.5, x, -1e9), (_HALF,)),
    "addcmul_half": (lambda x: torch.addcmul(x, x, x, value=1e-8), (_HALF,)),
    "lerp_half": (lambda x: torch.lerp(x, x * 0, 1e5), (_HALF,)),
    # Casts.
    "cast_int64": (lambda x: x.long(), (_ODD,)),
    "cast_int32": (lambda x: x.int(), (_ODD,)),
    "cast_int16": (lambda x: x.short(), (_ODD,)),
    "cast_int8": (lambda x: x.to(torch.int8), (_ODD,)),
    "cast_double_int32": (lambda x: x.int(), (_ODD.double(),)),
    "cast_half_int8": (lambda x: x.to(torch.int8), (_ODD.half(),)),
    "cast_double_half": (
        lambda x: x.half(),
        (
            torch.tensor(
                [1 + 2.0**-11 + 2.0**-40, 65519.0, 65520.0, 1e-8, 5e-324], dtype=torch.float64
            ),
        ),
    ),
    "cast_double_bfloat16": (
        lambda x: x.bfloat16(),
        (torch.tensor([1 + 2.0**-8 + 2.0**-40, 3e38, 1e-40, math.nan], dtype=torch.float64),),
    ),
    "cast_rounds": (lambda x: (x.half() * 60000).float(), (_X,)),
    "cast_rounds_digits": (lambda x: x.half().float() + x.bfloat16().float(), (_X + 1e-3,)),
    "bfloat16_constant": (
        lambda x: x.clone().fill_(0.5).amin([3, -4, 2]).mean([0], keepdim=True),
        (torch.ones(5, 3, 1, 3, 3).bfloat16(),),
    ),
    # Division and remainder.
    "floor_divide": (lambda x: x // 0.1, (torch.tensor([1.0, 0.3, -0.7, 12.0]),)),
    # The quotients are too small for float32.
    "floor_divide_bfloat16": (
        lambda x, y: x // y,
        (
            torch.tensor([1e-30, -1e-30, 1e-30, -7.0]).bfloat16(),
            torch.tensor([-1e30, 1e30, 1e30, 2.0]).bfloat16(),
        ),
    ),
    "remainder": (lambda x: x % 3, (torch.tensor([1e8, -7.5, 2.0**40, 5.0]),)),
    "remainder_infinite": (
        lambda x, y: _plain_zeros(torch.cat([x % y, x[None] % math.inf, x[None] % -math.inf])),
        (_SIGNS, _SIGNS.reshape(-1, 1)),
    ),
    "floor_divide_infinite": (
        lambda x, y: _plain_zeros(
            torch.cat([x // y, *(x[None] // z for z in (math.inf, -math.inf, 2.0, 0.0))])
        ),
        (_SIGNS, _SIGNS.reshape(-1, 1)),
    ),
    "remainder_half": (lambda x: x % 0.3, (torch.tensor([100.0, -7.5, 0.1]).half(),)),
    "arange_dtypes": (
        lambda x: torch.where(torch.arange(1) < 1, x, 0.0) + torch.arange(1, dtype=torch.float32),
        (_X,),
    ),
    # Padding by a negative amount.
    "pad_crop": (
        lambda x: torch.cat([F.pad(x, p) for p in ((-1, 2), (3, -4), (-3, 1), (2, -4))], 1),
        (_X,),
    ),
    "pad_crop_all": (lambda x: F.pad(x[:, :1], (-1, 2), value=7.0), (_X,)),
    "pad_crop_replicate": (
        lambda x: torch.cat(
            [F.pad(x, p, "replicate") for p in ((-1, 2), (3, -4), (-4, 1), (2, -5))], 1
        ),
        (_X,),
    ),
    "pad_crop_reflect": (
        lambda x: torch.cat(
            [F.pad(x, p, "reflect") for p in ((-1, 2), (3, -2), (-3, 3), (2, -5))], 1
        ),
        (_X,),
    ),
    "pad_crop_circular": (
        lambda x: torch.cat([F.pad(x[None], p, "circular") for p in ((-1, 2), (2, -1))], 2),
        (_X,),
    ),
    # At most as many degrees of freedom as the correction.
    "var_one": (lambda x: x.var(0), (_X,)),
    "var_correction": (
        lambda x: torch.cat([*torch.var_mean(x, 1, correction=9), x.std(1, correction=4)]),
        (_X,),
    ),
    # A row without any score.
    "attention_masked_row": (F.scaled_dot_product_attention, (*_QKV, _MASK)),
    "attention_infinite_row": (
        lambda q, k, v, m: F.scaled_dot_product_attention(
            q, k, v, torch.zeros(3, 3).masked_fill(~m, -math.inf)
        ),
        (*_QKV, _MASK),
    ),
    "logsumexp_infinite": (
        lambda x: x.logsumexp(1),
        (
            torch.tensor(
                [[-math.inf, -math.inf], [math.inf, 1.0], [math.inf, -math.inf], [100.0, 200.0]]
            ),
        ),
    ),
    # Bools stored next to a product whose rows are whole and partial vectors: a bool is a byte in
    # memory and a bit in LLVM's vectors.
    "attention_causal_long": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k.cos(), is_causal=True),
        (_long(2, 5, 8), _long(2, 40, 8)),
    ),
    "product_masked": (
        lambda a, b, m: torch.where(m, a @ b, -1.0),
        (_long(2, 5, 8), _long(2, 8, 40), _long(5, 40) > 0),
    ),
    "product_masked_rows": (
        lambda a, b, m: torch.where(m, a @ b, -1.0),
        (_long(2, 5, 8), _long(2, 8, 40), _long(5, 1) > 0),
    ),
    "product_compared": (lambda a, b: (a @ b) > 0.25, (_long(2, 5, 8), _long(2, 8, 40))),
    "convolution_compared": (
        lambda x, w: F.conv2d(x, w) > 0.25,
        (_long(1, 3, 6, 6), _long(40, 3, 3, 3)),
    ),
    # Batch statistics.
    "batch_norm_of_weight": (_Standardized, (torch.arange(75.0).sin().reshape(1, 3, 5, 5),)),
    "batch_norm_half": (
        lambda x: F.batch_norm(x, None, None, training=True),
        (torch.arange(24.0).reshape(2, 3, 4).half(),),
    ),
    "batch_norm_affine": (
        lambda x: F.batch_norm(x, None, None, x[0, :, 0], x[1, :, 1], training=True),
        (torch.arange(24.0).reshape(2, 3, 4),),
    ),
    "var_half": (lambda x: x.var(0), (torch.tensor([200.0, -200.0] * 50).half(),)),
    "norm_half": (lambda x: torch.linalg.vector_norm(x), (torch.full((400,), 100.0).half(),)),
    # Functions at the limits of their domain.
    "sin": (
        torch.sin,
        (
            torch.tensor(
                [
                    1e9,
                    3e9,
                    -1e22,
                    3e38,
                    1e5,
                    -0.0,
                    0.0,
                    1e-45,
                    3.1415927,
                    math.inf,
                    math.nan,
                    12345678.0,
                ]
            ),
        ),
    ),
    "cos": (
        torch.cos,
        (
            torch.tensor(
                [
                    1e9,
                    3e9,
                    -1e22,
                    3e38,
                    1e5,
                    -0.0,
                    1e-45,
                    1.5707964,
                    -math.inf,
                    math.nan,
                    12345678.0,
                ]
            ),
        ),
    ),
    "sin_double": (torch.sin, (_WIDE,)),
    "cos_double": (torch.cos, (_WIDE,)),
    "exp": (
        torch.exp,
        (
            torch.tensor(
                [-math.inf, math.inf, math.nan, -0.0, 88.7, 88.8, -87.4, -103.9, -104.1, 1e-45]
            ),
        ),
    ),
    "log": (torch.log, (torch.tensor([0.0, -0.0, math.inf, -1.0, math.nan, 1e-45, 1.0, 3e38]),)),
    "tanh": (torch.tanh, (torch.tensor([-math.inf, math.inf, math.nan, -0.0, 1e-45, 9.0, -30.0]),)),
    "erf": (torch.erf, (torch.tensor([-math.inf, math.inf, math.nan, -0.0, 1e-45, 3.9, -30.0]),)),
    "pow": (
        torch.pow,
        (
            torch.tensor(
                [
                    -2.0,
                    -2.0,
                    -2.0,
                    0.0,
                    -0.0,
                    -0.0,
                    math.inf,
                    -math.inf,
                    -math.inf,
                    1.0,
                    math.nan,
                    -1.0,
                    2.0,
                    1e-45,
                    0.5,
                ]
            ),
            torch.tensor(
                [
                    3.0,
                    4.0,
                    0.5,
                    -1.0,
                    -3.0,
                    3.0,
                    -2.0,
                    3.0,
                    -3.0,
                    math.nan,
                    0.0,
                    math.inf,
                    -150.0,
                    2.0,
                    -math.inf,
                ]
            ),
        ),
    ),
}
_NAMES = list(_CASES)


@functools.cache
def _results() -> list[tuple[Tensor, Tensor]]:
    """The results of one compiled module with all cases, and PyTorch's, for each case."""
    modules = [
        (made() if isinstance(made, type) else Function(made)).eval() for made, _ in _CASES.values()
    ]
    counts = [len(inputs) for _, inputs in _CASES.values()]
    flat = tuple(x for _, inputs in _CASES.values() for x in inputs)
    got = [
        torch.from_dlpack(y)
        for y in convoy.compile(Together(modules, counts).eval(), flat, target="cpu")(*flat)
    ]
    with torch.no_grad():
        expected = [
            module(*inputs) for module, (_, inputs) in zip(modules, _CASES.values(), strict=True)
        ]
    return list(zip(got, expected, strict=True))


@pytest.mark.parametrize("name", _NAMES)
def test_equals_eager(name: str) -> None:
    mine, theirs = _results()[_NAMES.index(name)]
    assert mine.dtype == theirs.dtype
    tolerance = {"rtol": 2e-6, "atol": 1e-7} if theirs.dtype == torch.float32 else {}
    torch.testing.assert_close(mine, theirs, equal_nan=True, **tolerance)
    if theirs.dtype.is_floating_point:
        zeros = theirs == 0
        assert torch.equal(mine[zeros].signbit(), theirs[zeros].signbit())
