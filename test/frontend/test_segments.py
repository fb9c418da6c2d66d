# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions over segments whose bounds are known: reads and reductions along a dim, with PyTorch's
results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn, tensor

import convoy
from convoy.errors import UnsupportedOpsError

W = torch.randn(9, 6, generator=torch.Generator().manual_seed(0))
IDS = tensor([1, 3, 0, 2, 1, 8, 8, 5, 4, 7, 1, 1])
FACTORS = torch.linspace(-2, 3, 12)
ROWS = torch.randn(12, 6, generator=torch.Generator().manual_seed(1))
EVEN, UNEVEN = torch.arange(0, 12, 3), tensor([0, 3, 3, 8])
MIXED = tensor([2, 0, 1, 2, 2, 0, 4, 5, 1, 0, 4, 4])
LAST = tensor([-1, 0, 1, -1, -2, 0, 4, 5, 1, 0, 4, 4])


def _bag(ids: Tensor, offsets: Tensor | None = None, **options: Any) -> Tensor:
    return F.embedding_bag(ids, W, offsets, **options)


#: Each takes ids, factors, rows, and a tensor to which they are added.
Step = Callable[[Tensor, Tensor, Tensor, Tensor], Any]
KNOWN: dict[str, Step] = {
    **{
        f"{mode} of {name}": lambda i, f, r, y, mode=mode, offsets=offsets: _bag(
            i, offsets, mode=mode
        )
        for mode in ("sum", "mean", "max")
        for name, offsets in (("even bags", EVEN), ("uneven bags", UNEVEN))
    },
    **{
        f"{mode} with padding": lambda i, f, r, y, mode=mode: (
            _bag(i.reshape(4, 3), mode=mode, padding_idx=1),
            _bag(i, UNEVEN, mode=mode, padding_idx=-8),
            _bag(i.reshape(12, 1), mode=mode, padding_idx=8),
        )
        for mode in ("sum", "mean", "max")
    },
    "two dims": lambda i, f, r, y: [_bag(i.reshape(4, 3).int(), mode=m) for m in ("sum", "max")],
    "bags of one": lambda i, f, r, y: _bag(i[:, None], mode="sum", per_sample_weights=f[:, None]),
    "factors": lambda i, f, r, y: (
        _bag(i.reshape(3, 4), mode="sum", per_sample_weights=f.reshape(3, 4)),
        _bag(i, UNEVEN, mode="sum", per_sample_weights=f, padding_idx=1),
    ),
    "last offset": lambda i, f, r, y: (
        _bag(i, tensor([0, 4, 8, 12]), include_last_offset=True, mode="mean"),
        _bag(i, tensor([0, 5, 5, 12]), include_last_offset=True, mode="max"),
    ),
    "index_add": lambda i, f, r, y: (
        y.index_add(0, MIXED, r),
        y.index_add(0, MIXED, r, alpha=0.5),
        y.t().index_add(-1, MIXED.int(), r.t()),
        torch.zeros(3, 6).index_add(0, torch.arange(12) // 4, r),
        i.new_zeros(6).index_add(0, MIXED, i),
    ),
    "scatter_add": lambda i, f, r, y: y.scatter_add(0, MIXED[:, None].expand(12, 6), r),
    "index_put": lambda i, f, r, y: (
        y.index_put((LAST,), r, accumulate=True),
        y.index_put((LAST.int(),), r, accumulate=True),
    ),
}
#: What is computed by a comparison with each index.
OTHERS: dict[str, Step] = {
    "an index of elements": lambda i, f, r, y: y.scatter_add(0, (ROWS > 0).long(), r),
    "a computed index": lambda i, f, r, y: y.index_add(0, i % 6, r),
    "computed offsets": lambda i, f, r, y: _bag(i, (i[:3] * 0).cumsum(0), mode="sum"),
    "a long segment": lambda i, f, r, y: y.new_zeros(60, 6).index_add(0, MIXED % 2, r),
    "fewer indices than updates": lambda i, f, r, y: y.scatter_add(
        0, MIXED[:2, None].expand(2, 6), r
    ),
}


class Module(nn.Module):
    """A step as a module."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step

    def forward(self, i: Tensor, f: Tensor, r: Tensor, y: Tensor) -> Any:
        return self.step(i, f, r, y)


@pytest.mark.parametrize("name", [*KNOWN, *OTHERS])
def test_segments(name: str, tmp_path: Any) -> None:
    step = (KNOWN | OTHERS)[name]
    inputs = (IDS, FACTORS, ROWS, torch.ones(6, 6))
    model = convoy.compile(Module(step).eval(), inputs, target="cpu", dump_phases=tmp_path)
    (text,) = (path.read_text() for path in tmp_path.glob("*tcp.mlir"))
    assert ("tcp.scatter" in text) == (name in OTHERS)
    expected = step(*inputs)
    with model.load() as program:
        got = program(*inputs)
    torch.testing.assert_close(
        got, tuple(expected) if isinstance(expected, list) else expected, atol=1e-5, rtol=1e-5
    )


def test_float16_is_reduced_in_float32() -> None:
    bag = nn.EmbeddingBag(4, 8, mode="sum").half().eval()
    ids = torch.randint(0, 4, (2, 300))
    with torch.no_grad(), convoy.compile(bag, (ids,), target="cpu").load() as program:
        exact = F.embedding_bag(ids, bag.weight.double(), mode="sum")
        torch.testing.assert_close(program(ids), exact.half(), atol=0, rtol=1e-3)
    assert exact.abs().max() > 10


def test_other_results_are_refused() -> None:
    """A result for gradients has an error of its own."""

    def step(i: Tensor, f: Tensor, r: Tensor, y: Tensor) -> Any:
        return torch.embedding_bag(W, i, EVEN)[::2]

    with pytest.raises(UnsupportedOpsError, match="first result only"):
        convoy.compile(Module(step).eval(), (IDS, FACTORS, ROWS, ROWS), target="cpu")
