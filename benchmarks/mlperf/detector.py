# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A RetinaNet with the backbone ResNeXt-50 32x4d and a feature pyramid, in plain torch: the layers
of MLPerf's detector, without anchors, decoding and non-maximum suppression. Weights are random."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

__all__ = ["Detector"]

#: Groups of a block's 3x3 convolution, and channels of a group in the first stage.
_GROUPS, _WIDTH = 32, 4
#: Blocks of each stage, and channels of the pyramid.
_BLOCKS, _PYRAMID = (3, 4, 6, 3), 256
#: Classes of OpenImages in MLPerf, and anchors at each pixel: three sizes of three aspect ratios.
_CLASSES, _ANCHORS = 264, 9


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Module:
    """A convolution and a batch norm."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class _Block(nn.Module):
    """A bottleneck with grouped convolutions and a residual."""

    def __init__(self, inputs: int, stage: int, stride: int) -> None:
        super().__init__()
        width, outputs = _GROUPS * _WIDTH << stage, 256 << stage
        self.body = nn.Sequential(
            _conv(inputs, width, 1),
            nn.ReLU(),
            _conv(width, width, 3, stride, _GROUPS),
            nn.ReLU(),
            _conv(width, outputs, 1),
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else _conv(inputs, outputs, 1, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.relu(self.body(x) + self.skip(x))
        return result


class _Backbone(nn.Module):
    """ResNeXt-50: images to the features of the last three stages, at strides 8, 16 and 32."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(_conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        stages, channels = [], 64
        for stage, blocks in enumerate(_BLOCKS):
            layers = []
            for index in range(blocks):
                layers.append(_Block(channels, stage, 2 if stage and not index else 1))
                channels = 256 << stage
            stages.append(nn.Sequential(*layers))
        self.stages = nn.ModuleList(stages)

    def forward(self, x: Tensor) -> list[Tensor]:
        x, found = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found[1:]


class _Pyramid(nn.Module):
    """Five levels of features, at strides 8 to 128."""

    def __init__(self) -> None:
        super().__init__()
        channels = (512, 1024, 2048)
        self.inner = nn.ModuleList(nn.Conv2d(each, _PYRAMID, 1) for each in channels)
        self.outer = nn.ModuleList(nn.Conv2d(_PYRAMID, _PYRAMID, 3, 1, 1) for _ in channels)
        self.p6 = nn.Conv2d(_PYRAMID, _PYRAMID, 3, 2, 1)
        self.p7 = nn.Conv2d(_PYRAMID, _PYRAMID, 3, 2, 1)

    def forward(self, features: Sequence[Tensor]) -> list[Tensor]:
        merged = [inner(x) for inner, x in zip(self.inner, features, strict=True)]
        for level in (1, 0):
            merged[level] = merged[level] + nn.functional.interpolate(
                merged[level + 1], scale_factor=2.0, mode="nearest"
            )
        levels = [outer(x) for outer, x in zip(self.outer, merged, strict=True)]
        levels.append(self.p6(levels[-1]))
        levels.append(self.p7(torch.relu(levels[-1])))
        return levels


def _head(outputs: int) -> nn.Module:
    """Four convolutions and the one of the results, for all levels."""
    layers: list[nn.Module] = []
    for _ in range(4):
        layers += [nn.Conv2d(_PYRAMID, _PYRAMID, 3, 1, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(_PYRAMID, outputs, 3, 1, 1))


class Detector(nn.Module):
    """Images, N x 3 x H x W where H and W are multiples of 32, to the logits of the classes, N x
    2376 x h x w, and the regressions of the boxes, N x 36 x h x w, of each level."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.pyramid = _Backbone(), _Pyramid()
        self.classes, self.boxes = _head(_ANCHORS * _CLASSES), _head(_ANCHORS * 4)
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, nn.Conv2d):
                    # Variances stay the same from layer to layer.
                    nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                    if module.bias is not None:
                        nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        levels = self.pyramid(self.backbone(x))
        return [self.classes(each) for each in levels], [self.boxes(each) for each in levels]
