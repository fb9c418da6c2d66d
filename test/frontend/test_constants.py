# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What depends only on constants is evaluated at import, whatever ops it takes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from frontend_checks import check, ops
from torch import Tensor, nn

from convoy.errors import UnsupportedOpsError
from convoy.frontend import import_module


class _Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


def _grid(x: Tensor) -> Tensor:
    rows, columns = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
    return x + (rows - columns)[rows.flip(0), columns]


def _sinusoids(x: Tensor) -> Tensor:
    steps = torch.cumsum(torch.ones(1, 8, dtype=torch.int64), 1) - 1
    angle = torch.einsum("bi,j->bij", steps.float(), 1 / 1e4 ** (torch.arange(4) / 4))
    return x + torch.cat([angle.sin(), angle.cos()], -1)


def _window(x: Tensor) -> Tensor:
    """The mask of shifted windows: regions are written into slices."""
    regions = torch.zeros(8, 8)
    for index, part in enumerate((slice(0, 4), slice(4, 6), slice(6, 8))):
        regions[part] += index
        regions[:, part] += 3 * index
    windows = regions.view(2, 4, 2, 4).permute(0, 2, 1, 3).reshape(4, 16)
    difference = windows[:, None] - windows[:, :, None]
    mask = difference.masked_fill(difference != 0, -100.0)
    return x + mask.sum(-1).reshape(8, 8)


CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "meshgrid_and_index": _grid,
    "cumsum_and_einsum": _sinusoids,
    "slice_scatter": _window,
    "topk": lambda x: x + torch.arange(8.0).sin().topk(3).values.sum(),
    "argmax": lambda x: x + torch.arange(8.0).cos().argmax(),
    "tril": lambda x: x.masked_fill(torch.ones(8, 8).tril() == 0, -1.5),
    "interpolate": lambda x: (
        x
        + nn.functional.interpolate(
            torch.arange(4.0).view(1, 1, 2, 2), (8, 8), mode="bicubic", align_corners=False
        )
    ),
    "complex": lambda x: x + torch.polar(torch.ones(8), torch.arange(8.0)).imag,
    "bucketize": lambda x: x + torch.bucketize(torch.arange(8), torch.tensor([2, 5])),
}


@pytest.mark.parametrize("name", CASES)
def test_constants_are_computed(name: str) -> None:
    check(_Function(CASES[name]), torch.randn(2, 8, 8))


def test_values_are_those_of_pytorch() -> None:
    """Not those of the compiled model's arithmetic, whose type may be narrower."""
    imported = import_module(_Function(_sinusoids).eval(), (torch.randn(2, 8, 8),))
    (value,) = imported.weights.values()
    assert torch.equal(value, _sinusoids(torch.zeros(1, 8, 8)))
    assert imported.constants == imported.weights.keys()
    assert ops(imported.text) == ["add"]


@pytest.mark.parametrize("hidden", [-math.inf, -1e4, None])
def test_a_causal_mask_is_a_comparison_of_indices(hidden: float | None) -> None:
    kept = torch.ones(2, 8, 8, dtype=torch.bool).tril()
    mask = kept if hidden is None else torch.where(kept, 0.0, hidden)

    def function(x: Tensor) -> Tensor:
        return x + mask if hidden is not None else torch.where(mask, x, 7.0)

    imported = check(_Function(function), torch.randn(2, 8, 8))
    assert "iota {dim = 0 : index}" in ops(imported.text)
    assert not imported.weights


@pytest.mark.parametrize("hidden", [-math.inf, True, False])
@pytest.mark.parametrize("window", [1, 3, 7])
def test_a_causal_window_is_two_comparisons_of_indices(window: int, hidden: float | bool) -> None:
    kept = torch.ones(8, 8, dtype=torch.bool).tril().triu(1 - window)
    if isinstance(hidden, bool):
        mask = ~kept if hidden else kept
    else:
        mask = torch.where(kept, 0.0, hidden)

    def function(x: Tensor) -> Tensor:
        return torch.where(mask, x, 7.0) if isinstance(hidden, bool) else x + mask

    imported = check(_Function(function), torch.randn(2, 8, 8))
    assert "iota {dim = 0 : index}" in ops(imported.text)
    assert not imported.weights


