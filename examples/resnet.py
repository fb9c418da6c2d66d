# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""ResNet-18 and ResNet-50 (v1.5: the stride of a bottleneck is in its 3x3 convolution) in plain
torch.

Module and parameter names are torchvision's, so that its state dicts load. Without a state dict,
weights are random from a fixed seed and scaled so that activations stay in range; batch norm
statistics differ from the identity.

    convoy compile examples/resnet.py:resnet18 -o resnet18.convoy
"""

from __future__ import annotations

import os

import torch
from initialize import initialize
from torch import Tensor, nn

__all__ = ["BasicBlock", "Bottleneck", "ResNet", "resnet18", "resnet50"]


class BasicBlock(nn.Module):
    """Two 3x3 convolutions."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int, downsample: nn.Module | None
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class Bottleneck(nn.Module):
    """1x1 convolution to `planes`, 3x3 with the stride, 1x1 to four times `planes`."""

    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int, downsample: nn.Module | None
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """A ResNet with `layers` blocks in its four stages: N x 3 x H x W to N x `num_classes`."""

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: tuple[int, int, int, int],
        num_classes: int = 1000,
    ) -> None:
        super().__init__()
        self.inplanes = 64
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self._stage(block, 64, layers[0], 1)
        self.layer2 = self._stage(block, 128, layers[1], 2)
        self.layer3 = self._stage(block, 256, layers[2], 2)
        self.layer4 = self._stage(block, 512, layers[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _stage(
        self, block: type[BasicBlock] | type[Bottleneck], planes: int, blocks: int, stride: int
    ) -> nn.Sequential:
        downsample = None
        out = planes * block.expansion
        if stride != 1 or self.inplanes != out:
            downsample = nn.Sequential(
                nn.Conv2d(self.inplanes, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )
        stage = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = out
        stage += [block(out, planes, 1, None) for _ in range(1, blocks)]
        return nn.Sequential(*stage)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)


def resnet18(
    batch: int = 1, size: int = 224, weights: str | None = None
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """ResNet-18 and an example input.

    Args:
        batch: The batch size.
        size: The height and width of the image.
        weights: A state dict, a `.safetensors` file or a file from torch.save. Default:
            $RESNET18_WEIGHTS, else random weights.

    Returns:
        The module in evaluation mode, and one float32 input of `batch` x 3 x `size` x `size`.
    """
    return _model(
        BasicBlock, (2, 2, 2, 2), batch, size, weights or os.environ.get("RESNET18_WEIGHTS")
    )


def resnet50(
    batch: int = 1, size: int = 224, weights: str | None = None
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """ResNet-50 v1.5 and an example input.

    Args:
        batch: The batch size.
        size: The height and width of the image.
        weights: A state dict, a `.safetensors` file or a file from torch.save. Default:
            $RESNET50_WEIGHTS, else random weights.

    Returns:
        The module in evaluation mode, and one float32 input of `batch` x 3 x `size` x `size`.
    """
    return _model(
        Bottleneck, (3, 4, 6, 3), batch, size, weights or os.environ.get("RESNET50_WEIGHTS")
    )


def _model(
    block: type[BasicBlock] | type[Bottleneck],
    layers: tuple[int, int, int, int],
    batch: int,
    size: int,
    weights: str | None,
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = ResNet(block, layers)
    initialize(model, weights, generator)
    return model.eval(), (torch.randn(batch, 3, size, size, generator=generator),)
