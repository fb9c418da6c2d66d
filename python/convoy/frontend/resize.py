# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Resizing by interpolation to any size: nearest, linear, bilinear, trilinear and bicubic, and the
last two in 2-D with antialiasing.

Each is linear and separable. Along one dim an element of the result is a sum of a few elements of
the operand, the taps: their positions and weights are constants, from Torch's result for the unit
vectors, which accounts for align_corners, scale factors and borders. A tap is a
`tcp.index_select`, which the compiler fuses with the sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import dtype_name
from convoy.frontend.indexing import select_along
from convoy.frontend.shape import stretch

__all__: list[str] = []

aten = torch.ops.aten
#: More taps than these are a product with a dense matrix.
_MOST_TAPS = 16
#: Taps of a dim whose sums are computed in one kernel with those of the other dims.
_FUSED_TAPS = 2


_NEAREST = [
    f"aten.{mode}{rank}d"
    for mode in ("upsample_nearest", "_upsample_nearest_exact")
    for rank in (1, 2, 3)
]


@converts(*_NEAREST)
def nearest(b: Builder, call: Call) -> ir.Value:
    x, _, *scales = call.args
    return _nearest(b, call, x, scales)


@converts(*(f"{name}.vec" for name in _NEAREST))
def nearest_vec(b: Builder, call: Call) -> ir.Value:
    x, _, scales = call.args
    return _nearest(b, call, x, scales)


