# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions of columns whose threads have two neighboring results of 16-bit elements, emulated and
compared with PyTorch, and those whose threads have one, because pairs are not aligned, or would
leave too few blocks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module


def _numbers(*shape: int, dtype: torch.dtype = torch.float16) -> Tensor:
    numbers = torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(sum(shape)))
    return numbers.to(dtype)


def _scaled(x: Tensor, y: Tensor) -> Tensor:
    """With an epilogue, which has an operand of its own."""
    return (x.float().sum(0) * 0.5 + y).relu()


#: The function, its inputs, and whether threads have pairs. Sums are of small integers, so exact.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], bool]] = {
    "sum": (lambda x: x.sum(0), (_numbers(64, 8194),), True),
    "of images": (lambda x: x.sum(1), (_numbers(5, 67, 1640),), True),
    "scaled": (_scaled, (_numbers(64, 8194), _numbers(8194)), True),
    "largest": (lambda x: x.amax(0), (_numbers(40, 9000, dtype=torch.bfloat16),), True),
    "odd columns": (lambda x: x.sum(0), (_numbers(64, 8195),), False),
    "few columns": (lambda x: x.sum(0), (_numbers(64, 4096),), False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, pairs = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    text = lower_to_host(imported.text)
    assert "gpu.barrier" in text
    assert ("vector<2x" in text) == pairs
    wanted = function(*inputs)
    got = torch.zeros_like(wanted)
    assert run_main(text, inputs, [got]) == 1
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)
