# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Transposes through squares in shared memory, emulated and compared with PyTorch: of pairs of
16-bit elements, and of single elements where pairs are not aligned or are wide enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module


def _random(*shape: int, dtype: torch.dtype = torch.float16) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def _transposed(x: Tensor) -> Tensor:
    return x.mT.contiguous()


def _joined(x: Tensor, y: Tensor, z: Tensor, bias: Tensor) -> Tensor:
    return ((x.mT + y) * z.mT + bias).contiguous()


#: The function, its inputs, and whether threads move pairs.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], bool]] = {
    "whole squares": (_transposed, (_random(2, 128, 64),), True),
    "parts of squares": (_transposed, (_random(3, 150, 78),), True),
    "odd rows": (_transposed, (_random(2, 151, 66),), False),
    "odd columns": (_transposed, (_random(2, 66, 151),), False),
    "odd images": (lambda x: _transposed(x[1:]), (_random(3, 66, 64),), True),
    "shifted": (lambda x: _transposed(x[:, 1:]), (_random(2, 65, 65),), False),
    "bfloat16": (_transposed, (_random(70, 130, dtype=torch.bfloat16),), True),
    "float32": (_transposed, (_random(70, 130, dtype=torch.float32),), False),
    "to float32": (lambda x: _transposed(x).float(), (_random(70, 130),), True),
    "from float32": (
        lambda x: _transposed(x).half(), (_random(70, 130, dtype=torch.float32),), True
    ),
    "bytes": (lambda x: _transposed(x), (torch.arange(-96, 96).to(torch.int8).expand(100, -1),), True),
    "flags": (lambda x: _transposed(x > 0), (_random(70, 130),), False),
    "small squares": (_transposed, (_random(40, 200),), False),
    "several inputs": (
        _joined, (_random(2, 100, 90), _random(2, 90, 100), _random(2, 100, 90), _random(90, 1)),
        True,
    ),
    "along the rows": (
        _joined, (_random(2, 100, 90), _random(2, 90, 100), _random(1, 100, 90), _random(100)),
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, pairs = CASES[case]
    inputs = tuple(each.contiguous() for each in inputs)
    imported = import_module(Function(function).eval(), inputs)
    text = lower_to_host(imported.text)
    assert "gpu.barrier" in text
    assert ("vector.load" in text) == pairs
    wanted = function(*inputs)
    got = torch.zeros_like(wanted)
    assert run_main(text, inputs, [got]) == 1
    torch.testing.assert_close(got, wanted, rtol=2e-3, atol=2e-3)
