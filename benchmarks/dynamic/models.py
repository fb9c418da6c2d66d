# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The models with dynamic sizes: ResNet-50 (batch), BERT-base (batch and length) and a U-Net (size
of the image)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import Dim

from benchmarks.zoo.models import ZOO

__all__ = ["MODELS", "DynamicModel"]


@dataclass(frozen=True)
class DynamicModel:
    """A model, its dynamic sizes and its points.

    Attributes:
        build: Returns the module in evaluation mode.
        inputs: Example inputs for values of the symbols.
        shapes: `dynamic_shapes` of torch.export.
        points: Name of a symbol to its values, for all combinations.
        between: Values between the points, whose calls are padded.
    """

    build: Callable[[], torch.nn.Module]
    inputs: Callable[[Mapping[str, int]], tuple[torch.Tensor, ...]]
    shapes: Any
    points: Mapping[str, Sequence[int]]
    between: Sequence[Mapping[str, int]]


def _tokens(values: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    shape = values["batch"], values["length"]
    return torch.randint(0, 30000, shape), torch.ones(shape, dtype=torch.long)


def _images(values: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    size = 16 * values["size"]
    return (torch.randn(1, 3, size, size),)


_BATCH, _FEW = Dim("batch", min=1, max=64), Dim("batch", min=1, max=16)
_LENGTH, _SIZE = Dim("length", min=64, max=512), Dim("size", min=8, max=32)

#: Name to model.
MODELS = {
    "resnet50": DynamicModel(
        lambda: ZOO["resnet50"].build(1)[0],
        lambda values: (torch.randn(values["batch"], 3, 224, 224),),
        ({0: _BATCH},),
        {"batch": (1, 2, 4, 8, 16, 32, 64)},
        [{"batch": 3}, {"batch": 13}, {"batch": 50}],
    ),
    "bert_base": DynamicModel(
        lambda: ZOO["bert_base_128"].build(1)[0],
        _tokens,
        (({0: _FEW, 1: _LENGTH}, {0: _FEW, 1: _LENGTH}),),  # of forward(*inputs)
        {"batch": (1, 4, 16), "length": (64, 128, 256, 512)},
        [{"batch": 3, "length": 128}, {"batch": 11, "length": 64}],
    ),
    "unet": DynamicModel(
        lambda: ZOO["unet_bilinear"].build(1)[0],
        _images,
        ({2: 16 * _SIZE, 3: 16 * _SIZE},),
        {"size": (8, 16, 24)},
        [],
    ),
}
