"""The arena of a program for `cuda`: the tensors that are live at its peak, by hand, and its ratio to
the bytes that are live."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from benchmarks.zoo.models import MODELS
from convoy.frontend import import_module

_PIXELS = 96 * 96


class _Separable(nn.Module):
    """A block of Xception between two convolutions. The skip connection is the last to read the
    input."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(8, 64, 3, padding=1)
        self.widen = nn.Conv2d(64, 128, 1)
        self.deep = nn.Conv2d(128, 128, 3, padding=1)
        self.leave = nn.Conv2d(128, 64, 3, 2, 1)
        self.skip = nn.Conv2d(64, 64, 1, 2)
        self.head = nn.Conv2d(64, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.enter(x))
        y = torch.relu(self.widen(x))
        y = self.leave(torch.relu(self.deep(y)))
        return self.head(torch.relu(y + self.skip(x)))


class _Normalized(nn.Module):
    """A residual block with fewer channels, as of a decoder: the norm can be in place once the skip
    connection has read the input."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(8, 256, 3, padding=1)
        self.norm = nn.GroupNorm(32, 256)
        self.conv = nn.Conv2d(256, 128, 3, padding=1)
        self.skip = nn.Conv2d(256, 128, 1)
        self.head = nn.Conv2d(128, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        y = self.conv(torch.nn.functional.silu(self.norm(x)))
        return self.head(self.skip(x) + y)


class _Wide(nn.Module):
    """A result that is larger than the temporaries, of which it has the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(8, 64, 3, padding=1)
        self.narrow = nn.Conv2d(64, 8, 1)
        self.leave = nn.Conv2d(8, 128, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.leave(torch.relu(self.narrow(torch.relu(self.enter(x)))))


class _Generator(nn.Module):
    """Transposed convolutions, as of a generator of images."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(8, 64, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(64, 32, 4, 2, 1)
        self.last = nn.ConvTranspose2d(32, 3, 4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.last(torch.relu(self.up(torch.relu(self.enter(x))))))


def _manifest(convoy_opt: Callable[..., str], text: str) -> tuple[int, int]:
    """The bytes of the arena, and those that are live at its peak."""
    plan = convoy_opt(text, "--convoy-pipeline=from=tcp to=plan target=cuda dtype=f16")
    arena, live = (
        int(re.search(rf"\b{name} = (\d+)", plan)[1]) for name in ("arena_bytes", "live_bytes")
    )
    return arena, live


#: The channels of full size that are live at the peak.
_PEAKS = {
    # Those of the two wide tensors, and a quarter of the 64 of the skip connection.
    _Separable: 128 + 128 + 16,
    # The norm in place of the input, the skip connection, and the convolution.
    _Normalized: 256 + 128 + 128,
    # What the last convolution reads and writes.
    _Wide: 8 + 128,
    # What the first transposed convolution reads, at half the size, and writes.
    _Generator: 16 + 32,
}


@pytest.mark.parametrize("module", _PEAKS)
def test_peak(module: type[nn.Module], convoy_opt: Callable[..., str]) -> None:
    inputs = (torch.randn(1, 8, 96, 96).half().to(memory_format=torch.channels_last),)
    imported = import_module(module().half().eval(), inputs)
    arena, live = _manifest(convoy_opt, imported.text)
    assert arena == live
    # The statistics of a norm are some kB.
    assert 0 <= live - _PEAKS[module] * _PIXELS * 2 < 1 << 16


@pytest.mark.parametrize("name", ["wavenet", "unet_bilinear", "decoder"])
def test_ratio(name: str, convoy_opt: Callable[..., str]) -> None:
    imported = import_module(*MODELS[name].build(1))
    arena, live = _manifest(convoy_opt, imported.text)
    assert live <= arena <= 1.15 * live
