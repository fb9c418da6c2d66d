# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models that write to their inputs and buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy.errors import ConvoyWarning, ExportError, InputError
from convoy.frontend import import_module


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


class _State:
    """A state that each call changes, as those of recurrent and state space models."""

    def __init__(self) -> None:
        self.values = torch.zeros(2, 3)
        self.calls = 0


class Recurrent(nn.Module):
    def forward(self, x: Tensor, state: _State) -> tuple[Tensor, _State]:
        state.values.copy_(state.values.roll(1, 0) + x)  # writes
        return state.values.mT * 2, state


def test_writes_that_are_results() -> None:
    line = next(
        number
        for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
        if "# writes" in line
    )
    found = f"'state_values', at .*{Path(__file__).name}:{line}; the new values are in its results"
    with pytest.warns(ConvoyWarning, match=found):
        model = convoy.compile(Recurrent().eval(), (torch.ones(3), _State()), target="cpu")
    state, expected = _State(), _State()
    for scale in (1.0, 3.0):
        before = state.values.clone()
        y, following = model(torch.ones(3) * scale, state)
        z, expected = Recurrent()(torch.ones(3) * scale, expected)
        assert torch.equal(state.values, before)
        torch.testing.assert_close(torch.as_tensor(y), z)
        torch.testing.assert_close(torch.as_tensor(following.values), expected.values)
        state = following


class Adding(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return x.add_(1), y * 2


@pytest.mark.parametrize("part", [slice(None), slice(1)], ids=["whole", "part"])
def test_writes_to_inputs_that_share_memory(part: slice) -> None:
    x = torch.ones(2, 3)
    with pytest.raises(ExportError, match=r"inputs that share memory; .* clone\(\) them"):
        import_module(Adding().eval(), (x, x[part]))


class Filter(nn.Module):
    """One result is channels-last."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.add_(1), x.to(memory_format=torch.channels_last) * 2


def test_order_of_a_result_beside_a_write() -> None:
    """The graph of a decomposed program returns what it writes before its results."""
    program = torch.export.export(Filter().eval(), (torch.randn(3, 4, 2, 2),))
    with pytest.warns(ConvoyWarning, match="writes to 'x'"):
        model = convoy.compile(program.run_decompositions({}), target="cpu")
    assert [list(each.strides) for each in model.manifest.outputs] == [[], [16, 1, 8, 4]]
