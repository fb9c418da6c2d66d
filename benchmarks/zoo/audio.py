# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Networks for sound: vocoders and speech recognition."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Conformer", "DeepSpeech", "HifiGan", "QuartzNet"]


class HifiGan(nn.Module):
    """The generator of HiFi-GAN V1: mel spectrograms of 80 bands to samples."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(80, 512, 7, padding=3)
        self.ups, self.stages = nn.ModuleList(), nn.ModuleList()
        channels = 512
        for stride, kernel in ((8, 16), (8, 16), (2, 4), (2, 4)):
            padding = (kernel - stride) // 2
            self.ups.append(nn.ConvTranspose1d(channels, channels // 2, kernel, stride, padding))
            channels //= 2
            self.stages.append(
                nn.ModuleList(
                    nn.ModuleList(
                        nn.Conv1d(
                            channels, channels, taps,
                            padding=step * (taps - 1) // 2, dilation=step,
                        )
                        for step in (1, 3, 5)
                    )
                    for taps in (3, 7, 11)
                )
            )  # fmt: skip
        self.last = nn.Conv1d(channels, 1, 7, padding=3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for up, stage in zip(self.ups, self.stages, strict=True):
            x = up(functional.leaky_relu(x, 0.1))
            total = torch.zeros_like(x)
            for block in stage:
                y = x
                for conv in block:
                    y = y + conv(functional.leaky_relu(y, 0.1))
                total = total + y
            x = total / len(stage)
        return torch.tanh(self.last(functional.leaky_relu(x)))


class _Separable(nn.Sequential):
    """A depthwise convolution, a 1x1 convolution and a norm."""

    def __init__(self, inputs: int, outputs: int, taps: int, *, activation: bool = True) -> None:
        super().__init__(
            nn.Conv1d(inputs, inputs, taps, padding=taps // 2, groups=inputs),
            nn.Conv1d(inputs, outputs, 1),
            nn.BatchNorm1d(outputs),
            nn.ReLU() if activation else nn.Identity(),
        )


class QuartzNet(nn.Module):
    """QuartzNet 5x5: log probabilities of 29 characters."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(64, 256, 33, 2, 16), nn.BatchNorm1d(256), nn.ReLU())
        self.blocks, self.skips = nn.ModuleList(), nn.ModuleList()
        channels = 256
        for taps, outputs in ((33, 256), (39, 256), (51, 512), (63, 512), (75, 512)):
            self.blocks.append(
                nn.Sequential(
                    _Separable(channels, outputs, taps),
                    *(_Separable(outputs, outputs, taps) for _ in range(3)),
                    _Separable(outputs, outputs, taps, activation=False),
                )
            )
            self.skips.append(
                nn.Sequential(nn.Conv1d(channels, outputs, 1), nn.BatchNorm1d(outputs))
            )
            channels = outputs
        self.last = nn.Conv1d(channels, 29, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for block, skip in zip(self.blocks, self.skips, strict=True):
            x = torch.relu(block(x) + skip(x))
        return self.last(x).log_softmax(1)


class _ConformerBlock(nn.Module):
    """Half a feed-forward layer, attention, a convolution and the other half."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.after = self._feed_forward(width), self._feed_forward(width)
        self.attention_norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.conv_norm = nn.LayerNorm(width)
        self.gate = nn.Conv1d(width, 2 * width, 1)
        self.conv = nn.Sequential(
            nn.Conv1d(width, width, 31, padding=15, groups=width),
            nn.BatchNorm1d(width),
            nn.SiLU(),
            nn.Conv1d(width, width, 1),
        )
        self.norm = nn.LayerNorm(width)

    @staticmethod
    def _feed_forward(width: int) -> nn.Sequential:
        return nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.before(x)
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = functional.glu(self.gate(self.conv_norm(x).transpose(1, 2)), 1)
        x = x + self.conv(y).transpose(1, 2)
        return self.norm(x + 0.5 * self.after(x))


class Conformer(nn.Module):
    """The encoder of Conformer: spectrograms of 80 bands, a quarter of the steps."""

    def __init__(self, width: int = 256, layers: int = 8, heads: int = 4) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2), nn.ReLU()
        )
        self.enter = nn.Linear(width * 19, width)
        self.blocks = nn.Sequential(*(_ConformerBlock(width, heads) for _ in range(layers)))

    def forward(self, x: Tensor) -> Tensor:
        return self.blocks(self.enter(self.conv(x[:, None]).transpose(1, 2).flatten(2)))


class DeepSpeech(nn.Module):
    """Deep Speech 2: two convolutions over spectrograms of 160 bands, three bidirectional GRUs."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 32, (41, 11), 2, (20, 5)),
            nn.BatchNorm2d(32),
            nn.Hardtanh(0, 20),
            nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)),
            nn.BatchNorm2d(32),
            nn.Hardtanh(0, 20),
        )
        self.recurrent = nn.GRU(32 * 40, 512, 3, bidirectional=True, batch_first=True)
        self.last = nn.Linear(1024, 29)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x).permute(0, 3, 1, 2).flatten(2)
        return self.last(self.recurrent(x)[0]).log_softmax(-1)
