# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a model of the zoo is, and how those of libraries are created."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Inputs", "Last", "Model", "image", "narrowed", "of_timm", "of_torchvision", "tokens"]

Inputs = tuple[Tensor, ...]


@dataclass(frozen=True)
class Model:
    """A model of the zoo.

    Attributes:
        module: Creates the module, in evaluation mode, in float32.
        inputs: Creates the inputs of a batch; floats are float32.
        batches: The sizes of batches that are measured.
    """

    module: Callable[[], nn.Module]
    inputs: Callable[[int], Inputs]
    batches: tuple[int, ...] = (1, 32)

    def build(self, batch: int) -> tuple[nn.Module, Inputs]:
        """Creates the module and its inputs from seed 0."""
        torch.manual_seed(0)
        module = self.module().eval()
        for parameter in module.parameters():
            # Classifiers of torchvision begin with zeros, whose results could not be compared.
            if not parameter.any():
                nn.init.normal_(parameter, std=0.02)
        return module, self.inputs(batch)


#: The memory format of images and volumes, by rank.
_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def narrowed(module: nn.Module, inputs: Inputs, dtype: str) -> tuple[nn.Module, Inputs]:
    """A module and its inputs as all runners of a row get them: in its dtype, channels-last.

    Args:
        module: The module, which is converted in place.
        inputs: Its inputs. Integers keep their dtype.
        dtype: The name of the dtype.
    """
    to = getattr(torch, dtype)
    ranks = {each.dim() for each in module.parameters()}
    module = module.to(to).to(memory_format=_FORMATS[5 if 5 in ranks else 4])
    floats = (each.to(to) if each.is_floating_point() else each for each in inputs)
    return module, tuple(
        each.to(memory_format=_FORMATS[each.dim()]) if each.dim() in _FORMATS else each
        for each in floats
    )


def image(size: int = 224) -> Callable[[int], Inputs]:
    """Creates images.

    Args:
        size: Their height and width.
    """
    return lambda batch: (torch.rand(batch, 3, size, size),)


def of_torchvision(
    name: str,
    *,
    inputs: Callable[[int], Inputs] | None = None,
    batches: tuple[int, ...] = (1, 32),
    **options: Any,
) -> Model:
    """A model of torchvision.

    Args:
        name: The name of its function in `torchvision.models`, which may have dots.
        inputs: As in `Model`; images of 224 pixels by default.
        batches: As in `Model`.
        **options: The arguments of the function.
    """

    def create() -> nn.Module:
        from torchvision import models

        module: nn.Module = attrgetter(name)(models)(weights=None, **options)
        return module

    return Model(create, inputs or image(), batches)


def of_timm(name: str, size: int = 224, batches: tuple[int, ...] = (1, 32)) -> Model:
    """A model of timm.

    Args:
        name: Its name.
        size: The height and width of its images.
        batches: As in `Model`.
    """

    def create() -> nn.Module:
        import timm

        module: nn.Module = timm.create_model(name, pretrained=False)
        return module

    return Model(create, image(size), batches)


class Last(nn.Module):
    """A model of transformers with positional inputs and a tensor as its result."""

    def __init__(self, model: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs: Tensor) -> Tensor:
        result: Tensor = self.model(**dict(zip(self.names, inputs, strict=True)))[0]
        return result


def tokens(length: int, *, masked: bool) -> Callable[[int], Inputs]:
    """Creates ids of tokens.

    Args:
        length: The tokens of a sequence.
        masked: Whether there is a mask, with sequences of different lengths.
    """

    def inputs(batch: int) -> Inputs:
        ids = torch.randint(0, 30000, (batch, length))
        lengths = torch.randint(length // 2, length + 1, (batch, 1))
        mask = (torch.arange(length) < lengths).long()
        return (ids, mask) if masked else (ids,)

    return inputs
