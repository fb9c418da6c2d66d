"""Models whose results `convoy run --check` compares."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn


class Function(nn.Module):
    """A module that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


def _inputs(count=1):
    torch.manual_seed(0)
    return tuple(torch.rand(4, 4) for _ in range(count))


def nested():
    """Results in a dict of a tensor and a tuple."""
    return Function(lambda x, y: {"a": x @ y, "b": (x + y, x * y)}).eval(), _inputs(2)


def nested_wrong():
    """Another product than that of `nested` in one of the results."""
    return Function(lambda x, y: {"a": x @ y, "b": (x + y, x * y * 1.001)}).eval(), _inputs(2)


def structured():
    """Inputs in a dict and a list."""
    x, y, z = _inputs(3)
    return Function(lambda d, more: d["x"] @ d["y"] + more[0]).eval(), ({"x": x, "y": y}, [z])


def named():
    """Results in a named tuple."""
    return Function(lambda x: Pair(x.relu(), x.exp())).eval(), _inputs()


def integers():
    """Integers, booleans and floats."""
    return Function(
        lambda x: {"n": (x * 9).to(torch.int32), "p": x > 0.5, "x": x}
    ).eval(), _inputs()


def integers_wrong():
    """One off in an integer."""
    return Function(
        lambda x: {"n": (x * 9).to(torch.int32) + 1, "p": x > 0.5, "x": x}
    ).eval(), _inputs()


def infinities():
    """NaN and both infinities."""
    return Function(lambda x: ((x - x) / (x - x), 1 / (x - x), -1 / (x - x), x)).eval(), _inputs()


def cancels():
    """Loses most digits of float32."""
    return Function(lambda x: (x * 1e4 + 0.3) - x * 1e4).eval(), _inputs()


def layers():
    """Convolutions and a product."""
    torch.manual_seed(0)
    parts = nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Flatten(), nn.Linear(128, 10)
    return nn.Sequential(*parts).eval(), (torch.randn(1, 3, 8, 8),)


class _Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = nn.Parameter(torch.randn(3, dtype=torch.complex64))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x) * self.filter, 4)


def spectrum():
    """Complex numbers, also as weights."""
    torch.manual_seed(0)
    return _Filter().eval(), _inputs()
