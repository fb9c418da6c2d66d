# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Decompositions of linear algebra on small matrices: factorizations are unrolled over the columns.
An LU factorization has partial pivoting, as in PyTorch.

Compiled models do not check values. Where PyTorch raises an error, for a matrix that is singular or
not positive definite, the result has infinities or NaN.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._library import simple_registry

__all__ = ["LARGEST", "linear_algebra_decompositions", "without_linear_algebra_checks"]

aten = torch.ops.aten
#: The most columns: each is a few ops of the compiled model.
LARGEST = 32


def linear_algebra_decompositions() -> dict[Any, Any]:
    """The decompositions of linear algebra. They leave complex and larger matrices alone."""
    rules: dict[Any, Callable[..., Any]] = {
        aten.linalg_inv_ex.default: _inverse,
        aten._linalg_solve_ex.default: _solve,
        aten._linalg_det.default: _det,
        aten._linalg_slogdet.default: _slogdet,
        aten.linalg_lu_factor_ex.default: _lu_factor,
        aten.linalg_lu_solve.default: _lu_solve,
        aten.linalg_cholesky_ex.default: _cholesky,
        aten.cholesky.default: lambda a, upper=False: _cholesky(a, upper=upper)[0],
        aten.cholesky_solve.default: _cholesky_solve,
        aten.cholesky_inverse.default: _cholesky_inverse,
        aten.linalg_solve_triangular.default: _solve_triangular,
    }
    checks = {aten._linalg_check_errors.default: _without_check}
    return {op: _small(rule) for op, rule in rules.items()} | checks


@contextlib.contextmanager
def without_linear_algebra_checks() -> Iterator[None]:
    """Leaves out the checks that raise errors for singular matrices, which torch.export orders by
    tokens."""
    check = simple_registry.singleton.find("aten::_linalg_check_errors").effect
    before = check.effect
    check.register(None)
    try:
        yield
    finally:
        check.register(before)


def _without_check(info: torch.Tensor, name: str, *, is_matrix: bool) -> None:
    """Compiled models raise no errors about values."""


