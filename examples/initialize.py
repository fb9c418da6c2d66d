# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Weights of the example models: a state dict from a file, or random ones from a fixed seed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn

__all__ = ["initialize"]


def initialize(
    model: nn.Module,
    weights: str | None,
    generator: torch.Generator,
    *,
    mode: Literal["fan_in", "fan_out"] = "fan_out",
) -> None:
    """Loads the state dict in `weights` into `model`, or generates random weights.

    Args:
        model: A convolutional network. The last batch norm of a residual block is named `bn3`.
        weights: A `.safetensors` file or a file from `torch.save`. None for random weights, scaled
            so that activations stay in range, with batch norm statistics that differ from the
            identity.
        generator: The source of random weights.
        mode: The mode of `nn.init.kaiming_normal_`; `fan_in` suits layers with many more inputs
            than outputs.
    """
    if weights:
        model.load_state_dict(_read(Path(weights)))
    else:
        _randomize(model, generator, mode)


def _read(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def _randomize(
    model: nn.Module, generator: torch.Generator, mode: Literal["fan_in", "fan_out"]
) -> None:
    """Kaiming initialization of convolutions. The last batch norm of a block is scaled down, so
    that the sum of many blocks does not grow."""
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(
                    module.weight, mode=mode, nonlinearity="relu", generator=generator
                )
            elif isinstance(module, nn.BatchNorm2d):
                last = name.endswith("bn3")
                low, high = (0.2, 0.4) if last else (0.8, 1.2)
                module.weight.uniform_(low, high, generator=generator)
                module.bias.uniform_(-0.1, 0.1, generator=generator)
                module.running_mean.uniform_(-0.1, 0.1, generator=generator)
                module.running_var.uniform_(0.8, 1.2, generator=generator)
