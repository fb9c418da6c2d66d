# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Strided transposed convolutions for a GPU read no zeros between elements, and the results are those
of the model."""

from __future__ import annotations

import re

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _function, normalize, run_both
from torch import Tensor, nn

from convoy.frontend import import_module


class _Up(nn.Module):
    """A transposed convolution with what is fused with it."""

    def __init__(self, dims: int, channels: tuple[int, int], **options: object) -> None:
        super().__init__()
        kinds = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
        self.up = kinds[dims](*channels, **options)
        self.scale = nn.Parameter(torch.rand(channels[1], *(1 for _ in range(dims))))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.up(x) * self.scale)


#: Window, stride, padding and output padding: windows of the stride's size, multiples of it and
#: others, padding up to the window, and results with pixels behind the last place.
_WINDOWS = [(2, 2, 0, 0), (4, 2, 1, 0), (3, 2, 1, 1), (5, 2, 2, 1), (3, 3, 2, 0), (5, 3, 1, 2)]


def _cases() -> list[tuple[int, tuple[int, int], dict[str, int]]]:
    names = ("kernel_size", "stride", "padding", "output_padding")
    windows = [dict(zip(names, each, strict=True)) for each in _WINDOWS]
    return [
        *((1, (8, 6), each) for each in windows),
        *((2, channels, each) for channels in ((16, 3), (16, 8)) for each in windows),
        *((3, (8, 2), each) for each in windows[1:3]),
    ]


@pytest.mark.parametrize(("dims", "channels", "options"), _cases())
def test_results(dims: int, channels: tuple[int, int], options: dict[str, int]) -> None:
    torch.manual_seed(0)
    model = _Up(dims, channels, **options).to(torch.float16).eval()
    x = torch.randn(2, channels[0], *range(5, 5 + dims)).to(torch.float16)
    imported = import_module(model, (x,))
    expected = run_text(imported.text, [x], imported.weights)
    text = normalize(imported.text, target="cuda")
    got = run_both(text, [x], imported.weights)
    # The reference computes in float64; the folded scale is rounded to float16.
    torch.testing.assert_close(got, expected, rtol=0, atol=4e-3)
    main = _function(text, "main")
    assert [zeros for zeros in re.findall(r"interior = array<i64: ([\d, ]*)>", main)
            if set(zeros) - set("0, ")] == []  # fmt: skip
    assert ("tcp.conv_backward_data" in main) == (channels == (16, 8))
    # Nothing is fused with pixels that are not in order yet, or with what is behind the image.
    assert main.index('"tcp.tanh"') < main.find('"tcp.slice"') % len(main)
    assert (
        dims != 1 or '"tcp.transpose"' not in main.split('"tcp.conv1d"')[1].split('"tcp.tanh"')[0]
    )


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 1, "stride": 2},
        {"kernel_size": 3, "stride": 2, "groups": 2},
        {"kernel_size": 3, "stride": 2, "dilation": 2},
    ],
)
def test_others_are_unchanged(options: dict[str, int]) -> None:
    torch.manual_seed(0)
    model = _Up(1, (8, 8), **options).eval()
    x = torch.randn(2, 8, 7)
    imported = import_module(model, (x,))
    text = normalize(imported.text, target="cuda")
    assert "interior = array<i64: 0, 0, 1>" in _function(text, "main")
    expected = run_text(imported.text, [x], imported.weights)
    torch.testing.assert_close(
        run_both(text, [x], imported.weights), expected, rtol=1e-5, atol=1e-5
    )
