# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""DenseNet-121 and DenseNet-201 in plain torch. Module and parameter names are torchvision's, so
that its state dicts load.

    convoy compile examples/densenet.py:densenet121 -o densenet121.convoy
"""

from __future__ import annotations

import os
from collections import OrderedDict

import torch
import torch.nn.functional as F
from initialize import initialize
from torch import Tensor, nn

__all__ = ["DenseNet", "densenet121", "densenet201"]


class _DenseLayer(nn.Module):
    """Batch norm, relu and 1x1 convolution, then batch norm, relu and 3x3 convolution, on the
    concatenated features."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features: list[Tensor]) -> Tensor:
        x = self.conv1(F.relu(self.norm1(torch.cat(features, 1))))
        return self.conv2(F.relu(self.norm2(x)))


class _DenseBlock(nn.ModuleDict):
    """`layers` dense layers, each on the concatenation of the input and all previous results."""

    def __init__(self, inputs: int, layers: int, growth: int) -> None:
        super().__init__(
            {f"denselayer{i + 1}": _DenseLayer(inputs + i * growth, growth) for i in range(layers)}
        )

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.values():
            features.append(layer(features))
        return torch.cat(features, 1)


class _Transition(nn.Sequential):
    """Halves the channels, the height and the width."""

    def __init__(self, inputs: int) -> None:
        parts: OrderedDict[str, nn.Module] = OrderedDict()
        parts["norm"] = nn.BatchNorm2d(inputs)
        parts["relu"] = nn.ReLU(inplace=True)
        parts["conv"] = nn.Conv2d(inputs, inputs // 2, 1, bias=False)
        parts["pool"] = nn.AvgPool2d(2, 2)
        super().__init__(parts)


class DenseNet(nn.Module):
    """Four dense blocks of `layers` layers; N x 3 x H x W in, N x `num_classes` out."""

    def __init__(
        self, layers: tuple[int, int, int, int], growth: int = 32, num_classes: int = 1000
    ) -> None:
        super().__init__()
        channels = 2 * growth
        parts: OrderedDict[str, nn.Module] = OrderedDict()
        parts["conv0"] = nn.Conv2d(3, channels, 7, 2, 3, bias=False)
        parts["norm0"] = nn.BatchNorm2d(channels)
        parts["relu0"] = nn.ReLU(inplace=True)
        parts["pool0"] = nn.MaxPool2d(3, 2, 1)
        for i, count in enumerate(layers, 1):
            parts[f"denseblock{i}"] = _DenseBlock(channels, count, growth)
            channels += count * growth
            if i < len(layers):
                parts[f"transition{i}"] = _Transition(channels)
                channels //= 2
        parts["norm5"] = nn.BatchNorm2d(channels)
        self.features = nn.Sequential(parts)
        self.classifier = nn.Linear(channels, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.features(x))
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def densenet121(batch: int = 1, size: int = 224) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """DenseNet-121 and an example input.

    Args:
        batch: The batch size.
        size: The height and width of the image.

    Returns:
        The module, with weights from the file $DENSENET121_WEIGHTS if set, and one float32 input
        of `batch` x 3 x `size` x `size`.
    """
    return _model((6, 12, 24, 16), batch, size, os.environ.get("DENSENET121_WEIGHTS"))


def densenet201(batch: int = 1, size: int = 224) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """DenseNet-201 and an example input.

    Args:
        batch: The batch size.
        size: The height and width of the image.

    Returns:
        The module, with weights from the file $DENSENET201_WEIGHTS if set, and one float32 input
        of `batch` x 3 x `size` x `size`.
    """
    return _model((6, 12, 48, 32), batch, size, os.environ.get("DENSENET201_WEIGHTS"))


def _model(
    layers: tuple[int, int, int, int], batch: int, size: int, weights: str | None
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = DenseNet(layers)
    initialize(model, weights, generator, mode="fan_in")
    return model.eval(), (torch.randn(batch, 3, size, size, generator=generator),)
