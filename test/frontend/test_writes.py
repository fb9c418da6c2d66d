# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models that write to their buffers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy.errors import InputError


class Scratch(nn.Module):
    """Writes the whole buffer before it reads it, as rotary embeddings do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.ones(4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("kept", torch.full((4,), 3.0))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls += 1
        self.factor.copy_(torch.where(x.sum() > 0, 2.0, 5.0))
        self.kept = self.kept.to(x.dtype)
        return x.mT, x * self.factor + self.kept


def test_writes_that_no_result_depends_on() -> None:
    module = Scratch().eval()
    model = convoy.compile(module, (torch.ones(2, 4),), target="cpu")
    for x in (torch.ones(2, 4), -torch.ones(2, 4)):
        for got, expected in zip(model(x), module(x), strict=True):
            torch.testing.assert_close(got, expected)
    assert [spec.name for spec in model.manifest.outputs] == ["0", "1"]
    assert module.calls == 2


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


class Filled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.state[:2] = x
        return self.state * 2


class Batch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Tensor:
        self.norm.train()
        return self.norm(x)


@pytest.mark.parametrize(
    ("module", "shape", "message"),
    [
        (Counting(), (2,), "one that writes to 'calls', at"),
        (Filled(), (2,), "one that writes to 'state', at"),
        (Batch(), (3, 2), r"got 'norm' \(BatchNorm1d\) in training mode; call eval\(\) on it"),
    ],
)
def test_writes_that_results_depend_on(
    module: nn.Module, shape: tuple[int, ...], message: str
) -> None:
    """The last one has the statistics of the batch, but those that it writes are for evaluation."""
    with pytest.raises(InputError, match=message):
        convoy.compile(module.eval(), (torch.ones(shape),), target="cpu")
