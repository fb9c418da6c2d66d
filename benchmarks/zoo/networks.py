# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Networks of the zoo that torchvision and transformers do not have."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Decoder", "DiffusionBlocks", "Recurrent", "UNet", "WaveNet", "YoloBody"]


def _conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.SiLU())


class _Split(nn.Module):
    """A stage of YOLOv8: half of the channels pass through residual blocks, and all intermediate
    results are concatenated."""

    def __init__(self, channels: int, count: int) -> None:
        super().__init__()
        half = channels // 2
        self.enter = _conv_bn(channels, channels, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(_conv_bn(half, half, 3), _conv_bn(half, half, 3)) for _ in range(count)
        )
        self.leave = _conv_bn(half * (2 + count), channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.enter(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(parts[-1] + block(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class YoloBody(nn.Module):
    """The backbone and the neck of a YOLO detector of the size of YOLOv8s."""

    def __init__(self) -> None:
        super().__init__()
        widths = (32, 64, 128, 256, 512)
        self.stem = _conv_bn(3, widths[0], 3, 2)
        self.stages = nn.ModuleList(
            nn.Sequential(_conv_bn(a, b, 3, 2), _Split(b, count))
            for a, b, count in zip(widths, widths[1:], (1, 2, 2, 1), strict=False)
        )
        self.squeeze = _conv_bn(512, 256, 1)
        self.widen = _conv_bn(1024, 512, 1)
        self.upper = nn.Sequential(_conv_bn(512 + 256, 256, 1), _Split(256, 1))
        self.lower = nn.Sequential(_conv_bn(256 + 128, 128, 1), _Split(128, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.stem(x)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        pooled = [self.squeeze(maps[3])]
        for _ in range(3):
            pooled.append(functional.max_pool2d(pooled[-1], 5, 1, 2))
        deep = self.widen(torch.cat(pooled, 1))
        middle = self.upper(torch.cat([functional.interpolate(deep, scale_factor=2.0), maps[2]], 1))
        wide = self.lower(torch.cat([functional.interpolate(middle, scale_factor=2.0), maps[1]], 1))
        return wide, middle, deep


class UNet(nn.Module):
    """A U-Net with four levels.

    Args:
        bilinear: Whether it upsamples bilinearly, else by transposed convolutions.
        width: Channels of the first level.
    """

    def __init__(self, *, bilinear: bool, width: int = 32) -> None:
        super().__init__()
        self.bilinear = bilinear
        widths = [width * 2**level for level in range(4)]
        self.down = nn.ModuleList(
            self._block(a, b) for a, b in zip([3, *widths], widths, strict=False)
        )
        self.bottom = self._block(widths[-1], widths[-1] * 2)
        self.grow = nn.ModuleList(
            nn.Conv2d(2 * each, each, 1) if bilinear else nn.ConvTranspose2d(2 * each, each, 2, 2)
            for each in reversed(widths)
        )
        self.up = nn.ModuleList(self._block(2 * each, each) for each in reversed(widths))
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def _block(inputs: int, outputs: int) -> nn.Sequential:
        layers: list[nn.Module] = []
        for channels in (inputs, outputs):
            conv = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
            layers += [conv, nn.BatchNorm2d(outputs), nn.ReLU()]
        return nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for grow, block, skip in zip(self.grow, self.up, reversed(skips), strict=True):
            if self.bilinear:
                x = functional.interpolate(
                    x, scale_factor=2.0, mode="bilinear", align_corners=False
                )
            x = block(torch.cat([grow(x), skip], 1))
        return self.head(x)


class _Residual(nn.Module):
    """Two convolutions after group norms, and a sum."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first, self.second = nn.GroupNorm(32, inputs), nn.GroupNorm(32, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv1(functional.silu(self.first(x)))
        return self.skip(x) + self.conv2(functional.silu(self.second(y)))


class _Attention(nn.Module):
    def __init__(self, width: int, context: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(context, width, bias=False)
        self.v = nn.Linear(context, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        q, k, v = (
            each.unflatten(2, (self.heads, -1)).transpose(1, 2)
            for each in (self.q(x), self.k(context), self.v(context))
        )
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


class _Transformer(nn.Module):
    """Self attention, cross attention and a gated network, over the pixels of an image."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(32, width)
        self.enter, self.leave = nn.Linear(width, width), nn.Linear(width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = _Attention(width, width, 8), _Attention(width, context, 8)
        self.wide, self.narrow = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        y = self.enter(self.norm(x).flatten(2).transpose(1, 2))
        z = self.norms[0](y)
        y = y + self.own(z, z)
        y = y + self.cross(self.norms[1](y), context)
        values, gate = self.wide(self.norms[2](y)).chunk(2, 2)
        y = y + self.narrow(values * functional.gelu(gate))
        return x + self.leave(y).transpose(1, 2).unflatten(2, x.shape[2:])


class DiffusionBlocks(nn.Module):
    """Two levels of the U-Net of Stable Diffusion 1: 320 channels at 64x64 and 640 at 32x32, with
    a text of 77 tokens of 768 features."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(4, 320, 3, padding=1)
        self.first, self.look = _Residual(320, 320), _Transformer(320, 768)
        self.down = nn.Conv2d(320, 320, 3, 2, 1)
        self.second, self.think = _Residual(320, 640), _Transformer(640, 768)
        self.up = nn.Conv2d(640, 640, 3, padding=1)
        self.third = _Residual(640 + 320, 320)
        self.norm, self.leave = nn.GroupNorm(32, 320), nn.Conv2d(320, 4, 3, padding=1)

    def forward(self, x: Tensor, text: Tensor) -> Tensor:
        x = self.look(self.first(self.enter(x)), text)
        y = self.think(self.second(self.down(x)), text)
        y = self.up(functional.interpolate(y, scale_factor=2.0))
        return self.leave(functional.silu(self.norm(self.third(torch.cat([y, x], 1)))))


class Decoder(nn.Module):
    """A decoder of images from 4 x 32 x 32 latents to 256 x 256, as of Stable Diffusion."""

    def __init__(self) -> None:
        super().__init__()
        widths = (512, 512, 256, 128)
        self.enter = nn.Conv2d(4, widths[0], 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(_Residual(a, b), _Residual(b, b))
            for a, b in zip((512, *widths), widths, strict=False)
        )
        self.up = nn.ModuleList(nn.Conv2d(each, each, 3, padding=1) for each in widths[:3])
        self.norm, self.leave = nn.GroupNorm(32, 128), nn.Conv2d(128, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        for level, block in enumerate(self.blocks):
            x = block(x)
            if level < len(self.up):
                x = self.up[level](functional.interpolate(x, scale_factor=2.0))
        return self.leave(functional.silu(self.norm(x)))


class WaveNet(nn.Module):
    """Gated causal convolutions over 4000 samples, with dilations from 1 to 512."""

    def __init__(self, channels: int = 64, layers: int = 10) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, channels, 1)
        self.gates = nn.ModuleList(
            nn.Conv1d(channels, 2 * channels, 2, dilation=2**layer) for layer in range(layers)
        )
        self.mix = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers))
        self.skip = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers))
        self.leave = nn.Sequential(
            nn.ReLU(), nn.Conv1d(channels, channels, 1), nn.ReLU(), nn.Conv1d(channels, 256, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        total = torch.zeros_like(x)
        for gate, mix, skip in zip(self.gates, self.mix, self.skip, strict=True):
            filtered, opened = gate(functional.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            y = torch.tanh(filtered) * torch.sigmoid(opened)
            total = total + skip(y)
            x = x + mix(y)
        return self.leave(total)


class Recurrent(nn.Module):
    """Two LSTM layers over 128 steps, and a classifier of the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(256, 512, 2, batch_first=True)
        self.head = nn.Linear(512, 100)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][:, -1])
