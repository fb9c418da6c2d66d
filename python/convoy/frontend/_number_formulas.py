# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Formulas of ops with a number that no overload takes as a tensor. Numbers are tensors without
dims; the parameters are those of the op's schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["FORMULAS", "INDICES"]

aten = torch.ops.aten


def _add(self: Tensor, other: Tensor, alpha: Tensor) -> Tensor:
    return self + other * alpha


def _sub(self: Tensor, other: Tensor, alpha: Tensor) -> Tensor:
    return self - other * alpha


def _rsub(self: Tensor, other: Tensor, alpha: Tensor) -> Tensor:
    return other - self * alpha


def _addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor) -> Tensor:
    return self + tensor1 * value * tensor2


def _addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor) -> Tensor:
    return self + tensor1 * value / tensor2


def _leaky_relu(self: Tensor, negative_slope: Tensor) -> Tensor:
    return torch.where(self > 0, self, self * negative_slope)


def _elu(self: Tensor, alpha: Any, scale: Any, input_scale: Any) -> Tensor:
    negative = torch.expm1(self * input_scale) * (alpha * scale)
    return torch.where(self > 0, self * scale, negative)


def _threshold(self: Tensor, threshold: Any, value: Any) -> Tensor:
    return torch.where(self <= threshold, value, self)


def _softplus(self: Tensor, beta: Any, threshold: Any) -> Tensor:
    scaled = self * beta
    return torch.where(scaled > threshold, self, torch.log1p(torch.exp(scaled)) / beta)


def _scatter(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    return torch.scatter(self, dim, index, value.expand(index.shape))


def _scatter_reduce(self: Tensor, dim: int, index: Tensor, value: Tensor, reduce: str) -> Tensor:
    return torch.scatter(self, dim, index, value.expand(index.shape), reduce=reduce)


def _select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    indices = [None] * (dim % self.ndim) + [index]
    result: Tensor = aten.index.Tensor(self, indices)
    return result


def _select_scatter(self: Tensor, src: Tensor, dim: int, index: Tensor) -> Tensor:
    return torch.index_copy(self, dim, _places(self, dim, index, 1), src.unsqueeze(dim))


def _slice(self: Tensor, dim: int, start: Any, end: Any, step: int, result: Tensor) -> Tensor:
    places = _places(self, dim, start, result.shape[dim], step)
    return torch.index_select(self, dim, places)


def _slice_scatter(self: Tensor, src: Tensor, dim: int, start: Any, end: Any, step: int) -> Tensor:
    return torch.index_copy(self, dim, _places(self, dim, start, src.shape[dim], step), src)


def _arange(start: Any, end: Any, result: Tensor, step: Any = 1, **_: Any) -> Tensor:
    steps = torch.arange(result.shape[0], device=result.device)
    made: Tensor = start + steps * step
    return made


def _places(x: Tensor, dim: int, start: Any, count: int, step: int = 1) -> Tensor:
    """Indices of `x`; a negative start is counted from the end."""
    first = torch.as_tensor(0 if start is None else start, device=x.device)
    first = torch.where(first < 0, first + x.shape[dim], first)
    return first + torch.arange(0, count * step, step, device=x.device)


#: A formula may have the fake `result` as a parameter. All sizes are static.
FORMULAS: dict[Any, Callable[..., Tensor]] = {
    aten.add.Tensor: _add,
    aten.sub.Tensor: _sub,
    aten.rsub.Scalar: _rsub,
    aten.addcmul.default: _addcmul,
    aten.addcdiv.default: _addcdiv,
    aten.arange.start: _arange,
    aten.arange.start_step: _arange,
    aten.leaky_relu.default: _leaky_relu,
    aten.elu.default: _elu,
    aten.threshold.default: _threshold,
    aten.softplus.default: _softplus,
    aten.scatter.value: _scatter,
    aten.scatter.value_reduce: _scatter_reduce,
    aten.select.int: _select,
    aten.select_scatter.default: _select_scatter,
    aten.slice.Tensor: _slice,
    aten.slice_scatter.default: _slice_scatter,
}
#: Those whose numbers are indices.
INDICES = (
    aten.select.int,
    aten.select_scatter.default,
    aten.slice.Tensor,
    aten.slice_scatter.default,
)
