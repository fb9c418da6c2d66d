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

from convoy.frontend._triangular import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    first_zero,
    joined,
    solve_triangular,
    triangular,
    triangular_solve,
)

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
        aten.linalg_lu.default: _lu,
        aten.lu_unpack.default: _unpack,
        aten.linalg_cholesky_ex.default: cholesky,
        aten.cholesky.default: lambda a, upper=False: cholesky(a, upper=upper)[0],
        aten.cholesky_solve.default: cholesky_solve,
        aten.cholesky_inverse.default: cholesky_inverse,
        aten.linalg_solve_triangular.default: solve_triangular,
        aten.triangular_solve.default: triangular_solve,
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
    """The factors of [..., L, N] with pivots, and the rows of [..., L, M] in the order of the
    pivots: L without its diagonal and U in one matrix, the pivots from 1 on, and the rows."""
    size = a.shape[-1]
    # The rows that are left: columns of L, what is to be factorized, and b.
    rest = torch.cat([a, b], -1)
    rows, pivots = [], []
    for k in range(min(a.shape[-2:])):
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
    if rest.shape[-2]:
        rows.append(rest)
    both = joined(rows, -2, rest)
    positions = joined(pivots, -1, a.diagonal(dim1=-2, dim2=-1))
    return both[..., :size], positions.to(torch.int32), both[..., size:]


def _swapped(x: torch.Tensor, pivot: torch.Tensor) -> torch.Tensor:
    """[..., N, M] with the first row and that of a position, [..., 1], swapped."""
    at = torch.arange(x.shape[-2], device=x.device)
    place = torch.where(at == 0, pivot, torch.where(at == pivot, 0, at))
    return x.gather(-2, place.unsqueeze(-1).expand(x.shape))


def _info(lu: torch.Tensor) -> torch.Tensor:
    return first_zero(lu.diagonal(dim1=-2, dim2=-1) == 0)


def _lu_factor(
    a: torch.Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[torch.Tensor, ...]:
    if not pivot:
        return NotImplemented  # type: ignore[no-any-return]
    lu, pivots, _ = _factorize(a, a[..., :0])
    return lu, pivots, _info(lu)


def _substituted(lu: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return triangular(lu, triangular(lu, b, upper=False, unit=True), upper=True, unit=False)


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
    b = b if left else b.mT
    if adjoint != left:
        x = _substituted(lu, _ordered(b, pivots))
    else:
        x = triangular(lu.mT, b, upper=False, unit=False)
        x = _restored(triangular(lu.mT, x, upper=True, unit=True), pivots)
    return x if left else x.mT


def _ordered(x: torch.Tensor, pivots: torch.Tensor) -> torch.Tensor:
    """The rows of [..., L, M] in the order of pivots."""
    batch = torch.broadcast_shapes(pivots.shape[:-1], x.shape[:-2])  # type: ignore[no-untyped-call]
    rest, rows = x.expand(*batch, *x.shape[-2:]), []
    for k in range(pivots.shape[-1]):
        rest = _swapped(rest, _place(pivots, k).expand(*batch, 1))
        rows.append(rest[..., :1, :])
        rest = rest[..., 1:, :]
    if rest.shape[-2]:
        rows.append(rest)
    return joined(rows, -2, rest)


def _restored(x: torch.Tensor, pivots: torch.Tensor) -> torch.Tensor:
    """The opposite of `_ordered`."""
    batch = torch.broadcast_shapes(pivots.shape[:-1], x.shape[:-2])  # type: ignore[no-untyped-call]
    x = x.expand(*batch, *x.shape[-2:])
    for k in reversed(range(pivots.shape[-1])):
        rest = _swapped(x[..., k:, :], _place(pivots, k).expand(*batch, 1))
        x = torch.cat([x[..., :k, :], rest], -2)
    return x


def _place(pivots: torch.Tensor, k: int) -> torch.Tensor:
    """The pivot of a column among the rows from that column on."""
    return (pivots[..., k : k + 1] - (k + 1)).to(torch.int64)


def _unpack(
    lu: torch.Tensor, pivots: torch.Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[torch.Tensor, ...]:
    rows, size = lu.shape[-2], min(lu.shape[-2:])
    none = lu.new_empty(0)
    permutation, lower, upper = none, none, none
    if unpack_pivots:
        one = torch.eye(rows, dtype=lu.dtype, device=lu.device)
        permutation = _ordered(one, pivots).mT
    if unpack_data:
        one = torch.eye(rows, size, dtype=lu.dtype, device=lu.device)
        lower, upper = lu[..., :size].tril(-1) + one, lu[..., :size, :].triu()
    return permutation, lower, upper


def _lu(a: torch.Tensor, *, pivot: bool = True) -> tuple[torch.Tensor, ...]:
    if not pivot:
        return NotImplemented  # type: ignore[no-any-return]
    one = torch.eye(a.shape[-2], dtype=a.dtype, device=a.device)
    lu, pivots, ordered = _factorize(a, one.expand(*a.shape[:-1], a.shape[-2]))
    return ordered.mT, *_unpack(lu, pivots, unpack_pivots=False)[1:]
