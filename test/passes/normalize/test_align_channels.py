# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convolutions whose channels are no multiples of 16 bytes: for a GPU they get channels of zeros,
and the results are those of the model."""

from __future__ import annotations

import re

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _function, normalize, run_both
from torch import Tensor, nn

from convoy.frontend import import_module


class _Split(nn.Module):
    """Pieces of a convolution's result go through others, one after another."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        conv = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dims]
        self.first, self.last = conv(8, 57, 1), conv(57, 8, 1)
        self.steps = nn.ModuleList(conv(19, 19, 3, padding=1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        pieces = self.first(x).relu().chunk(3, 1)
        results = [pieces[0]]
        for step, piece in zip(self.steps, pieces[1:], strict=True):
            results.append(step(piece + results[-1]).relu())
        return self.last(torch.cat(results, 1)) + x


class _Gated(nn.Module):
    """A depthwise convolution between two of 1x1, gated by a mean of the whole image."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        conv = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dims]
        self.wide, self.deep = conv(8, 27, 1), conv(27, 27, 3, padding=1, groups=27)
        self.gate, self.narrow = conv(27, 27, 1), conv(27, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.deep(nn.functional.silu(self.wide(x)))
        y = y * self.gate(y.mean(list(range(2, y.dim())), keepdim=True)).sigmoid()
        return self.narrow(nn.functional.relu6(y))


class _Residual(nn.Module):
    """Sums of results, a copy of one at half the size, and results of the model in between."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        conv = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dims]
        self.stem, self.skip = conv(4, 18, 3, padding=1), conv(4, 18, 1)
        self.inner, self.outer = conv(18, 18, 3, padding=1), conv(18, 24, 3, stride=2)
        self.pool = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[dims](2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = (self.stem(x) + self.skip(x)).relu()
        z = (self.inner(y) + y).relu()
        return self.outer(self.pool(z)), z, (2 / (y + 1)).sum()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("module", [_Split, _Gated, _Residual])
def test_aligned_channels(module: type[nn.Module], dims: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = module(dims).to(dtype).eval()
    x = torch.randn(2, next(model.parameters()).shape[1], *(9 for _ in range(dims))).to(dtype)
    imported = import_module(model, (x,))
    expected = run_text(imported.text, [x], imported.weights)
    text = normalize(imported.text, target="cuda")
    got = run_both(text, [x], imported.weights)
    # The reference computes in float64.
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)
    channels = [
        int(number)
        for number in re.findall(
            r'"tcp\.conv\dd"\([^)]*\) \{[^}]*\} : \(tensor<[\dx]*?(\d+)x[bf]+\d+>',
            _function(text, "main"),
        )
    ]
    multiple = 16 // dtype.itemsize
    assert len(channels) == sum(
        isinstance(each, nn.modules.conv._ConvNd) for each in model.modules()
    )
    # A 1x1 window of one pixel reads the mean as it is.
    assert [each for each in channels if each > 16 and each % multiple] == (
        [27] if module is _Gated else []
    )
