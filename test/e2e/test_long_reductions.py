"""Reductions of millions of numbers on the CPU lose no more digits than PyTorch's cascade sums."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor

import convoy

_COUNT = 1 << 22
_PRIME = 4194301  # the largest prime below 2^22: no part divides it


def _near_100(*shape: int) -> Tensor:
    return 100 + torch.rand(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: x.sum(), _near_100(_COUNT)),
        (lambda x: x.sum(1), _near_100(2, _PRIME // 2)),
        (lambda x: x.sum(0), _near_100(_PRIME, 2)),
        (lambda x: x.mean((0, 2)), _near_100(512, 3, 8191)),
        (lambda x: x.var(), _near_100(_PRIME)),
        (lambda x: x.std(0), _near_100(_COUNT // 2, 2)),
        (
            lambda x: F.batch_norm(x, None, None, training=True)[:, :, :64],
            _near_100(16, 2, _COUNT // 32),
        ),
        (lambda x: F.layer_norm(x, x.shape[1:])[:, :64], _near_100(2, _COUNT // 2)),
        (lambda x: F.instance_norm(x)[:, :, :64], _near_100(1, 2, _COUNT // 2)),
        (lambda x: x.softmax(0).amax(), _near_100(_COUNT)),
        (lambda x: x.sum(1, dtype=torch.float32), _near_100(2, _COUNT // 2).half()),
    ],
    ids=[
        "sum_all",
        "sum_rows",
        "sum_columns",
        "mean_channels",
        "var",
        "std_columns",
        "batch_norm",
        "layer_norm",
        "instance_norm",
        "softmax",
        "sum_half",
    ],
)
def test_loses_no_more_than_pytorch(function: Callable[[Tensor], Tensor], x: Tensor) -> None:
    exact = function(x.double()) if x.dtype == torch.float32 else x.double().sum(1)
    scale = exact.abs().max()

    def error(result: Tensor) -> float:
        return float((result.double() - exact).abs().max() / scale)

    got = torch.from_dlpack(convoy.compile(Function(function).eval(), (x,), target="cpu")(x))
    assert error(got) <= max(4 * error(function(x)), 1e-6)


def test_integers_and_extrema_are_exact() -> None:
    x = torch.randint(
        -5, 100, (3, _PRIME // 3), generator=torch.Generator().manual_seed(0), dtype=torch.int32
    )
    y = x.float()
    y[1, 7] = torch.nan

    def both(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x.sum(1), x.amax(1), y.amax(1), y.half().amin(1)

    for mine, theirs in zip(
        convoy.compile(Function(both).eval(), (x, y), target="cpu")(x, y), both(x, y), strict=True
    ):
        torch.testing.assert_close(torch.from_dlpack(mine), theirs, rtol=0, atol=0, equal_nan=True)
