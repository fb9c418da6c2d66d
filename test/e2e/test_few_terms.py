# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of few terms, for several batches, against PyTorch in float64 on the CPU; for a GPU each
is part of a generated kernel (test/passes/gpu_codegen/test_repeated_loops.py runs these)."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import convoy


class _Attention(nn.Module):
    """Attention with linear layers over its heads, or convolutions, before and after the softmax."""

    def __init__(self, convolutions: bool, width: int = 24, heads: int = 3) -> None:
        super().__init__()
        self.heads, self.convolutions = heads, convolutions
        self.qkv, self.last = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if convolutions:
            self.before, self.after = nn.Conv2d(heads, 5, 1), nn.Conv2d(5, heads, 1, bias=False)
        else:
            self.before, self.after = nn.Linear(heads, 5), nn.Linear(5, heads, bias=False)

    def mixed(self, layer: nn.Module, x: Tensor) -> Tensor:
        if self.convolutions:
            return layer(x)
        return layer(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = self.mixed(self.before, q @ k.transpose(-2, -1) * 0.3).softmax(-1)
        x = (self.mixed(self.after, scores) @ v).transpose(1, 2).flatten(2)
        return self.last(x)


class _Points(nn.Module):
    """A rotation and a first layer of points."""

    def __init__(self) -> None:
        super().__init__()
        self.pose, self.layer = nn.Linear(3, 9), nn.Conv1d(3, 40, 1)

    def forward(self, x: Tensor) -> Tensor:
        pose = self.pose(x.mean(2)).unflatten(1, (3, 3))
        x = torch.bmm(x.transpose(1, 2), pose).transpose(1, 2)
        return self.layer(x).relu().amax(2)


_MODELS = {
    "linear": (lambda: _Attention(False), (40, 24)),
    "convolutions": (lambda: _Attention(True), (40, 24)),
    "points": (_Points, (3, 600)),
}
_BATCHES = ({0: Dim("batch", min=1, max=3)},)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", _MODELS)
def test_batches(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    build, shape = _MODELS[name]
    module = build().eval().to(dtype)
    example = (torch.randn(2, *shape, dtype=dtype),)
    model = convoy.compile(module, example, target="cpu", dynamic_shapes=_BATCHES)
    reference = build().eval().double()
    reference.load_state_dict(module.state_dict())
    error = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 8e-2}[dtype]
    for batch in (1, 3):
        x = torch.randn(batch, *shape).to(dtype)
        got = model(x)
        torch.testing.assert_close(got.double(), reference(x.double()), rtol=error, atol=error)


@pytest.mark.parametrize("name", _MODELS)
def test_weights_of_a_gpu(name: str) -> None:
    """All batches have the same weights, whichever of them have sums."""
    build, shape = _MODELS[name]
    example = (torch.randn(2, *shape, dtype=torch.float16),)
    module = build().eval().half()
    convoy.compile(module, example, target="cuda", dynamic_shapes=_BATCHES, weights=False)
