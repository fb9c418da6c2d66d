# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Poolings of images in channels-first order: each thread loads the elements of neighboring windows
in wide loads and those that windows share once. Emulated and compared with PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from kernel_emulator import lower_to_host, run_main
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module

_HALF, _ALL = (torch.float16,), (torch.float16, torch.bfloat16, torch.float32)
#: The function, the shape of its input, for float16 the loads of each width in the text of its
#: kernel, and the types. Threads have several results if there are 32768 of them.
CASES: dict[
    str,
    tuple[Callable[[Tensor], Tensor], tuple[int, ...], dict[int, int], tuple[torch.dtype, ...]],
] = {
    # The eight results of a thread are from two groups of eight elements in each of two rows.
    "mean": (lambda x: F.avg_pool2d(x, 2), (16, 64, 32, 32), {8: 4, 1: 0}, _ALL),
    "mean of few": (lambda x: F.avg_pool2d(x, 2), (2, 3, 8, 12), {2: 2, 1: 0}, _ALL),
    "largest": (lambda x: F.max_pool2d(x, 2), (16, 64, 32, 32), {8: 4, 1: 0}, _ALL),
    "four results": (lambda x: F.max_pool2d(x, 2), (32, 64, 24, 24), {8: 2, 1: 0}, _HALF),
    "odd results": (lambda x: F.max_pool2d(x, 2), (4, 6, 14, 14), {2: 2, 1: 0}, _ALL),
    "odd rows": (lambda x: F.avg_pool2d(x, 2), (4, 6, 15, 15), {8: 0, 4: 0, 2: 0, 1: 1}, _ALL),
    # The edge of a window is beyond the image in some threads, so it is on its own.
    "padded": (lambda x: F.max_pool2d(x, 3, 2, 1), (16, 64, 32, 32), {8: 6, 1: 3}, _ALL),
    "padded mean": (lambda x: F.avg_pool2d(x, 3, 2, 1), (16, 64, 32, 32), {8: 6, 1: 3}, _ALL),
    "without padding": (
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (3, 4, 16, 20), {2: 3, 1: 3},
        _ALL,
    ),
    "overlapping": (lambda x: F.max_pool2d(x, 3, 1, 1), (8, 64, 32, 32), {8: 3, 1: 6}, _HALF),
    "overlapping mean": (lambda x: F.avg_pool2d(x, 5, 1, 2), (2, 5, 16, 16), {}, _ALL),
    "steps of three": (lambda x: F.avg_pool2d(x, 3), (4, 8, 12, 24), {}, _ALL),
    "steps beyond windows": (lambda x: F.max_pool2d(x, 2, 5), (4, 8, 17, 32), {}, _HALF),
    "ceiled": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), (4, 8, 18, 30), {}, _ALL),
    "divided": (lambda x: F.avg_pool2d(x, 2, divisor_override=3), (4, 8, 16, 16), {}, _HALF),
    "dilated": (lambda x: F.max_pool2d(x, 3, 1, 1, dilation=2), (4, 8, 16, 16), {}, _HALF),
    "wide windows": (lambda x: F.avg_pool2d(x, 16), (4, 8, 64, 64), {}, _HALF),
    "wide rows": (lambda x: F.avg_pool2d(x, (1, 200), (1, 200)), (1, 8, 4, 800), {}, _HALF),
    "large windows": (lambda x: F.max_pool2d(x, 13, 1, 6), (16, 64, 16, 16), {8: 1, 1: 12}, _HALF),
    "adaptive": (lambda x: F.adaptive_avg_pool2d(x, 4), (4, 8, 16, 32), {}, _ALL),
    "line": (lambda x: F.avg_pool1d(x, 2), (16, 64, 1024), {8: 2, 1: 0}, _ALL),
    "padded line": (lambda x: F.max_pool1d(x, 3, 2, 1), (4, 8, 64), {}, _ALL),
    "volume": (lambda x: F.avg_pool3d(x, 2), (8, 32, 16, 16, 32), {8: 8, 1: 0}, _HALF),
    "padded volume": (lambda x: F.max_pool3d(x, 3, 2, 1), (2, 4, 8, 8, 8), {}, _ALL),
    "one channel": (lambda x: F.avg_pool2d(x, 2), (4, 1, 16, 32), {}, _HALF),
    "pixels": (lambda x: F.max_pool2d(x, 1, 2), (4, 6, 8, 8), {}, _HALF),
    "relu around": (lambda x: F.avg_pool2d(x.relu(), 2).neg(), (4, 8, 16, 16), {}, _HALF),
    "two": (lambda x: F.max_pool2d(F.max_pool2d(x, 3, 1, 1), 2), (4, 8, 16, 16), {}, _HALF),
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "dtype"), [(case, dtype) for case in CASES for dtype in CASES[case][-1]]
)
def test_results(case: str, dtype: torch.dtype) -> None:
    function, shape, loads, _ = CASES[case]
    # Infinities and NaN are in some windows, and no padding.
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    x.view(-1)[5::97], x.view(-1)[7::101] = -torch.inf, torch.nan
    imported = import_module(Function(function).eval(), (x,))
    text = lower_to_host(imported.text)
    assert "perm" not in text
    if dtype == torch.float16:
        types = {width: "f16" if width == 1 else f"vector<{width}xf16>" for width in loads}
        assert {w: text.count(f", index) -> {type_}") for w, type_ in types.items()} == loads
    wanted = function(x.double())
    got = torch.full_like(wanted, 123, dtype=dtype)
    run_main(text, [x], [got])
    error = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2e-6}[dtype]
    torch.testing.assert_close(got.double(), wanted, rtol=error, atol=error, equal_nan=True)
