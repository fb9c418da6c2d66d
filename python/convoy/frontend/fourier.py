# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Discrete Fourier transforms (torch.fft) as products with matrices.

A transform of up to 512 elements, or of a prime number, is one product of the data with a matrix of
cosines and sines. A longer one is the transform of the rows and of the columns of a matrix (the
algorithm of Cooley and Tukey), so that the matrices stay small. The matrices are computed in
float64, with exact indices, and rounded to the dtype of the data.
"""

from __future__ import annotations

import math

import torch

from convoy.frontend._builder import Unsupported
from convoy.frontend._complex_rules import Complex, ComplexCall, imag_of, parts_of, rule
from convoy.frontend.complex_products import multiply

__all__: list[str] = []

#: The largest transform that is one product although its size has factors.
_DIRECT = 512
#: The largest prime factor of a size.
_MOST = 4096


@rule("_fft_c2c")
def complex_to_complex(call: ComplexCall) -> Complex:
    x, dims = parts_of(call["self"]), call["dim"]
    scale = _scale(call, [call.result.shape[dim] for dim in dims])
    for dim in dims:
        x = _transform(x, dim, call["forward"], scale=scale)
        scale = 1.0
    return x


@rule("_fft_r2c")
def real_to_complex(call: ComplexCall) -> Complex:
    """The transform along the last of the dims has only the first half of the frequencies if
    `onesided`."""
    x, dims = Complex(call["self"], None), call["dim"]
    scale = _scale(call, [call["self"].shape[dim] for dim in dims])
    x = _transform(x, dims[-1], True, scale=scale, count=call.result.shape[dims[-1]])
    for dim in dims[:-1]:
        x = _transform(x, dim, True)
    return x


@rule("_fft_c2r")
def complex_to_real(call: ComplexCall) -> torch.Tensor:
    """The inverse of `real_to_complex`: the last of the dims has half of the frequencies."""
    x, dims = parts_of(call["self"]), call["dim"]
    scale = _scale(call, [call.result.shape[dim] for dim in dims])
    for dim in dims[:-1]:
        x = _transform(x, dim, False)
    size = call.result.shape[dims[-1]]
    re, im = (part.movedim(dims[-1], -1) for part in (x.re, imag_of(x)))
    if _split(size) is None:
        # All frequencies but the first and, of an even size, the last one occur twice.
        half = torch.arange(re.shape[-1], device=re.device)
        once = (half == 0) | (2 * half == size)
        weights = ((2 - once.to(torch.float64)) * scale).unsqueeze(-1)
        cosines, sines = _waves(re, len(half), size, size, False)
        result = _times(re, (cosines * weights).to(re.dtype)) - _times(
            im, (sines * weights).to(im.dtype)
        )
    else:
        rest = slice(1, size - re.shape[-1] + 1)
        full = Complex(
            torch.cat([re, re[..., rest].flip(-1)], -1),
            torch.cat([im, -im[..., rest].flip(-1)], -1),
        )
        result = _along_last(full, size, False, scale, size).re
    return result.movedim(-1, dims[-1])


def _scale(call: ComplexCall, sizes: list[int]) -> float:
    """The factor of a transform: `normalization` is 0 for none, 1 for the root of the size, and 2
    for the size."""
    count = math.prod(sizes)
    return (1.0, 1 / math.sqrt(count), 1 / count)[call["normalization"]]


def _transform(
    x: Complex, dim: int, forward: bool, *, scale: float = 1.0, count: int | None = None
) -> Complex:
    """The transform along a dim.

    Args:
        x: The data.
        dim: The dim.
        forward: Whether the exponent is negative.
        scale: A factor of the result.
        count: The number of frequencies; None for all.

    Returns:
        The frequencies.
    """
    moved = Complex(*(None if part is None else part.movedim(dim, -1) for part in x))
    size = moved.re.shape[-1]
    result = _along_last(moved, size, forward, scale, count or size)
    return Complex(*(part.movedim(-1, dim) for part in result))


def _along_last(x: Complex, size: int, forward: bool, scale: float, count: int) -> Complex:
    """The first `count` frequencies along the last dim.

    With position `j = j1 * n2 + j2` and frequency `k = k1 + n1 * k2`, the wave of a size n1 * n2 is
    `w(j * k, n) = w(j1 * k1, n1) * w(j2 * k1, n) * w(j2 * k2, n2)`.
    """
    split = _split(size)
    if split is None:
        waves = [part * scale for part in _waves(x.re, size, count, size, forward)]
        return _product(x, torch.cat(waves, 1).to(x.re.dtype))
    columns, rows = split, size // split
    lead = x.re.shape[:-1]
    # Dims: j2, j1.
    x = Complex(
        *(None if p is None else p.reshape(*lead, columns, rows).transpose(-1, -2) for p in x)
    )
    x = _along_last(x, columns, forward, scale, columns)
    waves = [part.to(x.re.dtype) for part in _waves(x.re, rows, columns, size, forward)]
    x = multiply(x, Complex(*waves))
    # Dims: k1, j2.
    x = Complex(*(part.transpose(-1, -2) for part in x))
    x = _along_last(x, rows, forward, 1.0, rows)
    # Dims: k2, k1.
    flat = (part.transpose(-1, -2).reshape(*lead, size) for part in x)
    return Complex(*(part if count == size else part[..., :count] for part in flat))


def _split(size: int) -> int | None:
    """The factor of a size that is nearest to its root, for a transform in two steps. None for a
    transform in one. Raises Unsupported if a prime factor is too large for a matrix."""
    if size <= _DIRECT:
        return None
    factor = next(each for each in range(math.isqrt(size), 0, -1) if size % each == 0)
    if factor > 1:
        return factor
    if size > _MOST:
        msg = f"expected a size whose prime factors are at most {_MOST}, got a factor of {size}"
        raise Unsupported(msg)
    return None


def _waves(
    x: torch.Tensor, positions: int, frequencies: int, size: int, forward: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of position * frequency / size turns, in float64, on the device of `x`. The
    integer product is reduced to one turn, so that its multiple of pi is exact to one rounding."""
    rows, columns = (torch.arange(each, device=x.device) for each in (positions, frequencies))
    turns = (rows.unsqueeze(-1) * columns) % size
    phases = turns.to(torch.float64) * ((-2 if forward else 2) * math.pi / size)
    return torch.cos(phases), torch.sin(phases)


def _times(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """The product along the last dim, as one of two matrices."""
    flat = x.reshape(-1, x.shape[-1]) @ matrix
    return flat.reshape(*x.shape[:-1], matrix.shape[-1])


def _product(x: Complex, waves: torch.Tensor) -> Complex:
    """The product with a matrix that has the cosines on the left and the sines on the right."""
    count = waves.shape[1] // 2
    cosines, sines = torch.split(_times(x.re, waves), count, -1)
    if x.im is None:
        return Complex(cosines, sines)
    other_cosines, other_sines = torch.split(_times(x.im, waves), count, -1)
    return Complex(cosines - other_sines, sines + other_cosines)
