# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Branches on values that do not depend on inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from op_cases import Function
from torch import Tensor, nn

import convoy
import convoy_runtime
from convoy.errors import ExportError, UnsupportedOpsError
from convoy_runtime.errors import WeightsError


def _positions(x: Tensor) -> Tensor:
    positions = torch.arange(x.shape[1]).unsqueeze(0) + torch.tensor([2])
    return x * 2 if positions.max() + 1 > 5 else x * 3


def _written(x: Tensor) -> Tensor:
    mask = torch.ones(x.shape)
    first = mask[0]
    first.fill_(0)
    mask[1:, 1] = 4
    return x + 1 if mask.sum().item() == 4 else x - 1


def _several(x: Tensor) -> Tensor:
    lengths = torch.tensor([1, 2])
    kept = torch.split(lengths.cumsum(0), 1)
    parts = [x[:, : int(each)] for each in kept]
    if torch.equal(lengths, torch.tensor([1, 2])) and not lengths.eq(3).any():
        parts.append(x * lengths.tolist()[1])
    return torch.cat(parts, 1)


def _found(x: Tensor) -> Tensor:
    places = torch.tensor([0, 3, 0, 4]).nonzero()[:, 0]
    assert len(places) == 2
    places -= 1
    for place in places:
        x = x + place if place > 0 else x * 2
    return x[:, places] + torch.unique(places + 1).sum()


def _windowed(x: Tensor) -> Tensor:
    """Windows of different lengths, as in the vision tower of Qwen2.5-VL."""
    order = torch.tensor([2, -1, 0, 1, -1])
    order = order[order >= 0]
    ends = torch.unique_consecutive(torch.tensor([0, 2, 2, 3]))
    lengths = (ends[1:] - ends[:-1]).tolist()
    kept = torch.where(torch.bincount(order) > 0)[0]
    parts = torch.split(x[:, order][:, kept], lengths, dim=1)
    return torch.cat([part - part.mean(1, keepdim=True) for part in parts], 1)


def _counted(x: Tensor) -> Tensor:
    count = torch.zeros(())
    while count < 3:
        count += 1
        x = x + count
    return x


_BETAS = torch.linspace(0.1, 0.2, 8)


def _scheduled(x: Tensor) -> Tensor:
    """As a scheduler of diffusers: a table that is made by numpy, and its places by tensors."""
    sigmas = (((1 - _BETAS) / _BETAS) ** 0.5).numpy()
    sigmas[0] = 3
    table = torch.from_numpy(sigmas.astype(np.float32))
    times = torch.from_numpy(np.linspace(0, 7, 3).round().astype(np.int64))
    for time in times:
        places = (times == time).nonzero()
        place = places[1 if len(places) > 1 else 0].item()
        x = x * table[time] + (place if time > 2 else -place)
    return x + torch.tensor([1.0, 2.0]).__array__().sum()


def _padded(x: Tensor) -> Tensor:
    """Sizes in tuples, which PyTorch reads without an op."""
    extra = torch.tensor(7) - x.shape[1]
    y = F.pad(x, (1, extra))
    z = torch.zeros((extra - 1, torch.tensor(8)))
    return torch.cat([y, z]) if y.shape[1] == 8 else y


