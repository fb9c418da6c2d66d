# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases for ops that other ops take the place of: ops that run graphs, ops of other
libraries, and Python code that torch.export does not record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import Tensor, nn
from torch._higher_order_ops.map import map as higher_order_map
from torch._higher_order_ops.scan import scan
from torch.distributions import Categorical, Normal
from torch.nn import functional as F
from torch.nn.attention.flex_attention import flex_attention

__all__ = ["INLINED_CASES"]

_SCALES = torch.tensor([0.2, 0.11, 0.3, 0.07])
_ZEROS = torch.tensor([0, 1, -2, 3], dtype=torch.int32)
_BYTES = torch.tensor([[3, -4, 127, -128], [0, 7, -2, 100]], dtype=torch.int8)
_COUNTS = torch.tensor([2, 0, 3])
_QUANTIZED = torch.ops.quantized_decomposed


@torch.library.custom_op("convoy_test::shifted", mutates_args=())
def _shifted(x: Tensor, by: int, others: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Writes to a tensor of its own."""
    y = x.clone()
    y[0].add_(by)
    return y, torch.stack(others).sum(0)


@_shifted.register_fake
def _(x: Tensor, by: int, others: list[Tensor]) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(others[0])


@torch.library.custom_op("convoy_test::outer", mutates_args=())
def _outer(x: Tensor) -> Tensor:
    """Calls another one."""
    return _shifted(x, 1, [x])[0].sigmoid()


@_outer.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def _cond(x: Tensor) -> tuple[Tensor, ...]:
    """The branch that is not taken has NaN."""
    both: tuple[Tensor, ...] = torch.cond(
        (x > 0).all(), lambda x: (x.sqrt(), x + 1), lambda x: (x * 2, x - 1), (x,)
    )
    inner = torch.cond(
        x.sum() > 100,
        lambda x: x + 1,
        lambda x: torch.cond(x.max() > 0, lambda x: x - 1, lambda x: x * 3, (x,)),
        (x,),
    )
    return (*both, inner)


def _scan(x: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    forward = scan(lambda h, x: ((h * 0.5 + x).tanh(), h + x), h, x)
    backward = scan(lambda h, x: (h * x, h - x), h, x, reverse=True)
    return (*forward, backward[1])


def _flex(q: Tensor, k: Tensor, slopes: Tensor) -> Tensor:
    """Causal attention with a slope for each head."""

    def modified(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return torch.where(i >= j, score + slopes[h] * (j - i), -float("inf"))

    found: Tensor = flex_attention(q, k, k, score_mod=modified, enable_gqa=True)
    return found


class _Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.layers(x, mask=mask)
        return found


class _Data(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.data) * self.layer.weight.data.norm()


class _AssignedData(nn.Module):
    """Fuses the weights of a 1x1 and a 3x3 convolution into a third one. The data of a buffer is a
    view of a tensor that an in-place op changes afterwards."""

    state: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 2, 1), nn.Conv2d(2, 4, 3)
        self.merged = nn.Conv2d(3, 4, 3)
        self.register_buffer("state", torch.zeros(1))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        first, second = self.first.weight.data.clone(), self.second.weight.data
        self.merged.weight.data = (second.transpose(1, 3) @ first[:, :, 0, 0]).transpose(1, 3)
        bias = second.sum((2, 3)) @ self.first.bias.data + self.second.bias.data
        self.merged.bias.data = bias.contiguous()
        rows = x.mean((2, 3))
        self.state.data = rows
        before = self.state * 2
        rows.add_(1)
        return self.merged(x), before, torch.cat([self.state, self.state.data.exp()])


INLINED_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    ("cond", _cond, (2, 3)),
    ("scan", _scan, (4, 2, 3), (2, 3)),
    ("map", lambda x, y: higher_order_map(lambda row, y: (row @ y, row + 1), x, y), (4, 2, 3), (3, 2)),
    ("flex_attention", _flex, (1, 4, 6, 8), (1, 2, 6, 8), (4,)),
    ("custom_op", lambda x: (*_shifted(x, 3, [x, x * 2]), _outer(x)), (2, 3)),
    ("quantize_dequantize", lambda x: _QUANTIZED.dequantize_per_tensor(_QUANTIZED.quantize_per_tensor(x.float(), 0.1, 3, -128, 127, torch.int8), 0.1, 3, -128, 127, torch.int8), (2, 3)),
    ("dequantize_per_channel", lambda x: x @ _QUANTIZED.dequantize_per_channel(_BYTES, _SCALES, _ZEROS, 1, -128, 127, torch.int8).to(x.dtype), (3, 2)),
    ("fake_quantize", lambda x: (torch.fake_quantize_per_tensor_affine(x, 0.21, 3, -8, 7), torch.fake_quantize_per_channel_affine(x, _SCALES, _ZEROS, 1, -5, 5), torch.fake_quantize_per_channel_affine(x, _SCALES, _ZEROS + 0.4, 1, -5, 5)), (3, 4)),
    ("fake_quantize_tensors", lambda x: torch.fake_quantize_per_tensor_affine(x, _SCALES[:1], _ZEROS[1:2], 0, 9), (3, 4)),
    ("int_mm", lambda a, b: torch._int_mm(a, b.t()), torch.arange(-68, 68, dtype=torch.int8).reshape(17, 8), torch.arange(-64, 64, 2, dtype=torch.int8).reshape(8, 8)),
    ("nonzero_static", lambda x: (torch.nonzero_static(x > 0, size=4, fill_value=-1), torch.nonzero_static(x, size=20), torch.nonzero_static(x[0] > 9, size=2)), (3, 4)),
    ("repeat_interleave_sized", lambda x, n: (x.repeat_interleave(n, 0, output_size=5), x.repeat_interleave(n.int(), 1, output_size=5)), (3, 3), _COUNTS),
    ("all_and_any_true", lambda x: (torch.ops.aten._is_all_true(x > -9), torch.ops.aten._is_any_true(x > 9)), (2, 3)),
    ("distributions", lambda x, y: (Normal(x, y.exp()).log_prob(y), Categorical(logits=x).log_prob(torch.tensor([1, 0]))), (2, 3), (2, 3)),
    ("covariance", lambda x, w: (torch.cov(x), x.cov(correction=2, aweights=w.abs()), torch.cov(x, correction=0, fweights=torch.tensor([1, 2, 1, 3, 1])), torch.corrcoef(x), x[0].corrcoef(), torch.cov(x.long())), (3, 5), (5,)),
    ("gaussian_nll_loss", lambda x, y, v: (F.gaussian_nll_loss(x, y, v.exp()), F.gaussian_nll_loss(x, y, v[:, 0].exp(), full=True, reduction="sum"), F.gaussian_nll_loss(x, y, v.abs(), eps=0.5, reduction="none"), F.gaussian_nll_loss(x, y, 2.0)), (3, 4), (3, 4), (3, 4)),
    ("rotated_columns", lambda x: (torch.linalg.eigvalsh(x[:, :3]), torch.linalg.svdvals(x)), (3, 4)),
    ("transformer_mask", _Masked, (2, 5, 8), torch.ones(5, 5).triu(1).bool()),
    ("data", _Data, (2, 3)),
    ("assigned_data", _AssignedData, (2, 3, 5, 5)),
]  # fmt: skip
