# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Weights that a model repeats along the batch of a product are prepared once."""

from __future__ import annotations

import re
from math import prod

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _function, normalize, run_both
from torch import Tensor, nn

from convoy.frontend import import_module

_HEADS, _TABLE, _WIDTH = 3, 40, 8


class _Positions(nn.Module):
    """Scores of relative positions, as in DeBERTa. Heads are in the inner dim of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(_TABLE, _HEADS * _WIDTH))
        self.register_buffer("index", torch.randint(0, _TABLE, (1, 5, 5)))

    def forward(self, x: Tensor) -> Tensor:
        batch = x.shape[0]
        table = self.table.view(1, _TABLE, _HEADS, _WIDTH).permute(0, 2, 1, 3)
        table = table.reshape(_HEADS, _TABLE, _WIDTH).repeat(batch, 1, 1)
        query = x.permute(0, 2, 1, 3).reshape(batch * _HEADS, 5, _WIDTH)
        scores = torch.bmm(query, table.transpose(1, 2))
        return torch.gather(scores, 2, self.index.expand(batch * _HEADS, 5, 5))


class _Interleaved(_Positions):
    """Heads are in the outer dim of the batch."""

    def forward(self, x: Tensor) -> Tensor:
        table = self.table.view(_TABLE, _HEADS, _WIDTH).permute(1, 2, 0)
        table = table.repeat_interleave(x.shape[0], 0)
        query = x.permute(2, 0, 1, 3).reshape(-1, 5, _WIDTH)
        return torch.bmm(query, table).softmax(-1)


class _Expanded(_Positions):
    """A batch and a second dim of it share the table, with heads in between."""

    def forward(self, x: Tensor) -> Tensor:
        table = self.table.view(_TABLE, 1, _HEADS, 1, _WIDTH).permute(1, 2, 3, 4, 0)
        query = x.reshape(2, -1, 5, _HEADS, _WIDTH).permute(0, 3, 1, 2, 4)
        return torch.matmul(query, table.expand(2, -1, query.shape[2], -1, -1))[..., 1:]


@pytest.mark.parametrize("module", [_Positions, _Interleaved, _Expanded])
def test_table_is_prepared_once(module: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model = module().eval()
    x = torch.randn(6, 5, _HEADS, _WIDTH)
    imported = import_module(model, (x,))
    expected = run_text(imported.text, [x], imported.weights)
    text = normalize(imported.text, target="cuda")
    torch.testing.assert_close(
        run_both(text, [x], imported.weights), expected, rtol=1e-5, atol=1e-5
    )
    main = _function(text, "main")
    (factors,) = re.findall(r'"tcp\.matmul"[^:]*: \(tensor<[^>]*>, tensor<([\dx]+)xf32>\)', main)
    assert prod(map(int, factors.split("x"))) == _HEADS * _WIDTH * _TABLE
