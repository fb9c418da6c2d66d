# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Decompositions of the eigenvalues of symmetric matrices and of singular values: of real matrices
of at most 32 columns or rows, by rotations in float64. Vectors have the sign that the rotations
give them; any sign is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from convoy.frontend._linear_algebra import LARGEST
from convoy.frontend._matrix_functions import qr
from convoy.frontend._rotations import rotate_columns

__all__ = ["eigenvalue_decompositions", "least_squares"]

aten = torch.ops.aten
#: How often each pair of columns is rotated, by the dtype of the result. Repeated eigenvalues of 32
#: columns need the most.
_SWEEPS = {torch.float32: 12, torch.float64: 16}


def eigenvalue_decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions of torch.linalg.eigh, torch.linalg.svd and what consists of them."""
    return {
        aten._linalg_eigh.default: _eigh,
        aten._linalg_svd.default: _svd,
        aten.linalg_pinv.atol_rtol_tensor: _pinv,
    }


def _is_small(a: Tensor) -> bool:
    return a.dtype in _SWEEPS and min(a.shape[-2:]) <= LARGEST


def _scaled(a: Tensor) -> tuple[Tensor, Tensor]:
    """A matrix in float64 whose largest element is 1, and that element."""
    wide = a.to(torch.float64)
    largest = wide.abs().amax((-2, -1), keepdim=True)
    scale = torch.where(largest > 0, largest, 1)
    return wide / scale, scale


def _rotated(a: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    columns, vectors = rotate_columns(a.reshape(-1, *a.shape[-2:]), _SWEEPS[dtype])
    return columns.reshape(a.shape), vectors.reshape(*a.shape[:-2], *vectors.shape[-2:])


def _ordered(x: Tensor, order: Tensor) -> Tensor:
    """The columns of [..., M, N] in an order, [..., N]."""
    return x.gather(-1, order.unsqueeze(-2).expand(x.shape))


# Symmetric matrices


def _eigh(a: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    """The columns of the matrix plus a multiple of the identity that makes all eigenvalues
    positive are rotated: the rotations are the eigenvectors."""
    if not _is_small(a):
        return NotImplemented  # type: ignore[no-any-return]
    if not a.numel():
        return a.new_zeros(a.shape[:-1]), a.new_zeros(a.shape if compute_v else (0,))
    half = a.tril() if UPLO.upper() == "L" else a.triu()
    other = half.tril(-1) if UPLO.upper() == "L" else half.triu(1)
    x, scale = _scaled(half + other.mT)
    size = torch.linalg.vector_norm(x, dim=(-2, -1), keepdim=True)
    shift = torch.where(size > 0, 2 * size, 1)
    one = torch.eye(a.shape[-1], dtype=x.dtype, device=a.device)
    _, vectors = _rotated(x + shift * one, a.dtype)
    values = (vectors * (x @ vectors)).sum(-2)
    order = torch.argsort(values, dim=-1)
    values = values.gather(-1, order) * scale.squeeze(-1)
    found = _ordered(vectors, order).to(a.dtype) if compute_v else a.new_zeros(0)
    return values.to(a.dtype), found


# Singular values


def _svd(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    if not _is_small(a):
        return NotImplemented  # type: ignore[no-any-return]
    rows, columns = a.shape[-2:]
    if rows < columns:
        left, values, right = _svd(a.mT, full_matrices, compute_uv)
        return (right.mT, values, left.mT) if compute_uv else (left, values, right)
    none = a.new_zeros(0)
    if not a.numel():
        values, width = a.new_zeros(*a.shape[:-2], columns), rows if full_matrices else columns
        kind: Any = {"dtype": a.dtype, "device": a.device}
        left = torch.eye(rows, width, **kind).expand(*a.shape[:-1], width).clone()
        right = torch.eye(columns, **kind).expand(*a.shape[:-2], columns, columns).clone()
        return (left, values, right) if compute_uv else (none, values, none)
    x, scale = _scaled(a)
    found, vectors = _rotated(x, a.dtype)
    lengths = torch.linalg.vector_norm(found, dim=-2)
    order = torch.argsort(lengths, dim=-1, descending=True)
    values = (lengths.gather(-1, order) * scale.squeeze(-1)).to(a.dtype)
    if not compute_uv:
        return none, values, none
    # Columns of length zero have directions too.
    left, upper = qr(_ordered(found, order), "complete" if full_matrices else "reduced")
    signs = torch.where(upper.diagonal(dim1=-2, dim2=-1) < 0, -1.0, 1.0).to(left.dtype)
    first = left[..., :columns] * signs.unsqueeze(-2)
    left = torch.cat([first, left[..., columns:]], -1)
    return left.to(a.dtype), values, _ordered(vectors, order).mT.to(a.dtype)


def _pinv(
    a: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    if not _is_small(a):
        return NotImplemented  # type: ignore[no-any-return]
    if not a.numel():
        return a.new_zeros(*a.shape[:-2], a.shape[-1], a.shape[-2])
    if hermitian:
        values, right = _eigh(a)
        left, sizes = right, values.abs()
    else:
        left, values, right = _svd(a)
        right, sizes = right.mT, values
    default = torch.finfo(a.dtype).eps * max(a.shape[-2:])
    # As in PyTorch, a relative tolerance is zero by default next to an absolute one.
    absolute = a.new_zeros(()) if atol is None else atol
    relative = torch.where(absolute > 0, 0.0, default) if rtol is None else rtol
    largest = sizes.amax(-1, keepdim=True)
    limit = torch.maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * largest)
    inverse = torch.where(sizes > limit, 1 / torch.where(sizes > limit, values, 1), 0)
    return (right * inverse.unsqueeze(-2)) @ left.mT


def least_squares(
    a: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """torch.linalg.lstsq. The residuals are those of matrices of full rank; as PyTorch's, they are
    empty for the default driver.

    Args:
        a: [..., M, N].
        b: [..., M, K] or [..., M].
        rcond: Smaller singular values, relative to the largest, are zero.
        driver: The name of a function of LAPACK, which decides about the other results.

    Returns:
        The solution of the smallest norm, residuals, rank and singular values.
    """
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    rows, columns = a.shape[-2:]
    tolerance = torch.finfo(a.dtype).eps * max(rows, columns) if rcond is None else rcond
    solution = torch.linalg.pinv(a, rtol=tolerance) @ right
    residuals = kept = a.new_zeros(0)
    if rows > columns and driver not in (None, "gelsy"):
        residuals = (a @ solution - right).square().sum(-2)
    rank = a.new_zeros(0, dtype=torch.int64)
    if driver != "gels":
        values = torch.linalg.svdvals(a)
        rank = (values > tolerance * values.amax(-1, keepdim=True)).sum(-1)
        kept = values if driver in ("gelsd", "gelss") else kept
    solution = solution.squeeze(-1) if is_vector else solution
    return torch.return_types.linalg_lstsq((solution, residuals, rank, kept))  # type: ignore[attr-defined]
