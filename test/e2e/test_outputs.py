"""Results that the model uses itself are stored, even if their op is fused with their users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from frontend_checks import compare_results, expected_results
from op_cases import Function

import convoy

#: Functions whose intermediate values are results, with the shapes of their inputs.
OUTPUTS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "product": (lambda x, w: (torch.sigmoid(x @ w), x @ w), ((5, 13), (13, 8))),
    "product_first": (lambda x, w: (v := x @ w, torch.relu(v)), ((5, 13), (13, 8))),
    "batched": (lambda x, w: (torch.tanh(v := torch.bmm(x, w)), v), ((3, 5, 7), (3, 7, 8))),
    "bias": (lambda x, w, b: ((v := x @ w) + b, v), ((5, 13), (13, 8), (8,))),
    "view": (lambda x, w: (torch.sigmoid(v := x @ w), v.view(-1)), ((5, 13), (13, 8))),
    "two_readers": (lambda x, w: (torch.relu(v := x @ w), torch.exp(v), v), ((5, 13), (13, 8))),
    "factor": (lambda x, w, u: (torch.relu(v := x @ w) @ u, v), ((5, 13), (13, 8), (8, 3))),
    "sum": (lambda a, b: (a + b, a, b), ((4, 3), (4, 3))),
    "twice": (lambda x, w: (v := x @ w, v, torch.relu(v)), ((5, 13), (13, 8))),
    "conv": (
        lambda x, w: (torch.relu(v := torch.conv2d(x, w, padding=1)), v),
        ((1, 3, 7, 7), (8, 3, 3, 3)),
    ),
    "conv1d": (lambda x, w: (torch.relu(v := torch.conv1d(x, w)), v), ((1, 3, 9), (8, 3, 3))),
}

#: Functions with products that become scalars.
SCALARS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "squeeze": (lambda x, w: torch.sigmoid((x @ w).squeeze()), ((1, 4), (4, 1))),
    "dot": (lambda x, y: torch.dot(x, y) + 1, ((7,), (7,))),
    "vectors": (lambda x, y: torch.relu(x @ y), ((7,), (7,))),
    "scalar": (lambda x, y, z: (x @ y) * z, ((7,), (7,), ())),
}


def _check(
    function: Callable[..., Any],
    shapes: tuple[tuple[int, ...], ...],
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    generator = torch.Generator().manual_seed(0)
    module = Function(function).eval()
    inputs = tuple(torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    program = convoy.compile(module, inputs, target="cpu").load(poison=True)
    results = program(*inputs)
    tensors = [
        torch.from_dlpack(each).double()
        for each in (results if isinstance(results, tuple) else [results])
    ]
    compare_results(tensors, expected_results(module, inputs), tolerance)


@pytest.mark.parametrize("name", OUTPUTS)
def test_intermediate_results(name: str) -> None:
    _check(*OUTPUTS[name], torch.float32, 1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", SCALARS)
def test_scalars_of_products(name: str, dtype: torch.dtype) -> None:
    _check(*SCALARS[name], dtype, 1e-5 if dtype == torch.float32 else 4e-2)


@pytest.mark.parametrize("name", [*OUTPUTS, *SCALARS])
def test_compiles_for_a_gpu(name: str) -> None:
    function, shapes = {**OUTPUTS, **SCALARS}[name]
    inputs = tuple(torch.randn(shape) for shape in shapes)
    assert convoy.compile(
        Function(function).eval(), inputs, target="cuda", dtype="float16"
    ).manifest.outputs
