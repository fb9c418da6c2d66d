# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Long rows of 16-bit elements, and neighboring rows of a block, that stay in registers as they are
in memory, emulated and compared with PyTorch in float64."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor
from torch.nn.functional import gelu, group_norm, layer_norm, silu

from convoy.frontend import import_module

_HALF, _BRAIN, _FLOAT = torch.float16, torch.bfloat16, torch.float32


def _random(*shape: int, dtype: torch.dtype = _HALF) -> Tensor:
    # The mean is not zero, so that the sum of a row shows each missing or additional element.
    values = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))) / 4 + 1
    return values.to(dtype)


def _softmax(x: Tensor) -> Tensor:
    return x.softmax(-1)


def _log_softmax(x: Tensor) -> Tensor:
    return x.log_softmax(-1)


def _share(x: Tensor) -> Tensor:
    return x / x.amax(-1, keepdim=True)


def _norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return layer_norm(x, weight.shape, weight, bias)


def _group_norm(x: Tensor, *weights: Tensor) -> Tensor:
    return silu(group_norm(x, x.shape[1] // 8, *weights))


def _images(count: int, channels: int, height: int, width: int) -> Tensor:
    x = _random(count, channels, height, width)
    return x.to(memory_format=torch.channels_last)


def _residual(x: Tensor, y: Tensor) -> Tensor:
    return y - x.softmax(-1)


def _of_sum(x: Tensor, y: Tensor) -> Tensor:
    return (x + y).softmax(-1)


def _group_norm_inputs(height: int, width: int) -> tuple[Tensor, ...]:
    """Groups of 8 channels, four of which make 64 bytes of a pixel."""
    return _images(32, 256, height, width), _random(256), _random(256)


def _norm_inputs(rows: int, length: int) -> tuple[Tensor, ...]:
    return tuple(_random(*shape) for shape in ((rows, length), (length,), (length,)))


#: The function, its inputs, threads of a block, and whether it packs rows. More than 132 rows run in
#: pairs on a multiprocessor.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], int, bool]] = {
    "softmax": (_softmax, (_random(133, 16416),), 512, True),
    "log softmax": (_log_softmax, (_random(133, 16392, dtype=_BRAIN),), 512, True),
    "norm": (_norm, _norm_inputs(133, 16392), 512, True),
    "between aligned groups": (_softmax, (_random(133, 16403),), 512, True),
    # The residual is read in the last pass only.
    "residual": (_residual, (_random(133, 16392), _random(133, 16392)), 512, True),
    # Rows that registers would not hold as float32.
    "longest": (_share, (_random(2, 65536),), 1024, True),
    "longest norm": (_norm, _norm_inputs(1, 60000), 1024, True),
    "one row per multiprocessor": (_softmax, (_random(132, 16392),), 1024, False),
    "two inputs": (_of_sum, (_random(133, 16392), _random(133, 16392)), 1024, False),
    "float32": (_softmax, (_random(133, 16392, dtype=_FLOAT),), 1024, False),
    # A thread has up to 64 elements of one of four rows.
    "group norm": (_group_norm, _group_norm_inputs(27, 29), 512, True),
    "group norm that registers hold": (_group_norm, _group_norm_inputs(24, 32), 512, False),
    "slow": (lambda x: gelu(x).log_softmax(-1), (_random(133, 16392),), 1024, False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results(case: str) -> None:
    function, inputs, threads, is_packed = CASES[case]
    imported = import_module(Function(function).eval(), inputs)
    text = lower_to_host(imported.text)
    assert re.findall(r"block = array<i32: (\d+)", text) == [str(threads)]
    assert ("llvm.inline_asm" in text) == is_packed
    assert ("nvvm.minctasm = 2" in text) == (is_packed and threads == 512)
    if not is_packed:
        return
    wanted = function(*(each.double() for each in inputs))
    order = torch.channels_last if wanted.ndim == 4 else torch.contiguous_format
    got = torch.full_like(wanted, torch.nan, dtype=inputs[0].dtype, memory_format=order)
    assert run_main(text, inputs, [got]) == 1
    tolerance = {_HALF: 2e-3, _BRAIN: 8e-3}[got.dtype]
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=1e-2 * tolerance)
