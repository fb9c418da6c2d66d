# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Branches of Python on the values of tensors: all paths are computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from frontend_checks import compare_results, expected_results
from op_cases import Function
from tcp_reference import run_text
from torch import Tensor, nn

from convoy.errors import ConvoyWarning, ExportError
from convoy.frontend import import_module


def _early_exit(x: Tensor) -> Tensor:
    y = x * 2
    if y.sum() > 0:
        return y
    return (y - 1).cumsum(-1)


def _in_turn(x: Tensor) -> tuple[Tensor, ...]:
    """Later questions depend on the answers before."""
    if (x > 1).any():
        x = x.clamp(max=1)
        if (x < -1).any().item():
            x = x.clamp(min=-1)
    elif torch.allclose(x, x.abs()):
        x = x.flip(0)
    sign = 1 if torch.equal(x, x.flip(0)) else -1
    return x * sign, x + 1


def _chooses_a_layer(x: Tensor) -> Tensor:
    found = None
    for scale in (1.0, 2.0, 4.0):
        if found is None and not (x.abs() > scale).all():
            found = x / scale
    return x if found is None else found


_INPUTS = (
    torch.tensor([[0.5, -0.25], [0.25, 0.75]]),
    torch.tensor([[0.5, 3.0], [-0.5, 0.75]]),
    torch.tensor([[2.5, -3.0], [-1.5, 5.0]]),
    torch.tensor([[0.5, 0.25], [0.5, 0.25]]),
    torch.tensor([[-8.0, -5.0], [-6.0, 5.5]]),
)


@pytest.mark.parametrize("function", [_early_exit, _in_turn, _chooses_a_layer])
def test_each_way_has_its_results(function: Callable[..., Any]) -> None:
    module = Function(function).eval()
    imported = import_module(module, (_INPUTS[0],))
    for x in _INPUTS:
        got = run_text(imported.text, (x,), imported.weights)
        compare_results(got, expected_results(module, (x,)), 1e-6)


class _Guarded(nn.Module):
    """Stores what it computes, and has a check of values before each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        self.last: Tensor | None = None
        self.calls = 0

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        self.calls += 1  # counts
        for layer in self.layers:
            assert not x.isnan().any(), "expected numbers"
            if x.isinf().any():
                raise ValueError("expected finite numbers")  # raises
            x = layer(x)
        self.last = x
        return {"x": x, "last": self.last}


def test_paths_that_end_in_an_error_of_the_model_are_left_out() -> None:
    module = _Guarded().eval()
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, line in enumerate(lines, 1) if line.endswith("# raises"))
    counts = next(number for number, line in enumerate(lines, 1) if line.endswith("# counts"))
    with (
        pytest.warns(ConvoyWarning, match=f"got checks at .*{Path(__file__).name}:{line}"),
        pytest.warns(ConvoyWarning, match=f"changes 'calls' at .*{Path(__file__).name}:{counts}; "),
    ):
        imported = import_module(module, (_INPUTS[0],))
    assert "forward" not in vars(module)
    assert imported.weights.keys() == dict(module.named_parameters()).keys()
    assert "tcp.select" not in imported.text
    expected = expected_results(module, _INPUTS[:1])
    got = run_text(imported.text, _INPUTS[:1], imported.weights)
    compare_results(got, list(expected[0].values()), 1e-6)  # type: ignore[attr-defined]


def _writes(x: Tensor) -> Tensor:
    if (x > 0).any():
        x.mul_(2)
    return x + 1


def _many(x: Tensor) -> Tensor:
    for step in range(5):
        if x.sum() > step:
            x = x - 1
    return x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x.sum() > 0 else x[0],
        lambda x: x if x.sum() > 0 else (x, x),
        lambda x: (x, 1 if x.sum() > 0 else 2),
        lambda x: x if x.sum() > 0 else x.numpy(),
        _writes,
        _many,
    ],
)
def test_other_branches_are_refused(function: Callable[..., Any]) -> None:
    """Those with other shapes, structures or numbers, with writes, or with too many paths."""
    message = "control flow or shapes that depend on the values of a tensor"
    with pytest.raises(ExportError, match=message):
        import_module(Function(function).eval(), (_INPUTS[0],))
