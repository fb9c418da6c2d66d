# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Memory that a compiled graph shares with its caller: weights that change between calls, and
results that are views of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import convoy.torch_compile as backend


def _linear() -> nn.Sequential:
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU()).eval()


def _replace(model: nn.Sequential, value: Tensor) -> None:
    """A new parameter, whose memory may be that of the old one."""
    del model[0].weight
    model[0].weight = nn.Parameter(value.clone())


def _replace_data(model: nn.Sequential, value: Tensor) -> None:
    model[0].weight.data = torch.empty(0)
    model[0].weight.data = value.clone()


def _write_data(model: nn.Sequential, value: Tensor) -> None:
    model[0].weight.data.copy_(value)
    backend.weights_changed()


def _write_array(model: nn.Sequential, value: Tensor) -> None:
    model[0].weight.detach().numpy()[:] = value.numpy()
    backend.weights_changed()


@pytest.mark.parametrize("change", [_replace, _replace_data, _write_data, _write_array])
@torch.no_grad()
def test_weights_that_change(
    compiled: Callable[..., Any], change: Callable[[nn.Sequential, Tensor], None]
) -> None:
    model, x = _linear(), torch.randn(2, 512)
    run = compiled(model)
    values = [torch.randn(512, 512) / 16 for _ in range(6)]
    for value in values:
        torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-4)
        change(model, value)
    torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-4)
    assert backend.reports()[0].parts


@torch.inference_mode()
def test_weights_of_inference_mode(compiled: Callable[..., Any]) -> None:
    """PyTorch does not count writes to them."""
    model, x = _linear(), torch.randn(2, 512)
    run = compiled(model)
    for _ in range(3):
        torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-4)
        model[0].weight.mul_(1.5)
    assert backend.reports()[0].parts


@torch.no_grad()
def test_a_buffer_with_the_negative_bit(compiled: Callable[..., Any]) -> None:
    model = nn.Module()
    model.register_buffer("table", torch.randn(8, 8, dtype=torch.complex64).conj().imag)
    model.forward = lambda x: x @ model.table
    assert model.table.is_neg()
    x = torch.randn(2, 8)
    torch.testing.assert_close(compiled(model)(x), model(x))
    assert backend.reports()[0].parts


@torch.no_grad()
def test_results_that_are_views_of_others(compiled: Callable[..., Any]) -> None:
    weight = torch.randn(8, 8)

    def views(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
        y = (x @ weight).relu()
        z = y.mT @ y
        halves = y.chunk(2, 1)
        broadcast = x.sum(1, keepdim=True).expand(4, 8)
        other = {"z": z, "flat": z.view(-1), "alone": (x @ weight).tanh()[1:], "wide": broadcast}
        return {"y": y, "turned": y.T, "part": y[1:, 2:5], "halves": halves, "x": x.T, **other}

    run, x = compiled(views), torch.randn(4, 8)
    results = [views(x), run(x)]
    for each in results:
        each["y"].mul_(2)
        each["halves"][1].fill_(3)
        each["z"].zero_()
    expected, got = (torch.utils._pytree.tree_leaves(each) for each in results)
    for one, other in zip(expected, got, strict=True):
        torch.testing.assert_close(other, one)
        assert other.stride() == one.stride()
    (report,) = backend.reports()
    assert len(report.parts) == 1
    assert {reason for _, reason in report.left} == {"it is a view that the graph returns"}
