"""Convolutions on the CPU whose windows have taps that read only padding, and long rows of few
channels, against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from vector_cpus import CPUS, VECTOR_CPUS

import convoy

#: Size of the image, and options of the convolution.
WINDOWS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "one tap is left": ((9, 10), {"padding": 12, "dilation": 12}),
    "rows only": ((7, 30), {"padding": 8, "dilation": 8}),
    "low side": ((6, 6), {"kernel_size": 2, "padding": 9, "dilation": 9}),
    "stride": ((9, 9), {"padding": 10, "dilation": 10, "stride": 2}),
    "most rows are padding": ((14, 15), {"padding": 12, "dilation": 12}),
    "rows of several tiles": ((33, 34), {"padding": 18, "dilation": 18}),
    "low images": ((9, 3), {"kernel_size": (3, 1), "padding": (7, 0), "dilation": (7, 1)}),
    "rows with stride": ((14, 15), {"padding": 9, "dilation": 9, "stride": 2}),
    "1x1 with padding": ((3, 4), {"kernel_size": 1, "padding": 3}),
    "padding beyond the taps": ((4, 4), {"padding": 9, "dilation": 3}),
    "groups": ((9, 10), {"padding": 12, "dilation": 12, "groups": 2}),
    "depthwise": ((9, 10), {"padding": 12, "dilation": 12, "groups": 32}),
    "five taps": ((10, 12), {"kernel_size": 5, "padding": 12, "dilation": 6}),
    "one dim": ((20,), {"padding": 32, "dilation": 32}),
    "three dims": ((3, 4, 5), {"padding": 6, "dilation": 6}),
}


@torch.no_grad()
@pytest.mark.parametrize("cpu", VECTOR_CPUS)
@pytest.mark.parametrize("name", WINDOWS)
def test_taps_that_read_only_padding(name: str, cpu: str) -> None:
    torch.manual_seed(0)
    size, options = WINDOWS[name]
    for channels in (32, 96) if options.get("groups", 1) == 1 else (32,):
        conv = getattr(nn, f"Conv{len(size)}d")(32, channels, **{"kernel_size": 3, **options})
        x = torch.randn(2, 32, *size)
        module = nn.Sequential(conv, nn.ReLU()).eval()
        got = convoy.compile(module, (x,), target="cpu", cpu=cpu)(x)
        wanted = module.double()(x.double())
        torch.testing.assert_close(got.double(), wanted, rtol=1e-5, atol=1e-5)


class Residual(nn.Module):
    """A convolution along one dim with an activation and a residual of its result's shape."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=2, dilation=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)) + x


@torch.no_grad()
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("channels", [8, 32, 96, 100])
@pytest.mark.parametrize("length", [1, 13, 400, 1037])
def test_long_rows(length: int, channels: int, cpu: str) -> None:
    torch.manual_seed(0)
    module, x = Residual(channels).eval(), torch.randn(1, channels, length)
    got = convoy.compile(module, (x,), target="cpu", cpu=cpu)(x)
    wanted = module.double()(x.double())
    torch.testing.assert_close(got.double(), wanted, rtol=1e-5, atol=1e-5)
