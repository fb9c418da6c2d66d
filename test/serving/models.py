"""The models of the tests in this folder. `python test/serving/build_artifacts.py` compiles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.export import Dim

__all__ = ["MODELS", "Model"]

#: The points of the models with a dynamic batch.
POINTS = [1, 4, 16]
BATCH = Dim("batch", min=1, max=POINTS[-1])
LENGTH = Dim("length", min=8, max=512)


@dataclass(frozen=True)
class Model:
    """A model to compile.

    Attributes:
        make: Returns the module and its example inputs for a seed.
        dynamic_shapes: That of `torch.export`; None for static shapes.
        points: The sizes to compile.
        target: The target of the compilation.
        seeds: Suffix of a file name to the seed of its weights. Each seed becomes an artifact and a
            file of weights.
    """

    make: Callable[[int], tuple[nn.Module, tuple[torch.Tensor, ...]]]
    dynamic_shapes: Mapping[str, Any] | None = None
    points: Mapping[str, list[int]] | None = None
    target: str = "cpu"
    seeds: Mapping[str, int] = field(default_factory=lambda: {"": 0})


def mlp(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Static shapes: float32[2, 8] to float32[2, 4]."""
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    return module.eval(), (torch.randn(2, 8),)


def cnn(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A dynamic batch, which is padded: float32[batch, 3, 16, 16] to float32[batch, 10]."""
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    head = nn.Sequential(nn.Flatten(), nn.Linear(16, 10))
    return nn.Sequential(body, head).eval(), (torch.randn(2, 3, 16, 16),)


class Mixed(nn.Module):
    """Token ids of type int64 and features of type float16; results of both types in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 8)
        self.head = nn.Linear(8, 4)

    def forward(self, ids: torch.Tensor, features: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.embedding(ids).sum(dim=1) + features.float()
        scores = self.head(hidden)
        return {"best": scores.argmax(dim=1), "scores": scores.half()}


def mixed(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """int64[batch, 5] and float16[batch, 8] to int64[batch] and float16[batch, 4]."""
    torch.manual_seed(seed)
    return Mixed().eval(), (torch.randint(0, 100, (2, 5)), torch.randn(2, 8).half())


class Centered(nn.Module):
    """Subtracts the mean of the batch, so that rows depend on each other."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - x.mean(dim=0, keepdim=True)


def centered(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A dynamic batch that is not padded: float32[batch, 8] to the same."""
    torch.manual_seed(seed)
    return Centered().eval(), (torch.randn(2, 8),)


class Kinds(nn.Module):
    """An input and a result of each element type but those of `mixed`, one of each a scalar."""

    def forward(self, flags: torch.Tensor, narrow: torch.Tensor, wide: torch.Tensor,
                byte: torch.Tensor, small: torch.Tensor, short: torch.Tensor, count: torch.Tensor,
                scale: torch.Tensor) -> dict[str, torch.Tensor]:  # fmt: skip
        return {
            "flags": ~flags,
            "narrow": narrow * 2,
            "wide": wide * scale,
            "byte": byte + 1,
            "small": small * 2,
            "short": short * 2,
            "count": count * 2,
            "total": wide.sum() * scale,
        }


def kinds(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Static shapes: [2, 3], and a scalar."""
    x = torch.arange(6).reshape(2, 3) + seed
    arrays = (x > 2, x.bfloat16(), x.double(), x.byte(), x.char(), x.short(), x.int())
    return Kinds().eval(), (*arrays, torch.tensor(2.0, dtype=torch.float64))


class Lengths(nn.Module):
    """The sums of sequences, and their elements times two."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.sum(dim=1), x * 2


def lengths(seed: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A dynamic batch and a length that only points have: float32[batch, length] to float32[batch]
    and float32[batch, length]."""
    torch.manual_seed(seed)
    return Lengths().eval(), (torch.randn(2, 8),)


#: Name of an artifact to its model.
MODELS = {
    "mlp": Model(mlp),
    "mlp-cuda": Model(mlp, target="cuda"),
    "cnn": Model(cnn, {"input": {0: BATCH}}, {"batch": POINTS}, seeds={"": 0, "-new": 1}),
    "mixed": Model(mixed, {"ids": {0: BATCH}, "features": {0: BATCH}}, {"batch": POINTS}),
    "centered": Model(centered, {"x": {0: BATCH}}, {"batch": POINTS}),
    "kinds": Model(kinds),
    "lengths": Model(lengths, {"x": {0: BATCH, 1: LENGTH}}, {"batch": POINTS, "length": [8, 512]}),
}
