# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of few terms are elementwise ops and sums with the results of the model, and the
transposes around them go."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tcp_reference import run_text
from test_normalize import _main_ops, normalize, run_both
from torch import Tensor, nn

from convoy.frontend import import_module


class _TalkingHeads(nn.Module):
    """Linear layers over the heads of attention scores, before and after the softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.Linear(3, 5), nn.Linear(5, 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.before(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).softmax(-1)
        scores = self.after(scores.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return scores @ x


class _ReAttention(nn.Module):
    """As in DeepViT: a convolution and a batch norm over the heads."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.norm = nn.Conv2d(6, 6, 1), nn.BatchNorm2d(6)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.mix(x.softmax(-1))) @ x


class _Colors(nn.Module):
    """Convolutions of pixels around one with a window, which is channels-last."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.Conv2d(3, 4, 1), nn.Conv2d(5, 3, 1)
        self.window = nn.Conv2d(4, 5, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.window(self.before(x).relu())).contiguous()


class _Waves(nn.Module):
    """One channel becomes those of a chain of residual convolutions, as in WaveNet."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.gate = nn.Conv1d(1, 8, 1), nn.Conv1d(8, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        return x + self.gate(x).tanh()


class _Gate(nn.Module):
    """Several products of one tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 16), nn.Linear(4, 16)

    def forward(self, x: Tensor) -> Tensor:
        return self.first(x).sigmoid() * self.second(x)


class _Recurrent(nn.Module):
    """The products of a recurrent layer with its inputs are before the loop."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(1, 4, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


class _Mixed(nn.Module):
    """A matrix for each token, and a residual behind a reshape."""

    def forward(self, x: Tensor, m: Tensor) -> Tensor:
        return torch.einsum("btij,btjd->btid", m, x) + x


class _Pose(nn.Module):
    """A rotation for each set of points, as in PointNet."""

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        return torch.bmm(x.transpose(1, 2), r).transpose(1, 2).contiguous()


#: The module, the shapes of its inputs, and the products, convolutions and transposes that remain for
#: a GPU and for a CPU, where products of contiguous terms are faster than sums.
_CASES = {
    "talking_heads": (_TalkingHeads, [(2, 3, 24, 24)], (1, 0, 0), (3, 0, 2)),
    "re_attention": (_ReAttention, [(2, 6, 24, 24)], (1, 0, 0), (1, 1, 2)),
    "colors": (_Colors, [(1, 3, 40, 40)], (0, 2, 1), (0, 3, 2)),
    "mixed": (_Mixed, [(2, 64, 4, 40), (2, 64, 4, 4)], (1, 0, 0), (1, 0, 0)),
    "pose": (_Pose, [(2, 3, 520), (2, 3, 3)], (0, 0, 0), (1, 0, 2)),
}


@pytest.mark.parametrize("case", _CASES)
def test_small_products(case: str) -> None:
    torch.manual_seed(0)
    build, shapes, *expected = _CASES[case]
    inputs = [torch.randn(shape) for shape in shapes]
    imported = import_module(build().eval(), tuple(inputs))
    wanted = run_text(imported.text, inputs, imported.weights)
    for target, counts in zip(("cuda", "cpu"), expected, strict=True):
        text = normalize(imported.text, target=target)
        got = run_both(text, inputs, imported.weights)
        # The reference computes in float64; folded scales are rounded to float32.
        torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-6)
        assert tuple(_main_ops(text, op) for op in ("matmul", "conv2d", "transpose")) == counts


@pytest.mark.parametrize(
    ("build", "shape", "op", "count"),
    [
        (_Waves, (2, 1, 600), "conv1d", 2),
        (_Gate, (2048, 4), "matmul", 2),
        (_Recurrent, (16, 80, 1), "matmul", 2),
        (lambda: nn.Linear(16, 16).half(), (2048, 16), "matmul", 1),
        (lambda: nn.Linear(8, 8).half(), (2048, 8), "matmul", 0),
    ],
    ids=["images", "siblings", "loop", "long", "short"],
)
def test_others_remain(
    build: Callable[[], nn.Module], shape: tuple[int, ...], op: str, count: int
) -> None:
    """Products that other passes merge, or convolutions and loops read, and those whose
    instructions take longer than their memory."""
    module = build().eval()
    x = torch.randn(shape, dtype=next(module.parameters()).dtype)
    text = normalize(import_module(module, (x,)).text, target="cuda")
    assert _main_ops(text, op) == count
