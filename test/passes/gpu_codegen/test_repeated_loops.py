# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels of which each thread computes several results of the same elements, as for products over
the heads of attention scores, or with the same arithmetic on indices, as for padding. Emulated and
compared with PyTorch in float64."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from kernel_emulator import lower_to_host, run_main
from test_normalize import normalize, prepared_weights
from torch import Tensor, nn

from convoy.frontend import import_module
from tools.convoy_opt import convoy_opt


class _Heads(nn.Module):
    """A linear layer over the heads of attention scores, and one after their softmax."""

    def __init__(self, heads: int, softmax: bool) -> None:
        super().__init__()
        self.before, self.after = nn.Linear(heads, heads), nn.Linear(heads, heads, bias=False)
        self.softmax = softmax

    def forward(self, x: Tensor) -> Tensor:
        x = self.before(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        if self.softmax:
            x = x.softmax(-1)
        return self.after(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).contiguous()


class _Colors(nn.Module):
    """Convolutions of single pixels: of planes, with the transpose to the layout of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 1), nn.Conv2d(16, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).relu()).clamp(0, 1)


class _Rotations(nn.Module):
    """Products with a matrix for each set of points."""

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        return torch.bmm(x - 1, r).relu()


class _Reduced(nn.Module):
    """The sum is part of a reduction, which reads its terms where they are."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).relu().amax(1)


_HALF, _ALL = (torch.float16,), (torch.float16, torch.bfloat16, torch.float32)
#: The module, the shapes of its inputs, its kernels, and types. Threads have several results if there
#: are 32768 of them.
CASES: dict[
    str, tuple[Callable[[], nn.Module], list[tuple[int, ...]], int, tuple[torch.dtype, ...]]
]
CASES = {
    "rows_repeated": (lambda: _Heads(4, True), [(8, 4, 128, 132)], 2, _HALF),
    "rows_of_few_threads": (lambda: _Heads(4, True), [(2, 4, 32, 36)], 2, _ALL),
    "repeated": (lambda: _Heads(6, False), [(8, 6, 100, 132)], 2, _HALF),
    "twelve": (lambda: _Heads(12, True), [(1, 12, 48, 50)], 2, _ALL),
    "colors": (_Colors, [(1, 3, 192, 200)], 2, _ALL),
    "reduced": (_Reduced, [(8192, 5, 8)], 1, _ALL),
    "rotations": (_Rotations, [(4, 300, 3), (4, 3, 3)], 2, _ALL),
    "padded": (lambda: nn.ZeroPad2d(1), [(4, 64, 32, 32)], 1, _HALF),
    "padded_to_odd_rows": (lambda: nn.ZeroPad2d((1, 0, 0, 1)), [(4, 6, 80, 80)], 1, _HALF),
    "padded_images": (lambda: nn.ZeroPad2d(1), [(8, 3, 120, 120)], 1, (torch.float32,)),
}


@pytest.mark.parametrize(
    ("case", "dtype"), [(case, dtype) for case in CASES for dtype in CASES[case][-1]]
)
def test_results(case: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    build, shapes, launches, _ = CASES[case]
    module = build().eval().to(dtype)
    inputs = [torch.randn(shape).to(dtype) for shape in shapes]
    imported = import_module(module, tuple(inputs))
    weights = prepared_weights(normalize(imported.text, target="cuda"), imported.weights)
    text = lower_to_host(imported.text)
    with torch.no_grad():
        wanted = module.double()(*(x.double() for x in inputs))
    got = torch.full_like(wanted, torch.nan, dtype=dtype)
    assert run_main(text, [*inputs, *weights.values()], [got]) == launches
    # As in PyTorch, each product is rounded once.
    error = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2e-6}[dtype]
    torch.testing.assert_close(got.double(), wanted, rtol=error, atol=error)


def test_loads_are_shared() -> None:
    """Each thread loads an element of each head once, and computes all heads."""
    imported = import_module(_Heads(4, True).eval().half(), (torch.randn(8, 4, 128, 256).half(),))
    text = convoy_opt(imported.text, "--convoy-pipeline=to=host target=cuda").stdout
    first, second = re.findall(r"gpu\.func @.*?gpu\.return", text, re.DOTALL)
    assert "rows" in first.split("(")[0]
    assert first.count("vector.load") == second.count("vector.load") == 4
    assert first.count("vector.store") == second.count("vector.store") == 4
