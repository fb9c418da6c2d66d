# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Decompositions of functions of matrices that consist of products: the exponential, and the
factors of reflections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["matrix_function_decompositions", "qr"]

aten = torch.ops.aten
#: The most reflections: each is a few ops of the compiled model.
_MOST_REFLECTIONS = 32
#: The exponential's series is that of a matrix of at most this norm, divided by a power of two.
_NORM = 0.5
#: The exponential of a matrix of a larger norm than 512 is not exact, and overflows in float32
#: unless its eigenvalues are small or negative.
_MOST_SQUARES = 10


def matrix_function_decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions of torch.linalg.matrix_exp, torch.linalg.qr and
    torch.linalg.householder_product of real matrices."""
    return {
        aten.linalg_matrix_exp.default: _exp,
        aten.linalg_qr.default: qr,
        aten.linalg_householder_product.default: _householder_product,
    }


def _exp(a: torch.Tensor) -> torch.Tensor:
    """Scaling and squaring: exp(a) = exp(a / 2**n) ** (2**n)."""
    if a.is_complex():
        return NotImplemented  # type: ignore[no-any-return]
    if not a.shape[-1]:
        return a.clone()
    wide = a.to(torch.promote_types(a.dtype, torch.float32))
    norm = wide.abs().sum(-2, keepdim=True).amax(-1, keepdim=True)
    squares = (norm / _NORM).log2().ceil().clamp(0, _MOST_SQUARES)
    result = _series(wide * torch.exp2(-squares), 6 if a.dtype == torch.float64 else 4)
    for step in range(_MOST_SQUARES):
        result = torch.where(squares > step, result @ result, result)
    return result.to(a.dtype)


def _series(a: torch.Tensor, blocks: int) -> torch.Tensor:
    """The exponential's series to the power 3 * blocks - 1, as a polynomial of the cube whose
    coefficients have the lower powers (Paterson and Stockmeyer)."""
    one = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    square = a @ a
    cube = square @ a
    factors = [1.0]
    for power in range(1, 3 * blocks):
        factors.append(factors[-1] / power)
    result = None
    for block in reversed(range(blocks)):
        c = factors[3 * block : 3 * block + 3]
        part = c[0] * one + c[1] * a + c[2] * square
        result = part if result is None else result @ cube + part
    assert result is not None
    return result


def qr(a: torch.Tensor, mode: str = "reduced") -> tuple[torch.Tensor, torch.Tensor]:
    """torch.linalg.qr, by reflections as those of LAPACK's geqrf, so that the factors have the same
    signs.

    Args:
        a: [..., M, N] real.
        mode: "reduced", "complete" or "r".

    Returns:
        The factors; NotImplemented for complex and larger matrices.
    """
    rows, columns = a.shape[-2:]
    count = min(rows, columns)
    if a.is_complex() or count > _MOST_REFLECTIONS:
        return NotImplemented  # type: ignore[no-any-return]
    rest, reflections = a, []
    lines = [] if count else [a[..., :0, :]]
    for k in range(count):
        x = rest[..., :, :1]
        # A reflection does not depend on the size of the column, whose squares may be too small or
        # too large for the type.
        largest = x.abs().amax(-2, keepdim=True)
        x = x / torch.where(largest > 0, largest, 1)
        first, norm = x[..., :1, :], torch.linalg.vector_norm(x, dim=-2, keepdim=True)
        below = x[..., 1:, :].abs().sum(-2, keepdim=True)
        beta = torch.where(first < 0, norm, -norm)
        is_reflected = below > 0
        scale = torch.where(is_reflected, first - beta, 1)
        v = torch.cat([torch.ones_like(first), x[..., 1:, :] / scale], -2)
        tau = torch.where(is_reflected, (beta - first) / torch.where(is_reflected, beta, 1), 0)
        reflections.append((v, tau))
        rest = rest - tau * v * (v.mT @ rest)
        zeros = a.new_zeros(*a.shape[:-2], 1, k)
        lines.append(torch.cat([zeros, rest[..., :1, :]], -1))
        rest = rest[..., 1:, 1:]
    if mode == "complete" and rows > count:
        lines.append(a.new_zeros(*a.shape[:-2], rows - count, columns))
    upper = torch.cat(lines, -2)
    if mode == "r":
        return a.new_zeros(0), upper
    return _reflected(reflections, a, rows if mode == "complete" else count), upper


def _householder_product(a: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """The product of reflections whose vectors are below the diagonal."""
    count = factors.shape[-1]
    if a.is_complex() or count > _MOST_REFLECTIONS:
        return NotImplemented  # type: ignore[no-any-return]
    reflections = []
    for k in range(count):
        column = a[..., k + 1 :, k : k + 1]
        v = torch.cat([torch.ones_like(a[..., :1, :1]), column], -2)
        reflections.append((v, factors[..., k, None, None]))
    return _reflected(reflections, a, a.shape[-1])


def _reflected(
    reflections: list[tuple[torch.Tensor, torch.Tensor]], a: torch.Tensor, width: int
) -> torch.Tensor:
    """The first columns of the product of reflections of the columns of a matrix, each of one row
    less than the one before."""
    rows = a.shape[-2]
    q = torch.eye(rows, width, dtype=a.dtype, device=a.device).expand(*a.shape[:-1], width)
    for k, (v, tau) in reversed(list(enumerate(reflections))):
        changed = q[..., k:, :]
        q = torch.cat([q[..., :k, :], changed - tau * v * (v.mT @ changed)], -2)
    return q
