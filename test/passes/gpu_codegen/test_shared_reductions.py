# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions whose payload uses the indices of its loops, and which the threads of a warp share,
emulated and compared with PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from test_normalize import normalize, prepared_weights
from torch import Tensor

from convoy.frontend import import_module


def _rows(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


_PLACES = torch.arange(200) * 7 % 300
#: The function, its inputs, and the number of kernels.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], int]] = {
    # The last update of each row is a maximum of numbers of updates.
    "last update": (
        lambda x, i, u: x.index_copy(0, i, u), (_rows(300, 3), _PLACES, _rows(200, 3)), 2
    ),
    "last update of a column": (
        lambda x, i, u: x.index_copy(1, i, u), (_rows(3, 300), _PLACES, _rows(3, 200)), 2
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, launches = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    weights = prepared_weights(normalize(imported.text, target="cuda"), imported.weights)
    text = lower_to_host(imported.text)
    assert "gpu.shuffle" in text
    wanted = function(*inputs)
    got = torch.full_like(wanted, torch.nan)
    assert run_main(text, [*inputs, *weights.values()], [got]) == launches
    torch.testing.assert_close(got, wanted, rtol=2e-6, atol=2e-6)
