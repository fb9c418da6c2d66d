"""Amplified rounding errors: their effect on a result bounds the error of a correct evaluation."""

from __future__ import annotations

import torch
from random_model import EPS
from torch import Tensor

__all__ = ["Noise"]

#: A value is moved by at most this many units in the last place: more in float32, where that is
#: still small relative to the value.
_GAIN = {torch.float32: 16, torch.float16: 6, torch.bfloat16: 3, torch.float64: 16}


class Noise:
    """Moves each element of a floating-point value by a random fraction of a few units in the
    last place of its dtype in the model or, if that has less precision, of `computed`, the option
    `dtype` of the compilation. A value that PyTorch computes exactly is not moved."""

    def __init__(self, seed: int, computed: str | None) -> None:
        self._computed = [] if computed is None else [getattr(torch, computed)]
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, value: Tensor, narrow: Tensor, wide: Tensor) -> Tensor:
        """`value`, moved; `narrow` and `wide` are PyTorch's results in the model's dtypes and in
        float64."""
        if not value.is_floating_point() or narrow.shape != value.shape:
            return value
        if not self._computed and torch.equal(narrow.double(), wide):
            return value
        size = max(
            _GAIN[dtype] * EPS[dtype] for dtype in (narrow.dtype, *self._computed) if dtype in EPS
        )
        move = torch.rand(value.shape, generator=self._generator, dtype=torch.float64) * 2 - 1
        return value * (1 + size * move)
