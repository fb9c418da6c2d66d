# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention whose heads are not multiples of 16 bytes: for a GPU it stays attention, and the results
are those of the model."""

from __future__ import annotations

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _main_ops, normalize, run_both
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from convoy.frontend import import_module

_HEADS, _ROWS = 2, 48


class _Packed(nn.Module):
    """Query, key and value are slices of one product."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 3 * _HEADS * depth)
        self.out = nn.Linear(_HEADS * depth, 16)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, _HEADS, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        y = scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


class _Projections(nn.Module):
    """Three products, and attention that is written out. Key and value have one head."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth
        self.q = nn.Linear(16, _HEADS * depth, bias=False)
        self.k, self.v = nn.Linear(16, depth), nn.Linear(16, depth + 1)
        self.out = nn.Linear(_HEADS * (depth + 1), 16)

    def forward(self, x: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (_HEADS, -1)).transpose(1, 2)
        k, v = self.k(x)[:, None], self.v(x)[:, None]
        weights = (q @ k.transpose(-1, -2) / self.depth**0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class _Causal(_Projections):
    """The projections with masks, whose result is not the factor of a product."""

    def forward(self, x: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (_HEADS, -1)).transpose(1, 2)
        k, v = self.k(x)[:, None], self.v(x)[:, None]
        y = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        mask = x[:, None, :, :1].transpose(-1, -2)
        return y + scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)


class _Activated(_Packed):
    """Other ops compute query, key and value."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).relu().unflatten(-1, (3, _HEADS, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        return scaled_dot_product_attention(q, k, v).transpose(1, 2)


# The modules, and how many ops of attention and pads are in @main.
_MODULES = {_Packed: (1, 0), _Projections: (1, 0), _Causal: (2, 3), _Activated: (1, 3)}


@pytest.mark.parametrize("depth", [1, 5, 9, 12])
@pytest.mark.parametrize("module", _MODULES)
def test_padded_heads(module: type[nn.Module], depth: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, _ROWS, 16).half()
    imported = import_module(module(depth).half().eval(), (x,))
    expected = run_text(imported.text, [x], imported.weights)
    text = normalize(imported.text, target="cuda")
    got = run_both(text, [x], imported.weights)
    # The reference computes in float64.
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)
    assert (_main_ops(text, "attention"), _main_ops(text, "pad")) == _MODULES[module]
    assert _main_ops(text, "softmax") == 0