def _small(rule: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(rule)
    def limited(*args: Any, **kwargs: Any) -> Any:
        tensors = [each for each in args if isinstance(each, torch.Tensor)]
        if tensors[0].shape[-2] > LARGEST or any(each.is_complex() for each in tensors):
            return NotImplemented
        return rule(*args, **kwargs)

    return limited


# LU


def _factorize(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The factors of [..., N, N] with pivots, and the rows of [..., N, M] in the order of the
    pivots: L without its diagonal and U in one matrix, the pivots from 1 on, and the rows."""
    size = a.shape[-1]
    # The rows that are left: columns of L, what is to be factorized, and b.
    rest = torch.cat([a, b], -1)
    rows, pivots = [], []
    for k in range(size):
        pivot = rest[..., k].abs().argmax(-1, keepdim=True)
        rest = _swapped(rest, pivot)
        pivots.append(pivot + (k + 1))
        first, others = rest[..., :1, :], rest[..., 1:, :]
        rows.append(first)
        divisor = first[..., k : k + 1]
        factor = others[..., k : k + 1] / torch.where(divisor == 0, 1, divisor)
        rest = torch.cat(
            [
                others[..., :k],
                factor,
                others[..., k + 1 : size] - factor * first[..., k + 1 : size],
                others[..., size:],
            ],
            -1,
        )
    both = torch.cat(rows, -2)
    return both[..., :size], torch.cat(pivots, -1).to(torch.int32), both[..., size:]


def _swapped(x: torch.Tensor, pivot: torch.Tensor) -> torch.Tensor:
    """[..., N, M] with the first row and that of a position, [..., 1], swapped."""
    at = torch.arange(x.shape[-2], device=x.device)
    place = torch.where(at == 0, pivot, torch.where(at == pivot, 0, at))
    return x.gather(-2, place.unsqueeze(-1).expand(x.shape))


def _first_zero(zeros: torch.Tensor) -> torch.Tensor:
    """The position of the first true element from 1 on; 0 if there is none."""
    found = zeros.to(torch.int32)
    return torch.where(zeros.any(-1), found.argmax(-1) + 1, 0).to(torch.int32)


def _info(lu: torch.Tensor) -> torch.Tensor:
    return _first_zero(lu.diagonal(dim1=-2, dim2=-1) == 0)


def _lu_factor(
    a: torch.Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, ...]:
    if a.shape[-1] != a.shape[-2] or not pivot:
        return NotImplemented  # type: ignore[no-any-return]
    lu, pivots, _ = _factorize(a, a[..., :0])
    return lu, pivots, _info(lu)


def _substituted(lu: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _triangular(lu, _triangular(lu, b, upper=False, unit=True), upper=True, unit=False)


def _solve(
    a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, ...]:
    # A vector has a dim less than matrices, or the shape of the batches.
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    matrix, right = (a, right) if left else (a.mT, right.mT)
    batch = torch.broadcast_shapes(a.shape[:-2], right.shape[:-2])  # type: ignore[no-untyped-call]
    lu, pivots, ordered = _factorize(
        matrix.expand(*batch, *matrix.shape[-2:]), right.expand(*batch, *right.shape[-2:])
    )
    x = _substituted(lu, ordered)
    x = x if left else x.mT
    kept = tuple(0 for _ in range(len(batch) - (a.ndim - 2)))
    lu, pivots = lu[kept], pivots[kept]
    return (x.squeeze(-1) if is_vector else x), lu, pivots, _info(lu)


def _inverse(a: torch.Tensor, *, check_errors: bool = False) -> tuple[torch.Tensor, ...]:
    ones = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device).expand(a.shape)
    lu, _, ordered = _factorize(a, ones)
    return _substituted(lu, ordered), _info(lu)


def _sign(pivots: torch.Tensor) -> torch.Tensor:
    """-1 for an odd number of swaps."""
    swaps = pivots != torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    return 1 - 2 * (swaps.sum(-1) % 2)


def _det(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    lu, pivots, _ = _factorize(a, a[..., :0])
    return lu.diagonal(dim1=-2, dim2=-1).prod(-1) * _sign(pivots), lu, pivots


def _slogdet(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    lu, pivots, _ = _factorize(a, a[..., :0])
    diagonal = lu.diagonal(dim1=-2, dim2=-1)
    sign = diagonal.sign().prod(-1) * _sign(pivots)
    return sign, diagonal.abs().log().sum(-1), lu, pivots


def _lu_solve(
    lu: torch.Tensor,
    pivots: torch.Tensor,
    b: torch.Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
) -> torch.Tensor:
    if not left or adjoint:
        return NotImplemented  # type: ignore[no-any-return]
    batch = torch.broadcast_shapes(lu.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    rest, rows = b.expand(*batch, *b.shape[-2:]), []
    for k in range(lu.shape[-1]):
        place = (pivots[..., k : k + 1] - (k + 1)).to(torch.int64)
        rest = _swapped(rest, place.expand(*batch, 1))
        rows.append(rest[..., :1, :])
        rest = rest[..., 1:, :]
    return _substituted(lu, torch.cat(rows, -2))


# Triangular matrices


def _triangular(a: torch.Tensor, b: torch.Tensor, *, upper: bool, unit: bool) -> torch.Tensor:
    """Solves a x = b for a triangular matrix, of which the other half is not read."""
    rows: list[torch.Tensor] = []
    rest, size = b, a.shape[-1]
    for step in range(size):
        k = size - 1 - step if upper else step
        at = size - 1 - step if upper else 0
        x = rest[..., at : at + 1, :]
        x = x if unit else x / a[..., k : k + 1, k : k + 1]
        rows.append(x)
        column = a[..., :k, k : k + 1] if upper else a[..., k + 1 :, k : k + 1]
        rest = (rest[..., :at, :] if upper else rest[..., 1:, :]) - column * x
    return torch.cat(rows[::-1] if upper else rows, -2)


def _solve_triangular(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> torch.Tensor:
    if left:
        return _triangular(a, b, upper=upper, unit=unitriangular)
    return _triangular(a.mT, b.mT, upper=not upper, unit=unitriangular).mT


# Cholesky


def _cholesky(
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
    factor = torch.cat(columns, -1)
    info = _first_zero(~(torch.cat(squares, -1) > 0))
    return (factor.mT if upper else factor), info


def _cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    lower = factor.mT if upper else factor
    y = _triangular(lower, b, upper=False, unit=False)
    return _triangular(lower.mT, y, upper=True, unit=False)


def _cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    ones = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return _cholesky_solve(ones.expand(factor.shape), factor, upper)