def test_a_mask_that_is_nearly_causal_remains() -> None:
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    mask[7, 1] = False
    imported = check(_Function(lambda x: torch.where(mask, x, 7.0)), torch.randn(2, 8, 8))
    assert "iota {dim = 0 : index}" not in ops(imported.text)


class _Buffers(nn.Module):
    scale: Tensor
    table: Tensor
    mask: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.randn(8))
        self.register_buffer("table", torch.randn(8), persistent=False)
        self.register_buffer("mask", torch.randn(8), persistent=False)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale.exp() + self.table.cumsum(0) + self.mask


def test_buffers_of_the_state_dict_are_not_evaluated() -> None:
    """New weights replace them."""
    imported = check(_Buffers(), torch.randn(2, 8, 8))
    assert set(imported.weights) == {"scale", "mask", "cumsum_value"}
    assert imported.constants == {"mask", "cumsum_value"}
    assert imported.unused == ("unused.weight", "unused.bias")
    assert "exp" in ops(imported.text)


def test_repeated_elements_are_stored_once() -> None:
    imported = check(
        _Function(lambda x: x * torch.arange(8.0).cumsum(0).expand(64, 8, 8)), torch.randn(64, 8, 8)
    )
    (value,) = imported.weights.values()
    assert value.shape == (8,)


def test_equal_elements_are_not_stored() -> None:
    imported = check(_Function(lambda x: x + torch.ones(8).cumsum(0).diff()[0]), torch.randn(8, 8))
    assert not imported.weights


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), -0.0])
def test_special_values(value: float) -> None:
    def forward(x: Tensor) -> Tensor:
        return torch.cat([torch.full((8,), value).roll(1), torch.tensor([0.0, -0.0]).flip(0)]) + x

    module = _Function(forward).eval()
    imported = import_module(module, (torch.randn(10),))
    x = torch.full((10,), -0.0)
    from tcp_reference import run_text

    (got,) = run_text(imported.text, (x,), imported.weights)
    expected = forward(x).double()
    assert torch.equal(got.isnan(), expected.isnan())
    assert torch.equal(got.signbit(), expected.signbit())


def test_random_values_are_not_constants() -> None:
    with pytest.raises(UnsupportedOpsError, match="rand"):
        import_module(_Function(lambda x: x + torch.rand(8)).eval(), (torch.randn(8),))


def test_returned_constant() -> None:
    check(_Function(lambda x: torch.arange(6).flip(0) * 2), torch.randn(1))


_EMPTY_CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "returned": lambda x: x[:0].exp(),
    "summed": lambda x: x + x[:0].sum(),
    "mean": lambda x: x + x[:0].mean(0).nan_to_num(2.5),
    "product": lambda x: x + x[:0].prod() + x[:, :0] @ x[:0],
    "concatenated": lambda x: torch.cat([x[:0], x, x[3:3]]),
    "padded": lambda x: x + nn.functional.pad(x[:0], (0, 0, 3, 5), value=2.0),
    "rolled": lambda x: x[:, :0].roll(1, 1),
    "any_all": lambda x: x * (x[:0] > 0).all(),
}


@pytest.mark.parametrize("name", _EMPTY_CASES)
def test_tensors_without_elements(name: str) -> None:
    check(_Function(_EMPTY_CASES[name]), torch.randn(8, 8))


def test_input_without_elements() -> None:
    check(_Function(lambda x: torch.ones(3) + x.sum()), torch.randn(0, 8))
    check(_Function(lambda x: x), torch.randn(0, 8))


def test_sizes_that_depend_on_values_are_reported() -> None:
    with pytest.raises(UnsupportedOpsError, match="nonzero"):
        import_module(_Function(lambda x: x.nonzero() + 1).eval(), (torch.randn(8),))


def test_undefined_values_are_zeros() -> None:
    """Two artifacts of one model are equal."""
    module = _Function(lambda x: x + torch.empty(8).fill_(2) + torch.empty_like(x) * 0).eval()
    imported = import_module(module, (torch.randn(8),))
    assert not imported.weights
    assert ops(imported.text) == ops(import_module(module, (torch.randn(8),)).text)
