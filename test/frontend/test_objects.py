# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Objects of classes that PyTorch does not know as structures, among arguments and results."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy.errors import InputError
from convoy_runtime import ArgumentError


class Layer:
    """A layer of a cache as those of transformers, with more than tensors."""

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.dtype: torch.dtype | None = None
        self.is_used = False

    def update(self, keys: Tensor) -> Tensor:
        if self.keys is None:
            self.keys = torch.tensor([], dtype=keys.dtype)
            self.dtype = keys.dtype
        self.keys = torch.cat([self.keys, keys], dim=-2)
        self.is_used = True
        return self.keys


class Window(Layer):
    """A layer of another class, with a constant tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.size = torch.tensor(2)

    def update(self, keys: Tensor) -> Tensor:
        every = super().update(keys)
        self.keys = every[..., -2:, :]
        return every


class Stateless:
    """A layer of a cache that keeps nothing, as that of a feed-forward block."""

    def __init__(self) -> None:
        self.is_used = False

    def update(self, keys: Tensor) -> Tensor:
        self.is_used = True
        return keys


class Cache:
    def __init__(self, *kinds: type[Layer | Stateless]) -> None:
        self.layers = [kind() for kind in kinds]
        self.make = Layer


class Decoder(nn.Module):
    def __init__(self, *kinds: type[Layer]) -> None:
        super().__init__()
        self.kinds = kinds

    def forward(self, x: Tensor, cache: Cache | None = None) -> dict[str, Any]:
        cache = Cache(*self.kinds) if cache is None else cache
        for layer in cache.layers:
            x = x + layer.update(x).sum(-2, keepdim=True)
        return {"x": x, "cache": cache}


@pytest.mark.parametrize("kinds", [(Layer, Layer), (Layer, Window)])
def test_a_cache_is_a_result_and_then_an_argument(kinds: Any) -> None:
    """Of the second case, a class is known already, and that of an attribute is not."""
    module = Decoder(*kinds).eval()
    prompt, token = torch.randn(1, 3, 4), torch.randn(1, 1, 4)
    expected = module(prompt)
    first = convoy.compile(module, (prompt,), target="cpu")
    got = first(prompt)
    torch.testing.assert_close(got["x"], expected["x"])
    for layer, own in zip(got["cache"].layers, expected["cache"].layers, strict=True):
        assert type(layer) is SimpleNamespace
        assert layer.is_used is True
        torch.testing.assert_close(layer.keys, own.keys)
    names = [spec.name for spec in first.manifest.outputs]
    assert names[:3] == ["x", "cache.layers.0.keys", "cache.layers.1.keys"]

    cache = expected["cache"]
    after = module(token, copy.deepcopy(cache))
    step = convoy.compile(module, (token, copy.deepcopy(cache)), target="cpu")
    for given in (cache, got["cache"]):
        results = step(token, given)
        torch.testing.assert_close(results["x"], after["x"])
        torch.testing.assert_close(results["cache"].layers[1].keys, after["cache"].layers[1].keys)
    # The arguments are as they were.
    assert cache.layers[0].keys.shape == (1, 3, 4)


def test_objects_without_tensors_beside_objects_with_tensors() -> None:
    module, x = Decoder(Layer, Stateless).eval(), torch.randn(1, 3, 4)
    results = convoy.compile(module, (x,), target="cpu")(x)
    layer, stateless = results["cache"].layers
    torch.testing.assert_close(layer.keys, x)
    assert stateless.is_used is True


class Number:
    def __init__(self, x: Tensor, factor: int, kind: str) -> None:
        self.x, self.factor, self.kind = x, factor, kind
        self.device = x.device


class Scaled(nn.Module):
    def forward(self, number: Number) -> Tensor:
        return number.x * number.factor if number.kind == "times" else number.x


def test_numbers_among_attributes_are_compiled_in() -> None:
    x = torch.randn(3)
    program = convoy.compile(Scaled().eval(), (Number(x, 3, "times"),), target="cpu")
    torch.testing.assert_close(program(Number(x, 3, "times")), x * 3)
    with pytest.raises(
        ArgumentError, match=r"argument 0\.factor: is compiled in: expected 3, got 4"
    ):
        program(Number(x, 4, "times"))
    with pytest.raises(ArgumentError, match=r"has another structure: expected .*\.Number with the"):
        program(SimpleNamespace(x=x, factor=3))


@dataclass
class Scores:
    values: Tensor
    count: int = 2


@dataclass
class Placed:
    values: Tensor
    device: torch.device


class Scoring(nn.Module):
    def forward(self, x: Tensor) -> tuple[Scores, Placed]:
        return Scores(x + 1), Placed(x + 2, x.device)


def test_results_that_are_dataclasses() -> None:
    """One with another field than tensors and numbers cannot be made."""
    x = torch.randn(3)
    scores, placed = convoy.compile(Scoring().eval(), (x,), target="cpu")(x)
    assert type(scores) is Scores
    assert scores.count == 2
    torch.testing.assert_close(scores.values, x + 1)
    assert type(placed) is SimpleNamespace
    torch.testing.assert_close(placed.values, x + 2)


class Linked:
    def __init__(self, x: Tensor) -> None:
        self.x, self.other = x, self


class Grouped:
    def __init__(self, x: Tensor) -> None:
        self.factor, self.group = x, {x}


class Keyed(dict[str, Tensor]):
    pass


class Named:
    def __init__(self, x: Tensor) -> None:
        self.factor, self.table = x, Keyed(x=x)


@pytest.mark.parametrize("kind", [Linked, Grouped, Named])
def test_objects_that_are_not_structures(kind: Any) -> None:
    """Their tensors would be compiled in."""
    with pytest.raises(InputError, match=f"expected a tensor, .*, got '{kind.__name__}'"):
        convoy.compile(Scaled().eval(), (kind(torch.ones(3)),), target="cpu")


class _Window:
    """The name of one attribute begins with that of another one."""

    def __init__(self) -> None:
        self.count = torch.full((2,), 3.0)
        self.count_so_far = 3


class _Counted(nn.Module):
    def forward(self, x: Tensor, window: _Window) -> Tensor:
        return x * window.count + window.count_so_far


def test_names_that_begin_with_other_names() -> None:
    model = convoy.compile(_Counted().eval(), (torch.ones(2), _Window()), target="cpu")
    assert [each.name for each in model.manifest.inputs] == ["x", "window_count"]
    torch.testing.assert_close(
        torch.as_tensor(model(torch.ones(2), _Window())), torch.full((2,), 6.0)
    )
