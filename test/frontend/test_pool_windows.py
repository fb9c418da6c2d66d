# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Windows of pools that are larger than the image, which ceil_mode allows: the compiled window is
the padded image, as its memory is that of the window."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor

from convoy.frontend import import_module


def _gradient(x: Tensor) -> Tensor:
    g = torch.ones(2, 3, 1, 1)
    return torch.ops.aten.avg_pool2d_backward(
        g, x, [2560, 2560], [2560, 2560], [0, 0], True, True, None
    )


@pytest.mark.parametrize(
    ("function", "window"),
    [
        (lambda x: F.avg_pool2d(x, 2560, ceil_mode=True), (5, 7)),
        (lambda x: F.avg_pool2d(x, 2560, padding=3, ceil_mode=True), (11, 13)),
        (lambda x: F.avg_pool2d(x, (2560, 3), ceil_mode=True), (5, 3)),
        (lambda x: F.max_pool2d(x, (2, 2560), (1, 2560), (1, 3), ceil_mode=True), (2, 13)),
        (_gradient, (5, 7)),
    ],
    ids=["mean", "padded mean", "mean of lines", "max", "gradient of a mean"],
)
def test_windows_are_within_the_image(
    function: Callable[[Tensor], Tensor], window: tuple[int, int]
) -> None:
    text = import_module(Function(function).eval(), (torch.zeros(2, 3, 5, 7),)).text
    kernels = re.findall(r"kernel = array<i64: (\d+), (\d+)>", text)
    assert kernels == [tuple(map(str, window))]
