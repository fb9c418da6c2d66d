# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Eigenvalues of symmetric matrices, singular values, and what follows from them. Vectors are right
with any sign, so what they have to fulfill is compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from frontend_checks import check
from op_cases import Function
from tcp_reference import run_text
from torch import Tensor

import convoy
from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module
from convoy.frontend._linear_algebra import LARGEST
from convoy.frontend._rotations import rotate_columns


def _random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def _turned(values: Tensor) -> Tensor:
    """A symmetric matrix of some eigenvalues."""
    q, _ = torch.linalg.qr(_random(len(values), len(values)).double())
    return ((q * values) @ q.mT).float()


_HALF = torch.arange(8.0) // 4 + 1
_MATRICES = {
    "random": torch.stack([_random(5, 5, seed=seed) for seed in range(20)]),
    "one": _random(3, 1, 1),
    "two": _random(20, 2, 2),
    "large": _random(2, 32, 32),
    "repeated": torch.stack([_turned(_HALF), _turned(-_HALF), _turned(_HALF - 1.5)]),
    "close": _turned(1 + 1e-6 * torch.arange(7.0)),
    "of rank one": _random(6, 1) @ _random(1, 6),
    "zero": torch.zeros(2, 4, 4),
    "equal": torch.ones(5, 5),
    "diagonal": torch.diag(torch.tensor([3.0, -1.0, 0.0, 3.0])),
    "small": _random(4, 4) * 1e-30,
    "huge": _random(4, 4) * 1e30,
    "graded": _turned(10.0 ** -torch.arange(8.0)),
}


def _imported(function: Callable[..., object], x: Tensor) -> list[Tensor]:
    imported = import_module(Function(function).eval(), (x,))
    return [each.double() for each in run_text(imported.text, (x,), imported.weights)]


def _close(got: Tensor, expected: Tensor, scale: Tensor) -> None:
    """The difference relative to the largest element of each matrix."""
    while scale.ndim < got.ndim:
        scale = scale.unsqueeze(-1)
    torch.testing.assert_close(got / scale, expected / scale, rtol=0, atol=1e-6)


def _scale(x: Tensor) -> Tensor:
    largest = x.abs().amax((-2, -1))
    return torch.where(largest > 0, largest, 1).double()


