# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Solutions of systems with triangular matrices, and Cholesky factorizations, unrolled over the
columns."""

from __future__ import annotations

import torch

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "first_zero",
    "joined",
    "solve_triangular",
    "triangular",
    "triangular_solve",
]


def joined(parts: list[torch.Tensor], dim: int, empty: torch.Tensor) -> torch.Tensor:
    """A concat; the empty tensor if there are no parts, those of a matrix without rows."""
    return torch.cat(parts, dim) if parts else empty


def first_zero(zeros: torch.Tensor) -> torch.Tensor:
    """The position of the first true element from 1 on; 0 if there is none."""
    found = zeros.to(torch.int32)
    if not zeros.shape[-1]:
        return found.sum(-1, dtype=torch.int32)
    return torch.where(zeros.any(-1), found.argmax(-1) + 1, 0).to(torch.int32)


def triangular(a: torch.Tensor, b: torch.Tensor, *, upper: bool, unit: bool) -> torch.Tensor:
    """Solves a x = b for a triangular matrix, of which the other half is not read."""
    rows: list[torch.Tensor] = []
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    rest, size = b.expand(*batch, *b.shape[-2:]), a.shape[-1]
    for step in range(size):
        k = size - 1 - step if upper else step
        at = size - 1 - step if upper else 0
        x = rest[..., at : at + 1, :]
        x = x if unit else x / a[..., k : k + 1, k : k + 1]
        rows.append(x)
        column = a[..., :k, k : k + 1] if upper else a[..., k + 1 :, k : k + 1]
        rest = (rest[..., :at, :] if upper else rest[..., 1:, :]) - column * x
    return joined(rows[::-1] if upper else rows, -2, rest)


def solve_triangular(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> torch.Tensor:
    if left:
        return triangular(a, b, upper=upper, unit=unitriangular)
    return triangular(a.mT, b.mT, upper=not upper, unit=unitriangular).mT


def triangular_solve(
    b: torch.Tensor,
    a: torch.Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    matrix, right = (each.expand(*batch, *each.shape[-2:]) for each in (a, b))
    given = matrix.mT if transpose else matrix
    return triangular(given, right, upper=upper != transpose, unit=unitriangular), matrix.clone()


# Cholesky


def cholesky(
    a: torch.Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    columns, squares = [], []
    rest, size = a.mT if upper else a, a.shape[-1]
    for k in range(size):
        square = rest[..., :1, :1]
        root = square.sqrt()
        column = rest[..., 1:, :1] / root
        zeros = root.new_zeros(*root.shape[:-2], k, 1)
        columns.append(torch.cat([zeros, root, column], -2))
        squares.append(square.squeeze(-1))
        rest = rest[..., 1:, 1:] - column * column.mT
    factor = joined(columns, -1, rest)
    info = first_zero(~(joined(squares, -1, rest.diagonal(dim1=-2, dim2=-1)) > 0))
    return (factor.mT if upper else factor), info


def cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    lower = factor.mT if upper else factor
    y = triangular(lower, b, upper=False, unit=False)
    return triangular(lower.mT, y, upper=True, unit=False)


def cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    ones = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return cholesky_solve(ones.expand(factor.shape), factor, upper)
