# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""grid_sample: reads an image at the coordinates of a grid, in 2-D and 3-D.

A sample is a sum of taps: a `tcp.gather` in the flattened image by a weight, which the compiler
fuses into one loop."""

from __future__ import annotations

import math
from itertools import product

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType

__all__: list[str] = []

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2
#: The parameter of the cubic kernel.
_A = -0.75


@converts("aten.grid_sampler_2d", "aten.grid_sampler_3d", "aten.grid_sampler")
def grid_sampler(b: Builder, call: Call) -> ir.Value:
    """x is N x C x (D x) H x W, the grid N x (D x) H x W x rank with the coordinate of W first, in
    [-1, 1]."""
    x, grid, mode, padding, align_corners = call.args
    kind, places = type_of(x), type_of(grid)
    rank = kind.rank - 2
    sizes = kind.shape[2:]
    out = math.prod(places.shape[1:-1])
    grid = b.reshape(b.wide(grid), (kind.shape[0], 1, out, rank))
    image = b.reshape(x, (*kind.shape[:2], math.prod(sizes)))
    taps = []
    for dim, size in enumerate(sizes):
        part = b.slice(grid, 3, rank - 1 - dim, 1)
        coordinate = Expression(b, b.reshape(part, (kind.shape[0], 1, out)))
        taps.append(_taps(coordinate, size, mode, padding, bool(align_corners)))
    total: Expression | None = None
    for chosen in product(*taps):
        weight, place, valid = chosen[0]
        for (factor, index, inside), size in zip(chosen[1:], sizes[1:], strict=True):
            weight = _product(weight, factor)
            place = place * size + index
            valid = _both(valid, inside)
        value = _read(image, place, out, b, type_of(grid).dtype)
        # As in Torch, a NaN coordinate makes the sample NaN in 2 dims only.
        if valid is not None and rank == 2:
            value = value.where(valid, 0.0)
        term = value if weight is None else value * weight
        if valid is not None and rank != 2:
            term = term.where(valid, 0.0)
        total = term if total is None else total + term
    assert total is not None
    return b.reshape(total.cast(kind.dtype), call.result.shape)


Tap = tuple[Expression | None, Expression, Expression | None]


def _taps(x: Expression, size: int, mode: int, padding: int, align_corners: bool) -> list[Tap]:
    """Weight, position and validity of each tap along one dim; None is a weight of 1 and always
    valid. Positions are within the dim."""
    unnormalized = (
        (x + 1.0) * ((size - 1) / 2) if align_corners else ((x + 1.0) * float(size) - 1.0) * 0.5
    )
    if mode == _BICUBIC:
        # Each tap is moved inside, instead of the coordinate.
        low = unnormalized.floor()
        t = unnormalized - low
        weights = [_outer(t + 1.0), _inner(t), _inner(1.0 - t), _outer(2.0 - t)]
        made: list[Tap] = []
        for offset, weight in zip((-1.0, 0.0, 1.0, 2.0), weights, strict=True):
            made.append(
                _inside(weight, _padded(low + offset, size, padding, align_corners), size, padding)
            )
        return made
    at = _padded(unnormalized, size, padding, align_corners)
    if mode == _NEAREST:
        return [_inside(None, at.round(), size, padding)]
    low = at.floor()
    t = at - low
    return [
        _inside(1.0 - t, low, size, padding),
        _inside(t, low + 1.0, size, padding),
    ]


def _inside(weight: Expression | None, place: Expression, size: int, padding: int) -> Tap:
    """A tap limited to the dim. Outside it is invalid with zeros; else only a tap of weight 0 is
    outside."""
    last = float(size - 1)
    valid = (place >= 0.0) & (place <= last)
    # NaN becomes 0, as in Torch.
    limited = place.replaced(~valid, place.constant(0.0))
    limited = limited.replaced(place > last, last)
    place = limited.with_value(limited.cast(torch.int64))
    return weight, place, valid if padding == _ZEROS else None


def _padded(x: Expression, size: int, padding: int, align_corners: bool) -> Expression:
    """The coordinate moved inside by the padding mode."""
    if padding == _ZEROS:
        return x
    if padding == _REFLECTION:
        x = _reflected(x, *((0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)))
    x = x.maximum(0.0).minimum(float(size - 1))
    return x.replaced(x.is_nan(), 0.0)


def _reflected(x: Expression, twice_low: int, twice_high: int) -> Expression:
    """Reflects at both ends until the coordinate is between them."""
    if twice_low == twice_high:
        return x.replaced(x.equals(x), 0.0)
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    distance = (x - low).abs()
    flips = (distance / span).floor()
    rest = distance - flips * span
    odd = ((flips * 0.5).floor() * 2.0).differs(flips)
    return (rest + low).replaced(odd, (span + low) - rest)


def _inner(t: Expression) -> Expression:
    """The cubic kernel at a distance of at most 1."""
    return ((_A + 2.0) * t - (_A + 3.0)) * t * t + 1.0


def _outer(t: Expression) -> Expression:
    """The cubic kernel at a distance from 1 to 2."""
    return ((_A * t - 5.0 * _A) * t + 8.0 * _A) * t - 4.0 * _A


def _product(a: Expression | None, b: Expression | None) -> Expression | None:
    return b if a is None else a if b is None else a * b


def _both(a: Expression | None, b: Expression | None) -> Expression | None:
    return b if a is None else a if b is None else a & b


def _read(
    image: ir.Value, place: Expression, out: int, b: Builder, dtype: torch.dtype
) -> Expression:
    """The elements of N x C x size at N x 1 x out places."""
    kind = type_of(image)
    indices = b.broadcast(place.value, (*kind.shape[:2], out))
    read = b.emit(
        tcp.GatherOp, TensorType((*kind.shape[:2], out), kind.dtype), image, indices, dim=2
    )
    return Expression(b, b.cast(read, dtype))