def _nearest(
    b: Builder, call: Call, x: ir.Value, scales: Sequence[float | None] | None
) -> ir.Value:
    """Reads at the positions that Torch's 1-D op takes from 0, 1, 2, ... A resize by an integer
    factor is a slice, or one broadcast for all dims, which is one kernel."""
    is_exact = "exact" in call.name
    op: Callable[..., Tensor] = (
        aten._upsample_nearest_exact1d if is_exact else aten.upsample_nearest1d
    )
    times: dict[int, int] = {}
    for dim in range(2, type_of(x).rank):
        size, out = type_of(x).shape[dim], call.result.shape[dim]
        numbers = torch.arange(size, dtype=torch.float64)
        scale = scales[dim - 2] if scales else None
        places = op(numbers[None, None], [out], scale)[0, 0].to(torch.int32)
        if torch.equal(places, torch.arange(out) * size // out) and out % size == 0:
            if out != size:
                times[dim] = out // size
        elif torch.equal(places, torch.arange(out) * (size // out)):
            x = b.slice(x, dim, 0, out, size // out)
        else:
            name = f"nearest{'_exact' if is_exact else ''}_{size}_to_{out}"
            x = select_along(b, x, b.weight(name, places), dim, in_bounds=True)
    return stretch(b, x, times) if times else x


_LINEAR = [
    *(f"aten.upsample_{mode}" for mode in ("linear1d", "bilinear2d", "bicubic2d", "trilinear3d")),
    *(f"aten._upsample_{mode}_aa" for mode in ("bilinear2d", "bicubic2d")),
]


@converts(*_LINEAR)
def resize(b: Builder, call: Call) -> ir.Value:
    x, _, align_corners, *scales = call.args
    return _resize(b, call, x, align_corners, scales)


@converts(*(f"{name}.vec" for name in _LINEAR))
def resize_vec(b: Builder, call: Call) -> ir.Value:
    x, _, align_corners, scales = call.args
    return _resize(b, call, x, align_corners, scales)


def _resize(
    b: Builder,
    call: Call,
    x: ir.Value,
    align_corners: bool,
    scales: Sequence[float | None] | None,
) -> ir.Value:
    mode = call.name.partition("upsample_")[2].removesuffix(".vec")
    if not (dtype := type_of(x).dtype).is_floating_point:
        # PyTorch has a fixed-point algorithm of its own for uint8.
        msg = (
            f"expected a floating-point tensor, got {dtype_name(dtype)}; resize x.float() and "
            "round the result"
        )
        raise Unsupported(msg)
    x = b.wide(x)
    for dim in range(2, type_of(x).rank):
        size, out = type_of(x).shape[dim], call.result.shape[dim]
        scale = scales[dim - 2] if scales else None
        x = _along(b, x, dim, _matrix(mode, size, out, align_corners, scale), mode, dtype)
    return b.cast(x, dtype)


def _along(
    b: Builder, x: ir.Value, dim: int, matrix: Tensor, mode: str, dtype: torch.dtype
) -> ir.Value:
    """The product of `matrix` (out x size) and dim `dim` of `x`. A dense matrix has the dtype
    `dtype`, to which its product is rounded, as a sum of many taps is."""
    out, size = matrix.shape
    if torch.equal(matrix, torch.eye(size, dtype=matrix.dtype)[:out]) and out == size:
        return x
    kind = type_of(x)
    name = f"resize_{mode}_{size}_to_{out}"
    count = int((matrix != 0).sum(1).max())
    if count > _MOST_TAPS:
        weight = b.weight(name, matrix.to(dtype))
        before, after = kind.shape[:dim], kind.shape[dim + 1 :]
        rows = b.reshape(b.cast(x, dtype), (math.prod(before), size, math.prod(after)))
        return b.wide(b.reshape(b.matmul(weight, rows), (*before, out, *after)))
    places, weights = _taps(matrix, count)
    total: ir.Value | None = None
    for tap in range(count):
        place = b.weight(f"{name}_at_{tap}", places[tap].to(torch.int32), _steps(places[tap], size))
        factor = b.weight(f"{name}_by_{tap}", weights[tap].to(kind.dtype))
        factor = b.reshape(factor, (out, *(1,) * (kind.rank - 1 - dim)))
        term = b.binary(tcp.MulOp, select_along(b, x, place, dim, in_bounds=True), factor)
        total = term if total is None else b.binary(tcp.AddOp, total, term)
    assert total is not None
    # The sums of many taps are a kernel for each dim, with a tensor between them.
    return total if count <= _FUSED_TAPS else b.wide(b.cast(total, dtype))


def _taps(matrix: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The positions of the nonzero elements of each row, and these elements, each `count` x rows.

    An element that is not finite makes its product with 0 NaN. So where a row has fewer elements,
    its last one is repeated, in equal shares."""
    places = torch.argsort((matrix == 0).to(torch.int8), dim=1, stable=True)[:, :count]
    used = (matrix != 0).sum(1, keepdim=True)
    last = (used - 1).clamp(min=0)
    places = places.gather(1, torch.minimum(torch.arange(count), last))
    shares = torch.where(torch.arange(count) < last, 1, count - last)
    weights = matrix.gather(1, places) / shares
    return places.T.contiguous(), weights.T.contiguous()


def _steps(places: Tensor, size: int) -> tuple[int, int, int] | None:
    """The attribute `tcp.steps` of positions, if they are those of resizing by an integer factor:
    element i is floor((i + shift) / factor), but at least 0 and at most the last position."""
    factor, rest = divmod(len(places), size)
    if factor < 2 or rest != 0:
        return None
    numbers, last = torch.arange(len(places)), int(places.max())
    for shift in range(-factor, factor + 1):
        stepped = torch.div(numbers + shift, factor, rounding_mode="floor").clamp(0, last)
        if torch.equal(stepped, places):
            return shift, factor, last
    return None


def _matrix(
    mode: str, size: int, out: int, align_corners: bool, scale: float | None
) -> torch.Tensor:
    """The matrix, `out` x `size` in float64: Torch's 2-D op on the rows of the identity, with the
    other dim unchanged. Sampling uses the scale factor, if given, instead of out / size."""
    ops: dict[str, Callable[..., Tensor]] = {
        "bicubic2d": aten.upsample_bicubic2d,
        "bicubic2d_aa": aten._upsample_bicubic2d_aa,
        "bilinear2d_aa": aten._upsample_bilinear2d_aa,
    }
    op: Callable[..., Tensor] = ops.get(mode, aten.upsample_bilinear2d)
    made = op(
        torch.eye(size, dtype=torch.float64)[None, None],
        [size, out],
        bool(align_corners),
        None,
        scale,
    )
    return made[0, 0].T.contiguous()
