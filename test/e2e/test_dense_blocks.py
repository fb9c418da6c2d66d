"""Concats that contain the inputs of earlier ones, on the CPU, against PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import convoy

Join = Callable[[list[torch.Tensor], torch.Tensor], list[torch.Tensor]]

#: How a layer's result joins the inputs of the next concat.
JOINS: dict[str, Join] = {
    "appended": lambda parts, new: [*parts, new],
    "in front": lambda parts, new: [new, *parts],
    "nested": lambda parts, new: [torch.cat(parts, 1), new],
    "around": lambda parts, new: [new, *parts, new],
    "reversed": lambda parts, new: [*reversed(parts), new],
}


class Dense(nn.Module):
    """A dense block whose layers have a norm and an activation before each convolution, or not.

    Args:
        join: How the result of a layer joins the inputs of the next.
        norm: Whether a layer begins with a norm and an activation.
        late: Whether the sum of all layers' inputs is read at the end, after they have grown.
    """

    def __init__(self, join: Join, *, norm: bool, late: bool) -> None:
        super().__init__()
        self.join, self.late = join, late
        self.layers = nn.ModuleList()
        parts = [torch.zeros(1, 8, 1, 1)]
        for _ in range(4):
            channels = torch.cat(parts, 1).shape[1]
            begin = [nn.BatchNorm2d(channels), nn.ReLU()] if norm else []
            self.layers.append(nn.Sequential(*begin, nn.Conv2d(channels, 4, 3, padding=1)))
            parts = join(parts, torch.zeros(1, 4, 1, 1))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Returns the concat of all parts, and what is read late."""
        parts, read = [x], []
        for layer in self.layers:
            together = torch.cat(parts, 1)
            new = layer(together)
            read += [together[:, 1:3], new]
            parts = self.join(parts, new)
        results = [torch.cat(parts, 1)]
        if self.late:
            results.append(sum(torch.tanh(each).mean() for each in read))  # type: ignore[arg-type]
        return results


@torch.no_grad()
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("join", JOINS)
def test_dense_block(join: str, norm: bool, late: bool) -> None:
    torch.manual_seed(0)
    module = Dense(JOINS[join], norm=norm, late=late).eval()
    x = torch.randn(2, 8, 9, 7)
    results = convoy.compile(module, (x,), target="cpu")(x)
    wanted = module.double()(x.double())
    assert len(results) == len(wanted)
    for result, exact in zip(results, wanted, strict=True):
        torch.testing.assert_close(result.double(), exact, rtol=1e-5, atol=1e-5)
