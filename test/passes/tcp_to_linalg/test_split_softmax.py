# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Softmaxes in parts, compared with PyTorch in float64. The parts are for `cuda`; the test divides
the ops for it, and runs them on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from op_cases import Function
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module
from convoy.phases import lower

_LENGTH = 3 * 6000


def _written(x: Tensor) -> Tensor:
    weights = torch.exp(x - x.amax(-1, keepdim=True))
    return weights / weights.sum(-1, keepdim=True)


_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(-1),
    "written": _written,
    "log softmax": lambda x: x.log_softmax(-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "of a column": lambda x: x[..., None].softmax(1),
}


def _rows() -> Tensor:
    """One row for each kind of values."""
    x = torch.randn(9, _LENGTH, generator=torch.Generator().manual_seed(0)) * 5
    x[1] += 300
    x[2, : _LENGTH // 2] = -torch.inf  # all of several parts
    x[3] = -torch.inf
    x[4, 7] = torch.inf
    x[5, -1] = torch.nan
    x[6] = 0
    x[7, 12000] = 200  # one element has almost all of the sum
    x[8, 5:] -= 1000
    return x


#: The maximum and the exponentials of the written softmax of float16 are float16.
_CASES = [(name, torch.float32) for name in _FUNCTIONS] + [
    (name, torch.float16) for name in _FUNCTIONS if name != "written"
]


@pytest.mark.parametrize(("name", "dtype"), _CASES)
def test_parts_are_the_row(name: str, dtype: torch.dtype, convoy_opt: Callable[..., str]) -> None:
    function, x = _FUNCTIONS[name], _rows().to(dtype)
    imported = import_module(Function(function).eval(), (x,))
    options = convoy.CompileOptions(target="cuda")
    text = lower(imported.text, imported.name, from_phase="tcp", to_phase="cudnn", options=options)
    text = convoy_opt(text, "--tcp-split-softmax")
    assert f"tensor<9x18x1000{'x1' if name == 'of a column' else ''}xf32>" in text
    text = text.replace('tcp.target = "cuda"', 'tcp.target = "cpu"')
    text = convoy_opt(text, "--convert-tcp-to-linalg", "--canonicalize")
    options = convoy.CompileOptions(target="cpu")
    found = compile_imported(replace(imported, text=text), options, phase="linalg").load()(x)
    expected = function(x.double())
    bound = 2e-3 if dtype == torch.float16 else 2e-6
    torch.testing.assert_close(found.double(), expected, rtol=bound, atol=bound, equal_nan=True)
