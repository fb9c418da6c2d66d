# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Activations that are written as arithmetic, in the forms of real models, compared with PyTorch."""

from __future__ import annotations

import math

import pytest
import torch
from op_cases import Function

import convoy
from convoy import CompileOptions
from convoy.phases import lower

#: Name: the function, and the op that it becomes.
CASES = {
    "gpt2": (
        lambda x: (
            0.5
            * x
            * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))
        ),
        "gelu",
    ),
    "bloom": (
        lambda x: x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x))),
        "gelu",
    ),
    "erf": (lambda x: x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0))), "gelu"),
    "erf_timm": (lambda x: 0.5 * (x * (torch.erf(x * 0.7071067811865476) + 1)), "gelu"),
    "silu": (lambda x: x * torch.sigmoid(x), "silu"),
    "of_a_sum": (lambda x: (x + 1) * torch.sigmoid(x + 1), "silu"),
    "quick": (lambda x: x * torch.sigmoid(1.702 * x), "sigmoid"),
    "other_number": (lambda x: x * 0.5 * (1.0 + torch.erf(x / 1.4)), "erf"),
}
_X = torch.cat([torch.linspace(-8, 8, 61), torch.tensor([math.inf, math.nan, 1e20])])


@pytest.mark.parametrize("name", CASES)
def test_result_and_op(name: str) -> None:
    function, op = CASES[name]
    module = Function(function).eval()
    imported = convoy.import_module(module, (_X,))
    text = lower(
        imported.text,
        "m",
        from_phase="tcp",
        to_phase="normalize",
        options=CompileOptions(target="cpu"),
    )
    assert f"tcp.{op} " in text
    torch.testing.assert_close(
        torch.as_tensor(convoy.compile(module, (_X,))(_X)), function(_X), equal_nan=True
    )
