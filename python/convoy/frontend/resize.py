# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Resizing by interpolation: linear, bilinear, trilinear and bicubic, to any size.

Each is linear and separable, so along one dim it is a product with a constant out x in matrix. The
matrix is Torch's result for the unit vectors, which accounts for align_corners, scale factors and
borders."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts

__all__: list[str] = []

_RANKS = {"linear1d": 1, "bilinear2d": 2, "bicubic2d": 2, "trilinear3d": 3}


@converts(*(f"aten.upsample_{mode}.vec" for mode in _RANKS))
def resize_vec(b: Builder, call: Call) -> ir.Value:
    x, _, align_corners, scales = call.args
    return _resize(b, call, x, align_corners, scales)


@converts(*(f"aten.upsample_{mode}" for mode in _RANKS))
def resize(b: Builder, call: Call) -> ir.Value:
    x, _, align_corners, *scales = call.args
    return _resize(b, call, x, align_corners, scales)


def _resize(
    b: Builder, call: Call, x: ir.Value, align_corners: bool, scales: list[float | None] | None
) -> ir.Value:
    mode = call.name.removeprefix("aten.upsample_").removesuffix(".vec")
    rank = _RANKS[mode]
    for index in range(rank):
        dim, shape = 2 + index, type_of(x).shape
        size, out = shape[dim], call.result.shape[dim]
        scale = scales[index] if scales else None
        matrix = _matrix(mode, size, out, align_corners, scale)
        if torch.equal(matrix, torch.eye(size, dtype=matrix.dtype)):
            continue
        weight = b.weight(f"resize_{mode[:-2]}_{size}_to_{out}", matrix.to(call.result.dtype))
        # (out x in) times (in x dims after it), with the dims before it as batch.
        before, after = shape[:dim], shape[dim + 1 :]
        rows = b.reshape(x, (math.prod(before), size, math.prod(after)))
        x = b.reshape(b.matmul(weight, rows), (*before, out, *after))
    return x


def _matrix(
    mode: str, size: int, out: int, align_corners: bool, scale: float | None
) -> torch.Tensor:
    """The matrix, `out` x `size` in float64: Torch's 2-D op on the rows of the identity, with the
    other dim unchanged. Sampling uses the scale factor, if given, instead of out / size."""
    op = (
        torch.ops.aten.upsample_bicubic2d
        if mode == "bicubic2d"
        else torch.ops.aten.upsample_bilinear2d
    )
    made: torch.Tensor = op(
        torch.eye(size, dtype=torch.float64)[None, None],
        [size, out],
        bool(align_corners),
        None,
        scale,
    )
    return made[0, 0].T.contiguous()
