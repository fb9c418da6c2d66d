# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Networks over points, categories and sequences."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

__all__ = ["Dlrm", "EncoderDecoder", "Nerf", "PointNet"]


class PointNet(nn.Module):
    """PointNet for classification, with a transform of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.pose = self._convs(3, 64, 128, 1024)
        self.transform = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 9))
        self.convs = self._convs(3, 64, 64, 64, 128, 1024)
        self.last = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 40))
        self.register_buffer("identity", torch.eye(3))

    @staticmethod
    def _convs(*channels: int) -> nn.Sequential:
        layers = (
            nn.Sequential(nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU())
            for inputs, outputs in itertools.pairwise(channels)
        )
        return nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        transform = self.transform(self.pose(x).amax(2)).view(-1, 3, 3) + self.identity
        x = torch.bmm(x.transpose(1, 2), transform).transpose(1, 2)
        return self.last(self.convs(x).amax(2))


class Nerf(nn.Module):
    """NeRF: positions and directions to colors and densities."""

    def __init__(self) -> None:
        super().__init__()
        inputs = [63, *4 * [256], 256 + 63, 256, 256]
        self.layers = nn.ModuleList(nn.Linear(each, 256) for each in inputs)
        self.density, self.feature = nn.Linear(256, 1), nn.Linear(256, 256)
        self.direction, self.color = nn.Linear(256 + 27, 128), nn.Linear(128, 3)

    @staticmethod
    def _encode(x: Tensor, octaves: int) -> Tensor:
        parts = [x]
        for octave in range(octaves):
            parts += [torch.sin(2.0**octave * x), torch.cos(2.0**octave * x)]
        return torch.cat(parts, -1)

    def forward(self, position: Tensor, direction: Tensor) -> Tensor:
        encoded = x = self._encode(position, 10)
        for index, layer in enumerate(self.layers):
            x = torch.relu(layer(torch.cat([encoded, x], -1) if index == 5 else x))
        both = torch.cat([self.feature(x), self._encode(direction, 4)], -1)
        color = torch.sigmoid(self.color(torch.relu(self.direction(both))))
        return torch.cat([color, self.density(x)], -1)


class Dlrm(nn.Module):
    """DLRM: a recommendation of 13 numbers and an entry of each of 26 tables."""

    def __init__(self, tables: int = 26, width: int = 128) -> None:
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(10000, width, mode="sum") for _ in range(tables)
        )
        self.bottom = self._layers(13, 512, 256, width)
        pairs = tables * (tables + 1) // 2
        self.top = nn.Sequential(
            self._layers(width + pairs, 1024, 512), nn.Linear(512, 1), nn.Sigmoid()
        )
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1))

    @staticmethod
    def _layers(*widths: int) -> nn.Sequential:
        layers = (
            nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU())
            for inputs, outputs in itertools.pairwise(widths)
        )
        return nn.Sequential(*layers)

    def forward(self, x: Tensor, ids: Tensor) -> Tensor:
        x = self.bottom(x)
        entries = [table(ids[:, index]) for index, table in enumerate(self.tables)]
        every = torch.stack([x, *entries], 1)
        products = torch.bmm(every, every.transpose(1, 2))
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1))


class EncoderDecoder(nn.Module):
    """`nn.Transformer` with six layers each, and a causal mask of the decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(128))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.layers(source, target, tgt_mask=self.mask)