@pytest.mark.parametrize(
    "function", [_positions, _written, _several, _found, _windowed, _counted, _scheduled, _padded]
)
def test_branches_on_what_the_model_makes(function: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(2, 4)
    model = convoy.compile(Function(function).eval(), (x,), target="cpu")
    torch.testing.assert_close(model(x), function(x))


def _input_is_written(x: Tensor) -> Tensor:
    mask = torch.zeros(x.shape)
    mask[0].copy_(x[0])
    return x if mask.sum() > 0 else -x


def _input_is_added(x: Tensor) -> Tensor:
    total = torch.zeros(())
    total += x.sum()
    return x if total > 0 else -x


@pytest.mark.parametrize("function", [_input_is_written, _input_is_added])
def test_branches_on_other_values(function: Callable[[Tensor], Tensor]) -> None:
    """They are not compiled in: both ways are computed."""
    x = torch.ones(2, 4)
    model = convoy.compile(Function(function).eval(), (x,), target="cpu")
    for each in (x, -x):
        torch.testing.assert_close(model(each), function(each.clone()))


def test_branches_on_random_numbers_are_refused() -> None:
    function = Function(lambda x: x if torch.rand(()) > 0.5 else -x).eval()
    with pytest.raises(UnsupportedOpsError, match="makes random numbers"):
        convoy.compile(function, (torch.ones(2, 4),), target="cpu")


class Weighted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("limit", torch.tensor(3.0))

    def forward(self, x: Tensor) -> Tensor:
        return x if self.limit > 2 else -x


def test_weights_are_not_known() -> None:
    """Other weights can be loaded."""
    x = torch.ones(2)
    with convoy.compile(Weighted().eval(), (x,), target="cpu").load() as program:
        torch.testing.assert_close(program(x), x)
        program.load_weights({"limit": torch.tensor(1.0)})
        torch.testing.assert_close(program(x), -x)


class _Codebook(nn.Module):
    """As the quantizers of audio codecs: flags and sizes in buffers."""

    def __init__(self, *, is_initialized: bool = True) -> None:
        super().__init__()
        self.register_buffer("initialized", torch.tensor([is_initialized]))
        self.register_buffer("sizes", torch.tensor([3, 1]))
        self.register_buffer("stride", torch.tensor(2), persistent=False)
        self.register_buffer("scale", torch.tensor(1.5))
        self.register_buffer("same", self.initialized)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        if not self.initialized:
            x = x * 2
        length = torch.ceil(torch.tensor(x.shape[1]) / self.stride).long() * self.stride
        a, b = x.split(self.sizes.tolist(), 1)
        return F.pad(x, (0, length + 1 - x.shape[1])), a * self.scale, b + self.initialized


def _codebook(x: Tensor, **options: bool) -> convoy.CompiledModel:
    return convoy.compile(_Codebook(**options).eval(), (x,), target="cpu")


@pytest.mark.parametrize("is_initialized", [True, False])
def test_branches_on_buffers(is_initialized: bool) -> None:
    x = torch.randn(2, 4)
    compiled = _codebook(x, is_initialized=is_initialized)
    model = _Codebook(is_initialized=is_initialized)
    for got, expected in zip(compiled(x), model(x), strict=True):
        torch.testing.assert_close(got, expected)
    flag = f"0{int(is_initialized)}"
    assert compiled.manifest.compiled_in == {
        "initialized": flag,
        "same": flag,
        "sizes": "03" + 7 * "00" + "01" + 7 * "00",
    }


def test_buffers_that_are_compiled_in_keep_their_values(tmp_path: Path) -> None:
    x = torch.randn(2, 4)
    _codebook(x).save(tmp_path / "model.convoy")
    program = convoy_runtime.load(tmp_path / "model.convoy")
    state = _Codebook().state_dict() | {"scale": torch.tensor(3.0)}
    program.load_weights(state)
    torch.testing.assert_close(program(x)[1], x[:, :3] * 3)
    message = "its value is not the one that the program is compiled for; compile the model again"
    for name, other in (("initialized", [False]), ("sizes", [1, 3]), ("sizes", [3, 1, 0])):
        with pytest.raises(WeightsError, match=f"{name}: {message}"):
            program.load_weights(state | {name: torch.tensor(other)})


@pytest.mark.parametrize("as_int", [False, True])
def test_sizes_without_branches(as_int: bool) -> None:
    """torch.export has symbols for these sizes, of which no form is static."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("size", torch.tensor(3))
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x: Tensor) -> Tensor:
            size = int(self.size) if as_int else self.size.item()
            return self.norm(x)[:, :size]

    x = torch.randn(2, 4)
    compiled = convoy.compile(Model().eval(), (x,), target="cpu")
    torch.testing.assert_close(compiled(x), Model().eval()(x))
    assert list(compiled.manifest.compiled_in) == ["size"]


class _Weights(nn.Module):
    """Floats of a state dict are weights, which the program takes at any value, and so are large
    tables."""

    def __init__(self, buffer: Tensor) -> None:
        super().__init__()
        self.register_buffer("buffer", buffer)

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if self.buffer.sum() > 0 else x


@pytest.mark.parametrize("buffer", [torch.tensor([1.0]), torch.ones(2000, dtype=torch.int64)])
def test_branches_on_weights_are_not_compiled_in(buffer: Tensor) -> None:
    x = torch.ones(2)
    with convoy.compile(_Weights(buffer).eval(), (x,), target="cpu").load() as program:
        torch.testing.assert_close(program(x), x + 1)
        program.load_weights({"buffer": -buffer})
        torch.testing.assert_close(program(x), x)


class _Changed(nn.Module):
    """Buffers that the model assigns or writes to before it reads them."""

    def __init__(self, change: Callable[[nn.Module, Tensor], object]) -> None:
        super().__init__()
        self.change, self.tied, self.same = change, nn.Linear(3, 3), nn.Linear(3, 3)
        self.same.weight = self.tied.weight
        self.register_buffer("a", torch.tensor(1), persistent=False)
        self.register_buffer("b", torch.tensor(0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.change(self, x)
        return x * 2 if self.a.item() > 0 else x


def _count(module: nn.Module, x: Tensor) -> None:
    module.a = module.a - 1


@pytest.mark.parametrize(
    "change",
    [
        lambda module, x: None,
        _count,
        lambda module, x: module.a.sub_(1),
        lambda module, x: module.a.copy_(module.b),
    ],
)
def test_buffers_that_the_model_changes(change: Callable[[nn.Module, Tensor], object]) -> None:
    x = torch.randn(3)
    compiled = convoy.compile(_Changed(change).eval(), (x,), target="cpu")
    torch.testing.assert_close(compiled(x), _Changed(change)(x))


def _assign(module: nn.Module, x: Tensor) -> None:
    module.a = (x.sum() > 100).long()


def _swap(module: nn.Module, x: Tensor) -> None:
    module.a, module.b = module.b, module.a


def test_a_buffer_that_the_model_assigns() -> None:
    module, x = _Changed(_assign).eval(), torch.randn(3)
    compiled = convoy.compile(module, (x,), target="cpu")
    assert module.a.item() == 1
    for each in (x, x + 100):
        torch.testing.assert_close(compiled(each), module(each))


def test_buffers_that_the_model_swaps() -> None:
    with pytest.raises(ExportError):
        convoy.compile(_Changed(_swap).eval(), (torch.randn(3),), target="cpu")


class _Written(nn.Module):
    """A flag that the model writes before it reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("limit", torch.tensor(3), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        count = self.count.clone()
        count += 2
        count[()] = count + self.limit
        return x + count if count == 5 else x


def test_buffers_through_writes() -> None:
    x = torch.randn(3)
    compiled = convoy.compile(_Written().eval(), (x,), target="cpu")
    torch.testing.assert_close(compiled(x), x + 5)
    assert compiled.manifest.compiled_in == {"count": 8 * "00"}
