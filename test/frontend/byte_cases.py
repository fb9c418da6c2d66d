# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of uint8 tensors for `op_cases`: name, function, and inputs as for its `_add`. The numbers
above 127 would be negative if they were read as signed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

__all__ = ["BYTE_CASES"]

_X = torch.tensor([[0, 1, 127, 128], [129, 200, 254, 255]], dtype=torch.uint8)
_Y = torch.tensor([[3, 128, 255, 1], [7, 200, 2, 128]], dtype=torch.uint8)
_SIGNED = torch.tensor([[-128, -1, 0, 127], [5, -6, 100, -100]], dtype=torch.int8)
_LONG = torch.tensor([[-1, 0, 255, 256], [300, -300, 2**40 + 7, 128]])
_FLOAT = torch.tensor([[0.0, 0.9, 127.5, 128.2], [199.75, 255.0, 3.3, 254.7]])
_INDEX = torch.tensor([[1, 0, 0, 1]])
_SHIFTS = torch.tensor([[0, 1, 7, 8], [9, 255, 128, 2]], dtype=torch.uint8)
_IMAGE = (torch.arange(48) * 37 % 256).reshape(1, 3, 4, 4).to(torch.uint8)

_TO = (torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
       torch.float32, torch.float64)  # fmt: skip

BYTE_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    ("byte_image", lambda x: (x.float() / 255 - 0.5) / 0.25, _IMAGE),
    ("byte_image_channels", lambda x: (x.permute(0, 2, 3, 1) / 255).sum(0), _IMAGE),
    ("byte_to_all", lambda x: tuple(x.to(dtype) for dtype in _TO), _X),
    (
        "byte_from_all",
        lambda i, n, f, c: [x.to(torch.uint8) for x in (i, n, f, f.half(), f.double(), c)],
        _SIGNED,
        _LONG,
        _FLOAT,
        _X > 127,
    ),
    ("byte_arithmetic", lambda x, y: (x + y, x - y, x * y, -x, x + 200, 3 - x, x.abs()), _X, _Y),
    (
        "byte_division",
        lambda x, y: (x // y, x % y, torch.fmod(x, y), x / y, x.div(y, rounding_mode="trunc")),
        _X,
        _Y,
    ),
    (
        "byte_compare",
        lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y, x > 128, x < 200),
        _X,
        _Y,
    ),
    (
        "byte_extrema",
        lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), x.clamp(100, 200), x.clamp(max=3)),
        _X,
        _Y,
    ),
    (
        "byte_bits",
        lambda x, y, n: (x & y, x | y, x ^ y, ~x, x >> n, x << n, x >> 3, x << 3),
        _X,
        _Y,
        _SHIFTS,
    ),
    ("byte_gcd_pow", lambda x, y: (torch.gcd(x, y), x**2, x**3, x**y, torch.sign(x)), _X, _Y),
    (
        "byte_reduce",
        lambda x: (x.sum(), x.sum(1), x.amax(1), x.amin(0), *x.max(1), *x.min(0), x.prod()),
        _X,
    ),
    ("byte_truth", lambda x: (x.any(), x.all(), x.any(1), x.all(1), x.logical_not()), _X),
    ("byte_order", lambda x: (x.argmax(1), x.argmin(1), x.sort(1)[0], x.topk(2, 1)[0]), _X),
    (
        "byte_index",
        lambda x, i: (
            x.gather(0, i),
            x[i[0]],
            torch.take_along_dim(x, i, 0),
            x.index_select(1, i[0]),
        ),
        _X,
        _INDEX,
    ),
    (
        "byte_scatter",
        lambda x, i, y: (
            x.scatter(0, i, y[:1]),
            x.scatter_reduce(0, i, y[:1], "amax"),
            x.scatter_reduce(0, i, y[:1], "amin"),
            x.scatter_add(0, i, y[:1]),
        ),
        _X,
        _INDEX,
        _Y,
    ),
    (
        "byte_move",
        lambda x, y: (
            torch.where(x > 127, x, y),
            torch.cat([x, y]),
            F.pad(x, (1, 2), value=255),
            F.pad(x, (1, 0)),
            x.flip(1),
            x.T,
            x[:, 1::2],
            x.masked_fill(y > 127, 200),
            torch.full_like(x, 250),
        ),
        _X,
        _Y,
    ),
    ("byte_mixed", lambda x, i, n: (x + i, x * n, x + 0.5, x > i), _X, _SIGNED, _LONG),
    ("byte_matmul", lambda x, y: x @ y.T, _X, _Y),
    ("byte_cumsum", lambda x: (x.cumsum(1), x.cumprod(1), x.cummax(1)[0]), _X),
    ("byte_embedding", lambda x: F.one_hot(x.long() % 5, 5), _X),
]
