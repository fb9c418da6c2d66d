# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Networks that translate, enlarge and restore images, whose last layer has three filters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["CycleGan", "NafNet", "Srgan"]


def _convolution(channels: int, filters: int, size: int) -> nn.Sequential:
    return nn.Sequential(nn.ReflectionPad2d(size // 2), nn.Conv2d(channels, filters, size))


class _Residual(nn.Module):
    """x + f(x)."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


class CycleGan(nn.Module):
    """The generator of CycleGAN."""

    def __init__(self, channels: int = 64, blocks: int = 9) -> None:
        super().__init__()
        wide = 4 * channels
        layers: list[nn.Module] = [_convolution(3, channels, 7), *_normalized(channels)]
        for width in (channels, 2 * channels):
            layers += [nn.Conv2d(width, 2 * width, 3, 2, 1), *_normalized(2 * width)]
        layers += [
            _Residual(
                _convolution(wide, wide, 3),
                *_normalized(wide),
                _convolution(wide, wide, 3),
                nn.InstanceNorm2d(wide),
            )
            for _ in range(blocks)
        ]
        for width in (wide, wide // 2):
            up = nn.ConvTranspose2d(width, width // 2, 3, 2, 1, 1)
            layers += [up, *_normalized(width // 2)]
        self.layers = nn.Sequential(*layers, _convolution(channels, 3, 7), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def _normalized(channels: int) -> tuple[nn.Module, nn.Module]:
    return nn.InstanceNorm2d(channels), nn.ReLU()


class Srgan(nn.Module):
    """The generator of SRGAN: images of four times the height and width."""

    def __init__(self, channels: int = 64, blocks: int = 16) -> None:
        super().__init__()

        def convolution(filters: int = channels) -> nn.Conv2d:
            return nn.Conv2d(channels, filters, 3, padding=1)

        self.first = nn.Sequential(nn.Conv2d(3, channels, 9, padding=4), nn.PReLU())
        self.blocks = nn.Sequential(
            *(
                _Residual(
                    convolution(),
                    nn.BatchNorm2d(channels),
                    nn.PReLU(),
                    convolution(),
                    nn.BatchNorm2d(channels),
                )
                for _ in range(blocks)
            ),
            convolution(),
            nn.BatchNorm2d(channels),
        )
        ups = (
            nn.Sequential(convolution(4 * channels), nn.PixelShuffle(2), nn.PReLU())
            for _ in range(2)
        )
        self.last = nn.Sequential(*ups, nn.Conv2d(channels, 3, 9, padding=4), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        return self.last(x + self.blocks(x))


class _ChannelNorm(nn.Module):
    """Layer norm over the channels of each pixel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class _Gate(nn.Module):
    """The product of the halves of the channels."""

    def forward(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, 1)
        return first * second


class _ChannelAttention(nn.Module):
    """Scales each channel by a product of the means of all channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.product = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.product(x.mean((2, 3), keepdim=True))


class _NafBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        wide = 2 * channels
        self.spatial = nn.Sequential(
            _ChannelNorm(channels),
            nn.Conv2d(channels, wide, 1),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide),
            _Gate(),
            _ChannelAttention(channels),
            nn.Conv2d(channels, channels, 1),
        )
        self.pointwise = nn.Sequential(
            _ChannelNorm(channels),
            nn.Conv2d(channels, wide, 1),
            _Gate(),
            nn.Conv2d(channels, channels, 1),
        )
        self.scales = nn.Parameter(torch.ones(2, 1, channels, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.spatial(x) * self.scales[0]
        return x + self.pointwise(x) * self.scales[1]


class NafNet(nn.Module):
    """NAFNet: a U-Net of blocks without activations."""

    def __init__(self, channels: int = 32, down: tuple[int, ...] = (1, 1, 2, 4)) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.last = nn.Conv2d(channels, 3, 3, padding=1)
        widths = [channels << level for level in range(len(down))]
        self.downs = nn.ModuleList(
            nn.Sequential(*(_NafBlock(width) for _ in range(count)))
            for width, count in zip(widths, down, strict=True)
        )
        self.halves = nn.ModuleList(nn.Conv2d(width, 2 * width, 2, 2) for width in widths[:-1])
        self.doubles = nn.ModuleList(
            nn.Sequential(nn.Conv2d(2 * width, 4 * width, 1, bias=False), nn.PixelShuffle(2))
            for width in reversed(widths[:-1])
        )
        self.ups = nn.ModuleList(_NafBlock(width) for width in reversed(widths[:-1]))

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        kept = []
        for blocks, half in zip(self.downs, self.halves, strict=False):
            y = blocks(y)
            kept.append(y)
            y = half(y)
        y = self.downs[-1](y)
        for double, up in zip(self.doubles, self.ups, strict=True):
            y = up(double(y) + kept.pop())
        return self.last(y) + x
