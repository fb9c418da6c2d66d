# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Networks that create or restore images and volumes."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Dcgan", "Edsr", "Esrgan", "ModulatedConvs", "VolumeUNet"]


class _DenseBlock(nn.Module):
    """A residual dense block of ESRGAN."""

    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(channels + i * growth, growth, 3, padding=1) for i in range(4)
        )
        self.last = nn.Conv2d(channels + 4 * growth, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        found = [x]
        for conv in self.convs:
            found.append(functional.leaky_relu(conv(torch.cat(found, 1)), 0.2))
        return x + 0.2 * self.last(torch.cat(found, 1))


class Esrgan(nn.Module):
    """The generator of ESRGAN: images of four times the height and width."""

    def __init__(self, channels: int = 64, growth: int = 32, blocks: int = 6) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(*(_DenseBlock(channels, growth) for _ in range(3))) for _ in range(blocks)
        )
        self.body = nn.Conv2d(channels, channels, 3, padding=1)
        self.ups = nn.ModuleList(nn.Conv2d(channels, 4 * channels, 3, padding=1) for _ in range(2))
        self.last = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = first = self.first(x)
        for block in self.blocks:
            x = x + 0.2 * block(x)
        x = first + self.body(x)
        for up in self.ups:
            x = functional.leaky_relu(functional.pixel_shuffle(up(x), 2), 0.2)
        return self.last(x)


class Edsr(nn.Module):
    """EDSR: images of twice the height and width."""

    def __init__(self, channels: int = 64, blocks: int = 16) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(channels, channels, 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(channels, channels, 3, padding=1),
            )
            for _ in range(blocks)
        )
        self.up = nn.Sequential(
            nn.Conv2d(channels, 4 * channels, 3, padding=1),
            nn.PixelShuffle(2),
            nn.Conv2d(channels, 3, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = y = self.first(x)
        for block in self.blocks:
            y = y + block(y)
        return self.up(x + y)


class Dcgan(nn.Module):
    """The generator of DCGAN: 100 numbers to an image of 64 pixels."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise((100, 512, 256, 128, 64)):
            stride, padding = (1, 0) if inputs == 100 else (2, 1)
            layers += [
                nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        last = nn.ConvTranspose2d(64, 3, 4, 2, 1, bias=False)
        self.layers = nn.Sequential(*layers, last, nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class ModulatedConvs(nn.Module):
    """A mapping network and modulated convolutions as in StyleGAN 2, with the style as a factor of
    the channels before and after each convolution."""

    def __init__(self, channels: tuple[int, ...] = (512, 512, 256, 128, 64)) -> None:
        super().__init__()
        mapping = [nn.Sequential(nn.Linear(512, 512), nn.LeakyReLU(0.2)) for _ in range(8)]
        self.mapping = nn.Sequential(*mapping)
        self.constant = nn.Parameter(torch.randn(1, channels[0], 8, 8))
        pairs = list(itertools.pairwise(channels))
        self.filters = nn.ParameterList(
            nn.Parameter(torch.randn(outputs, inputs, 3, 3) * 0.05) for inputs, outputs in pairs
        )
        self.styles = nn.ModuleList(nn.Linear(512, inputs) for inputs, _ in pairs)
        self.last = nn.Conv2d(channels[-1], 3, 1)

    def forward(self, z: Tensor) -> Tensor:
        latent = self.mapping(z * torch.rsqrt(z.pow(2).mean(1, keepdim=True) + 1e-8))
        x = self.constant.expand(z.shape[0], -1, -1, -1)
        for filters, layer in zip(self.filters, self.styles, strict=True):
            style = layer(latent) + 1
            weights = filters[None] * style[:, None, :, None, None]
            norm = torch.rsqrt(weights.pow(2).sum((2, 3, 4)) + 1e-8)
            x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = functional.conv2d(x * style[:, :, None, None], filters, padding=1)
            x = functional.leaky_relu(x * norm[:, :, None, None], 0.2)
        return self.last(x)


class VolumeUNet(nn.Module):
    """A U-Net over volumes with instance norms, as nnU-Net builds it."""

    def __init__(self, widths: tuple[int, ...] = (16, 32, 64, 128)) -> None:
        super().__init__()
        pairs = list(itertools.pairwise(widths))
        self.down = nn.ModuleList(
            self._block(inputs, outputs) for inputs, outputs in [(1, widths[0]), *pairs]
        )
        self.up = nn.ModuleList(nn.ConvTranspose3d(deep, wide, 2, 2) for wide, deep in pairs)
        self.decode = nn.ModuleList(self._block(2 * wide, wide) for wide, _ in pairs)
        self.last = nn.Conv3d(widths[0], 3, 1)

    @staticmethod
    def _block(inputs: int, outputs: int) -> nn.Sequential:
        layers = (
            nn.Sequential(
                nn.Conv3d(channels, outputs, 3, padding=1),
                nn.InstanceNorm3d(outputs, affine=True),
                nn.LeakyReLU(0.01),
            )
            for channels in (inputs, outputs)
        )
        return nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        skips: list[Tensor] = []
        for block in self.down:
            x = block(functional.max_pool3d(x, 2) if skips else x)
            skips.append(x)
        for up, block, skip in zip(
            reversed(self.up), reversed(self.decode), reversed(skips[:-1]), strict=True
        ):
            x = block(torch.cat([skip, up(x)], 1))
        return self.last(x)
