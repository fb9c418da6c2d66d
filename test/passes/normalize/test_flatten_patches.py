# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convolutions of patches are products for a GPU, and the results are those of the model."""

from __future__ import annotations

import re

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _function, normalize, run_both
from torch import Tensor, nn

from convoy.frontend import import_module

_CONVS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}


class _Embedding(nn.Module):
    """Patches as tokens, as in a vision transformer, or as the pixels of an image."""

    def __init__(self, channels: int, window: tuple[int, ...], tokens: bool) -> None:
        super().__init__()
        self.conv = _CONVS[len(window)](channels, 64, window, stride=window)
        self.tokens = tokens

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return y.flatten(2).transpose(1, 2).contiguous() if self.tokens else torch.relu(y)


#: Channels, window and spatial size: a multiple of the window or not, and elements that are a
#: multiple of 16 bytes or not.
_CASES = [
    (3, (150,), (450,)),
    (1, (130,), (400,)),
    (3, (8, 8), (16, 24)),
    (3, (7, 7), (23, 14)),
    (1, (16, 10), (33, 29)),
    (3, (2, 6, 8), (5, 13, 16)),
]


@pytest.mark.parametrize("tokens", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize(("channels", "window", "size"), _CASES)
def test_results(
    channels: int, window: tuple[int, ...], size: tuple[int, ...], dtype: torch.dtype, tokens: bool
) -> None:
    torch.manual_seed(0)
    model = _Embedding(channels, window, tokens).to(dtype).eval()
    x = torch.randn(2, channels, *size).to(dtype)
    imported = import_module(model, (x,))
    expected = run_text(imported.text, [x], imported.weights)
    text = normalize(imported.text, target="cuda")
    torch.testing.assert_close(run_both(text, [x], imported.weights), expected)
    (shape,) = re.findall(
        r'"tcp\.conv\dd".* tensor<64x([\dx]*)xf\d+>\) ->', _function(text, "main")
    )
    *taps, depth = map(int, shape.split("x"))
    assert set(taps) == {1}
    assert depth * dtype.itemsize % 16 == 0


@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(3, 96, 4, stride=4),  # few elements
        nn.Conv2d(3, 32, 16, stride=16),  # few filters
        nn.Conv2d(8, 64, 8, stride=8),  # aligned pixels
        nn.Conv2d(3, 64, 8, stride=4),  # overlaps
        nn.Conv2d(3, 64, 8, stride=8, padding=1),
        nn.Conv2d(3, 64, 8, stride=8, dilation=2),
    ],
)
def test_other_convolutions_remain(conv: nn.Conv2d) -> None:
    imported = import_module(conv.half().eval(), (torch.randn(1, conv.in_channels, 64, 64).half(),))
    main = _function(normalize(imported.text, target="cuda"), "main")
    assert f"stride = array<i64: {conv.stride[0]}, {conv.stride[1]}>" in main
