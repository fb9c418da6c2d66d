# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads at indices that count: views and gathers with PyTorch's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, arange

import convoy

X = torch.randn(4, 5, 6, 7)
I = torch.tensor([3, -1, 0, -4])  # noqa: E741, the name of an index

Read = Callable[[Tensor, Tensor], Tensor]
VIEWS: dict[str, Read] = {
    "outer": lambda x, i: x[arange(4)[:, None, None, None], arange(5)[None, None, None, :]],
    "three": lambda x, i: x[arange(4)[:, None, None], arange(5)[:, None], arange(6)],
    "swapped": lambda x, i: x[arange(4)[None, :], arange(5)[:, None]],
    "slice": lambda x, i: x[:, arange(1, 5, 2)],
    "from the end": lambda x, i: x[:, arange(-4, -1), :],
    "one": lambda x, i: x[arange(4), torch.tensor(-1)],
}
GATHERS: dict[str, Read] = {
    "rows": lambda x, i: x[arange(4), i],
    "rows in the middle": lambda x, i: x[:, arange(4), i],
    "with one": lambda x, i: x[arange(4), i, arange(1, 2)],
    "int32": lambda x, i: x[arange(4, dtype=torch.int32), i.int()],
    "indices between": lambda x, i: x[arange(4)[:, None], i[:, None].expand(4, 5), arange(5)],
}
#: What neither does.
OTHERS: dict[str, Read] = {
    "one of all": lambda x, i: x[:, i[:1]],
    "several of a row": lambda x, i: x[arange(4)[:, None], i[None, :]],
    "diagonal": lambda x, i: x[arange(4), arange(4)],
    "columns": lambda x, i: x[i[:, None], arange(5)],
    "apart": lambda x, i: x[arange(4), :, i],
    "cyclic": lambda x, i: x[:, torch.tensor([3, 4, 0])],
    "over the end": lambda x, i: x[:, torch.tensor([-2, -1, 0])],
    "descending": lambda x, i: x[:, torch.tensor([2, 1, 0])],
    "mask of rows": lambda x, i: x[:, arange(5) * 0 + 2],
}


class Reads(torch.nn.Module):
    """A read as a module."""

    def __init__(self, read: Read) -> None:
        super().__init__()
        self.read = read

    def forward(self, x: Tensor, i: Tensor) -> Any:
        return self.read(x, i)


@pytest.mark.parametrize("name", [*VIEWS, *GATHERS, *OTHERS])
def test_reads(name: str, tmp_path: Any) -> None:
    read = (VIEWS | GATHERS | OTHERS)[name]
    model = convoy.compile(Reads(read).eval(), (X, I), target="cpu", dump_phases=tmp_path)
    (text,) = (path.read_text() for path in tmp_path.glob("*tcp.mlir"))
    found = {op for op in ("tcp.index_select", "tcp.gather") if op in text}
    assert found == (
        set() if name in VIEWS else {"tcp.gather"} if name in GATHERS else {"tcp.index_select"}
    )
    with model.load() as program:
        assert torch.equal(program(X, I), read(X, I))


def test_indices_out_of_range_are_nan() -> None:
    """As for other indices: PyTorch raises an error, the compiled model does not."""
    read: Read = lambda x, i: x[arange(4), i]  # noqa: E731
    with convoy.compile(Reads(read).eval(), (X, I), target="cpu").load() as program:
        got = program(X, torch.tensor([0, 5, -6, 1]))
    assert torch.equal(got[[0, 3]], X[[0, 3], [0, 1]])
    assert got[1].isnan().all()
    assert got[2].isnan().all()
