"""The compiled models whose artifacts are fuzzed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from artifact_mutations import Sample
from safetensors.torch import save
from torch import Tensor, nn

import convoy

__all__ = ["compile_samples"]


class Small(nn.Module):
    """A convolution, a product, a constant, and a weight with two names."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3, padding=1)
        self.linear = nn.Linear(5, 7, bias=False)
        self.again = self.linear
        self.register_buffer("scale", torch.arange(7.0), persistent=False)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        z = torch.relu(self.conv(x)).mean((2, 3))
        return self.linear(z) * self.scale + y, torch.softmax(z, 1)


class Residual(nn.Module):
    """A graph that both cuDNN and hand-written kernels compute: a convolution with bias, residual
    and relu."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(torch.relu(self.conv(x) + x))


class Plain(nn.Module):
    """No weights."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(x * 2 + 1, 1)


def compile_samples() -> list[Sample]:
    """The artifacts, in a fixed order."""
    torch.manual_seed(0)
    small, residual = Small().eval(), Residual().eval()
    inputs = (torch.zeros(2, 3, 6, 5), torch.zeros(2, 7))
    image = (torch.zeros(1, 8, 6, 6),)
    state = {name: tensor.clone() for name, tensor in small.state_dict().items()}
    cpu = convoy.compile(small, inputs, target="cpu")
    cuda = convoy.compile(residual, image, target="cuda", dtype="float16")
    plain = convoy.compile(Plain().eval(), (torch.zeros(3, 11),), target="cpu")
    return [
        Sample("cpu", _content(cpu), "cpu"),
        Sample("cuda", _content(cuda), "cuda"),
        Sample("cpu without weights", _content(cpu, weights=False), "cpu", save(state)),
        Sample("cpu that has no weights", _content(plain), "cpu"),
    ]


def _content(model: convoy.CompiledModel, *, weights: bool = True) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.convoy"
        model.save(path, weights=weights)
        return path.read_bytes()
