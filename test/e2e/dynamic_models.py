"""Models with dynamic sizes, for several tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import Dim

import convoy
from convoy.dynamic.model import DynamicModel

__all__ = ["BATCH", "Head", "Tokens", "close_to", "compiled"]

BATCH = Dim("batch", min=1, max=8)


class Head(torch.nn.Module):
    """A convolution, a mean and a product."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.linear(self.conv(image).relu().mean((2, 3)))


class Tokens(torch.nn.Module):
    """Embeddings, masked attention and a nested result."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 16)
        self.positions = torch.nn.Embedding(32, 16)
        self.layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> Mapping[str, torch.Tensor]:
        x = self.embedding(ids) + self.positions(torch.arange(ids.shape[1]))
        x = self.layer(x, src_key_padding_mask=~mask)
        return {"all": x, "first": x[:, 0]}


def compiled(module: torch.nn.Module, inputs: tuple[Any, ...], **options: Any) -> DynamicModel:
    model = convoy.compile(module.eval(), inputs, target="cpu", **options)
    assert isinstance(model, DynamicModel)
    return model


def close_to(got: Any, wanted: Any) -> None:
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