def _is_orthogonal(x: Tensor) -> None:
    one = torch.eye(x.shape[-1], dtype=x.dtype).expand(*x.shape[:-2], -1, -1)
    torch.testing.assert_close(x.mT @ x, one, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", _MATRICES)
def test_symmetric_matrices(name: str) -> None:
    x = _MATRICES[name]
    values, vectors = _imported(torch.linalg.eigh, x)
    symmetric = (x.tril() + x.tril(-1).mT).double()
    _close(values, torch.linalg.eigvalsh(symmetric), _scale(x))
    _close(symmetric @ vectors, vectors * values.unsqueeze(-2), _scale(x))
    _is_orthogonal(vectors)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", _MATRICES)
def test_singular_values(name: str, full: bool, columns: int | None) -> None:
    """Also of wide and of tall matrices."""
    x = _MATRICES[name][..., :columns]
    for given in (x, x.mT) if columns else (x,):
        count = min(given.shape[-2:])
        left, values, right = _imported(lambda y: torch.linalg.svd(y, full_matrices=full), given)
        assert [each.shape for each in (left, right)] == [
            each.shape for each in torch.linalg.svd(given, full_matrices=full)[::2]
        ]
        wide = given.double()
        _close(values, torch.linalg.svdvals(wide), _scale(given))
        product = (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]
        _close(product, wide, _scale(given))
        _is_orthogonal(left)
        _is_orthogonal(right.mT)


def test_float64() -> None:
    for x in (_random(3, 9, 9).double(), _MATRICES["repeated"].double()):
        imported = import_module(Function(torch.linalg.eigh).eval(), (x,))
        values, vectors = run_text(imported.text, (x,), imported.weights)
        symmetric = x.tril() + x.tril(-1).mT
        torch.testing.assert_close(
            symmetric @ vectors, vectors * values.unsqueeze(-2), rtol=0, atol=1e-12
        )


def _norms(x: Tensor) -> tuple[Tensor, ...]:
    symmetric = x[:4] @ x[:4].mT
    return (
        torch.linalg.matrix_norm(x, 2), torch.linalg.matrix_norm(x, "nuc"), torch.linalg.cond(x),
        torch.linalg.matrix_rank(x), torch.linalg.matrix_rank(torch.ones_like(x)),
        torch.linalg.svdvals(x), torch.linalg.eigvalsh(symmetric, UPLO="U"),
    )  # fmt: skip


def _inverses(x: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.linalg.pinv(x), torch.pinverse(x.mT), torch.linalg.pinv(torch.ones_like(x)),
        torch.linalg.pinv(x, rtol=0.5), torch.linalg.pinv(x, atol=1.0),
        torch.linalg.pinv(x.mT @ x, hermitian=True),
    )  # fmt: skip


def _solved(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    """Also of less equations than numbers, and of dependent columns."""
    dependent = torch.cat([x, x[:, :1]], 1)
    return (
        *torch.linalg.lstsq(x, b), *torch.linalg.lstsq(x, b, driver="gelsd"),
        *torch.linalg.lstsq(x, b, driver="gels"), torch.linalg.lstsq(x.mT, b[:3]).solution,
        torch.linalg.lstsq(dependent, b, driver="gelsd").solution,
        torch.linalg.lstsq(torch.stack([x, -x]), torch.stack([b[:, 0], b[:, 1]])).solution,
    )  # fmt: skip


def _empty(x: Tensor) -> tuple[Tensor, ...]:
    return (
        *torch.linalg.svd(x), *torch.linalg.svd(x, full_matrices=False), torch.linalg.svdvals(x.mT),
        torch.linalg.pinv(x), torch.linalg.eigvalsh(x[:, :0]), *torch.linalg.svd(x.mT),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (_norms, (_random(5, 4),)),
        (_inverses, (_random(5, 3),)),
        (_solved, (_random(5, 3), _random(5, 2))),
        (_empty, (torch.zeros(2, 3, 0),)),
    ],
)
def test_what_consists_of_them(function: Callable[..., object], inputs: tuple[Tensor, ...]) -> None:
    check(Function(function), *inputs, tolerance=1e-5)


def test_compiled_model() -> None:
    """A rotation between two clouds of points."""

    def aligned(x: Tensor, y: Tensor) -> Tensor:
        left, _, right = torch.linalg.svd(x.mT @ y)
        sign = torch.linalg.det(left @ right).sign()
        last = torch.stack([torch.ones_like(sign), torch.ones_like(sign), sign], -1)
        return (left * last.unsqueeze(-2)) @ right

    x, turn = (
        _random(2, 9, 3),
        torch.linalg.matrix_exp(torch.tensor([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]])),
    )
    model = convoy.compile(Function(aligned).eval(), (x, x @ turn), target="cpu")
    torch.testing.assert_close(model(x, x @ turn), turn.expand(2, 3, 3), rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 5, 4), (3, 3, 5), (1, 4, 1)])
def test_rotations_are_those_of_the_kernel(shape: tuple[int, ...]) -> None:
    """`convoy bisect` compares with it."""
    x = _random(*shape).double()
    for got, expected in zip(
        _imported(lambda y: rotate_columns(y, 8), x), rotate_columns(x, 8), strict=True
    ):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-9)


def test_nan_is_in_all_results() -> None:
    x = _random(4, 4)
    x[2, 1] = float("nan")
    for each in (*_imported(torch.linalg.eigh, x), *_imported(torch.linalg.svdvals, x)):
        assert each.isnan().all()


def test_large_matrices_are_refused() -> None:
    for function in (torch.linalg.eigh, torch.linalg.svd, torch.linalg.pinv):
        with pytest.raises(UnsupportedOpsError, match=f"at most {LARGEST} rows"):
            import_module(Function(function).eval(), (_random(LARGEST + 1, LARGEST + 1),))
