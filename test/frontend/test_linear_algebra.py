# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Factorizations of matrices, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from torch import Tensor

from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module
from convoy.frontend._linear_algebra import LARGEST


def _random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def _positive(*shape: int) -> Tensor:
    x = _random(*shape)
    return x @ x.mT + shape[-1] * torch.eye(shape[-1])


#: Its first pivots are 0.
_SWAPPED = torch.tensor([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]])
_SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
_LOWER = torch.linalg.cholesky(_positive(2, 4, 4))


def _factors(x: Tensor) -> tuple[Tensor, ...]:
    lu, pivots = torch.linalg.lu_factor(x)
    return lu, pivots, *torch.linalg.slogdet(x)


def _solved_both_sides(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.linalg.solve(x, b), torch.linalg.solve(x, b.mT, left=False),
        torch.linalg.solve(x, b[..., 0]), torch.linalg.lu_solve(*torch.linalg.lu_factor(x), b),
        torch.linalg.solve(x[0], b[0, :, 0]), torch.linalg.solve(x[0], b),
    )  # fmt: skip


def _triangular(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.linalg.solve_triangular(x, b, upper=False),
        torch.linalg.solve_triangular(x.mT, b, upper=True),
        torch.linalg.solve_triangular(x, b, upper=False, unitriangular=True),
        torch.linalg.solve_triangular(x, b.mT, upper=False, left=False),
        torch.cholesky_solve(b, x), torch.cholesky_solve(b, x.mT, upper=True),
        torch.cholesky_inverse(x),
    )  # fmt: skip


def _solved_factors(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    factors = torch.linalg.lu_factor(x)
    return (
        torch.linalg.lu_solve(*factors, b, adjoint=True),
        torch.linalg.lu_solve(*factors, b.mT, left=False),
        torch.linalg.lu_solve(*factors, b.mT, left=False, adjoint=True),
        torch.linalg.lu_solve(*factors, b[0]), *torch.lu_unpack(*factors), *torch.linalg.lu(x),
    )  # fmt: skip


def _wide_and_tall(x: Tensor) -> tuple[Tensor, ...]:
    return (
        *torch.linalg.lu_factor(x), *torch.linalg.lu(x), *torch.linalg.lu(x.mT),
        *torch.lu_unpack(*torch.linalg.lu_factor(x.mT)),
    )  # fmt: skip


def _empty(x: Tensor, b: Tensor, rows: Tensor, singles: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.linalg.inv(x), torch.linalg.solve(x, b), torch.linalg.cholesky(x),
        *torch.linalg.inv_ex(x), *torch.linalg.cholesky_ex(x), *torch.linalg.slogdet(x),
        torch.linalg.det(x), *torch.linalg.lu_factor(x), *torch.linalg.lu(rows),
        torch.cholesky_solve(b, x), torch.cholesky_inverse(x), torch.matrix_exp(x),
        torch.linalg.solve_triangular(x, b, upper=True), *torch.linalg.qr(rows),
        *torch.linalg.qr(rows.mT, "complete"), torch.linalg.inv(singles),
    )  # fmt: skip


def _log_density(x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    return torch.distributions.MultivariateNormal(mean, covariance).log_prob(x)


def _exponentials(x: Tensor) -> tuple[Tensor, ...]:
    """Of matrices of small and large norms, and of a rotation."""
    rotation = torch.linalg.matrix_exp(20 * (x - x.mT))
    return torch.matrix_exp(x), torch.matrix_exp(x / 50), torch.matrix_exp(0 * x), rotation


def _reflections(x: Tensor) -> tuple[Tensor, ...]:
    """Also of columns that are zero below the diagonal."""
    return (
        *torch.linalg.qr(x), *torch.linalg.qr(x.mT), *torch.linalg.qr(x, "complete"),
        torch.linalg.qr(x, "r")[1], *torch.linalg.qr(x.triu()),
    )  # fmt: skip


_CASES: dict[str, tuple[Callable[..., object], tuple[Tensor, ...]]] = {
    "inverse": (torch.linalg.inv, (_random(2, 5, 5),)),
    "inverse of swapped rows": (torch.linalg.inv, (_SWAPPED,)),
    "inverse of one number": (torch.linalg.inv, (_random(3, 1, 1),)),
    "negative power": (lambda x: torch.linalg.matrix_power(x, -2), (_SWAPPED,)),
    "determinant": (torch.linalg.det, (_random(2, 5, 5),)),
    "determinant of a singular matrix": (torch.linalg.det, (_SINGULAR,)),
    "factors": (_factors, (_random(2, 4, 4),)),
    "solve": (_solved_both_sides, (_random(2, 4, 4), _random(2, 4, 3))),
    "cholesky": (torch.linalg.cholesky, (_positive(2, 5, 5),)),
    "upper cholesky": (lambda x: torch.linalg.cholesky(x, upper=True), (_positive(4, 4),)),
    "half of a matrix": (lambda x: torch.linalg.cholesky(x.tril()), (_positive(4, 4),)),
    "triangular": (_triangular, (_LOWER, _random(2, 4, 3))),
    "triangular of one right side": (
        lambda x, b: torch.linalg.solve_triangular(x, b, upper=False, unitriangular=True),
        (_LOWER, _random(4, 3)),
    ),
    "solve by factors": (_solved_factors, (_random(2, 4, 4), _random(2, 4, 3))),
    "factors of other shapes": (_wide_and_tall, (_random(2, 3, 5),)),
    "empty": (_empty, (_random(2, 0, 0), _random(2, 0, 3), _random(2, 0, 3), _random(0, 2, 2))),
    "normal distribution": (_log_density, (_random(3), _random(3), _positive(3, 3))),
    "exponential": (_exponentials, (_random(2, 5, 5),)),
    "reflections": (_reflections, (_random(2, 5, 3),)),
    "gradient": (torch.func.grad(lambda x: torch.linalg.solve(x, x[0]).sum()), (_SWAPPED,)),
}


@pytest.mark.parametrize("name", _CASES)
def test_linear_algebra(name: str) -> None:
    function, inputs = _CASES[name]
    check(Function(function), *inputs, tolerance=1e-5)


def test_information_of_errors() -> None:
    """The number of the first pivot that is zero, or of the minor that is not positive."""
    module = Function(lambda x: (torch.linalg.inv_ex(x)[1], torch.linalg.cholesky_ex(x)[1]))
    check(module, torch.stack([_SINGULAR, torch.eye(2), -torch.eye(2)]))


def test_large_matrices_are_refused() -> None:
    with pytest.raises(UnsupportedOpsError, match=f"at most {LARGEST} rows"):
        import_module(Function(torch.linalg.inv).eval(), (_random(LARGEST + 1, LARGEST + 1),))
    with pytest.raises(UnsupportedOpsError, match=f"at most {LARGEST} rows"):
        import_module(Function(torch.linalg.qr).eval(), (_random(LARGEST + 1, LARGEST + 1),))


def test_orthogonal_weights() -> None:
    """torch.nn.utils.parametrizations.orthogonal is an exponential, or reflections."""
    for rows in (6, 4):
        layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(6, rows))
        check(layer, _random(2, 6), tolerance=1e-5)
