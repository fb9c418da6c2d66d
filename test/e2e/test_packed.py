"""Packed sequences: recurrent networks on batches of sequences of several lengths, compared with
PyTorch in float64 for the lengths of the example and for others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import rnn
from torch.utils._pytree import tree_leaves

import convoy
from convoy import frontend
from convoy.bisect import bisect_model
from convoy.errors import ExportError
from convoy.options import CompileOptions

_STEPS, _BATCH = 6, 3
_LENGTHS = torch.tensor([4, 6, 2])
_OTHERS = [torch.tensor([6, 1, 6]), torch.tensor([1, 2, 6])]
_NETWORKS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm_projection": (nn.LSTM, {"proj_size": 3}),
    "gru": (nn.GRU, {"batch_first": True}),
    "rnn_tanh": (nn.RNN, {"bias": False}),
    "rnn_relu": (nn.RNN, {"nonlinearity": "relu", "batch_first": True}),
}


class _Padded(nn.Module):
    """Packs, runs a network and pads again."""

    def __init__(self, network: nn.RNNBase, total_length: int | None, **options: Any) -> None:
        super().__init__()
        self.network, self.total_length, self.options = network, total_length, options

    def forward(self, x: Tensor, lengths: Tensor, state: Any = None) -> Any:
        first = self.network.batch_first
        packed = rnn.pack_padded_sequence(x, lengths, first, **self.options)
        output, last = self.network(packed, state)
        return *rnn.pad_packed_sequence(output, first, 0.5, self.total_length), last


def _check(model: nn.Module, *inputs: Any, others: list[Tensor], limit: float = 1e-6) -> None:
    program = convoy.compile(model.eval(), inputs, target="cpu").load(poison=True)
    results = []
    for lengths in (inputs[1], *others):
        given = (inputs[0], lengths, *inputs[2:])
        results.append((given, tree_leaves(program(*given))))
    model.double()
    for given, got in results:
        exact = torch.utils._pytree.tree_map(
            lambda t: t.double() if t.is_floating_point() else t, given
        )
        with torch.no_grad():
            expected = tree_leaves(model(*exact))
        for mine, theirs in zip(got, expected, strict=True):
            assert mine.shape == theirs.shape
            assert float((mine.double() - theirs).abs().max()) <= limit


def _input(network: nn.RNNBase, features: int = 4) -> Tensor:
    shape = (_BATCH, _STEPS) if network.batch_first else (_STEPS, _BATCH)
    return torch.randn(*shape, features, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("total_length", [None, _STEPS, _STEPS + 2])
@pytest.mark.parametrize("name", _NETWORKS)
def test_networks(name: str, total_length: int | None) -> None:
    kind, options = _NETWORKS[name]
    torch.manual_seed(0)
    network = kind(4, 5, num_layers=2, bidirectional=True, **options)
    model = _Padded(network, total_length, enforce_sorted=False)
    _check(model, _input(network), _LENGTHS, others=_OTHERS)


def test_given_state() -> None:
    """The state has the order of the sequences, which are sorted by their lengths."""
    torch.manual_seed(0)
    network = nn.LSTM(4, 5, bidirectional=True, num_layers=2)
    state = (torch.randn(4, _BATCH, 5), torch.randn(4, _BATCH, 5))
    model = _Padded(network, _STEPS, enforce_sorted=False)
    _check(model, _input(network), _LENGTHS, state, others=_OTHERS)


def test_shorter_than_the_padded_tensor() -> None:
    """With `total_length` no sequence has to have all time steps."""
    network = nn.GRU(4, 5)
    _check(
        _Padded(network, _STEPS),
        _input(network),
        torch.tensor([6, 4, 2]),
        others=[torch.tensor([3, 2, 2])],
    )


class _RowByRow(nn.Module):
    """Computes the rows of a PackedSequence."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.first, self.second = nn.Embedding(9, 4), nn.GRU(4, 5), nn.GRU(5, 3)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        packed = rnn.pack_padded_sequence(tokens, lengths)
        packed = rnn.PackedSequence(self.embedding(packed.data).relu(), packed.batch_sizes)
        packed, _ = self.first(packed)
        packed = rnn.PackedSequence(packed.data * 2 + 1, packed.batch_sizes)
        packed, last = self.second(packed)
        return last, packed.data.mean(0), rnn.pad_packed_sequence(packed, total_length=_STEPS)[0]


def test_rows() -> None:
    torch.manual_seed(0)
    tokens = torch.randint(0, 9, (_STEPS, _BATCH))
    others = [torch.tensor([6, 6, 1]), torch.tensor([2, 1, 1])]
    _check(_RowByRow(), tokens, torch.tensor([6, 4, 2]), others=others)


class _Constant(nn.Module):
    """The lengths are those of tensors, so that the rows are results too."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.GRU(4, 5)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        output, last = self.network(rnn.pack_sequence([x, x[:3], y]))
        return output.data, *rnn.pad_packed_sequence(output), last


def test_known_lengths() -> None:
    _check(_Constant(), torch.randn(5, 4), torch.randn(2, 4), others=[])


def test_lengths_that_pytorch_refuses_or_that_change_the_shape_give_nan() -> None:
    torch.manual_seed(0)
    network = nn.GRU(4, 5)
    model, x = _Padded(network, None, enforce_sorted=False).eval(), _input(network)
    program = convoy.compile(model, (x, _LENGTHS), target="cpu").load()
    output, _, _ = program(x, torch.tensor([5, 3, 2]))
    assert bool(output.isnan().all())
    for invalid in (0, -1, _STEPS + 1):
        output, _, last = program(x, torch.tensor([6, invalid, 2]))
        assert output.isnan().any(2).any(0).tolist() == [False, True, False]
        assert last.isnan().any(2)[0].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda packed: packed.batch_sizes.sum(), "got batch_sizes.sum"),
        (lambda packed: packed.batch_sizes[1], "got batch_sizes[1]"),
        (lambda packed: torch.cumsum(packed.batch_sizes, 0), "got batch_sizes in cumsum"),
    ],
)
def test_batch_sizes(use: Any, message: str) -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor, lengths: Tensor) -> Any:
            return use(rnn.pack_padded_sequence(x, lengths))

    with pytest.raises(
        ExportError, match="the batch sizes of a PackedSequence depend on"
    ) as caught:
        convoy.compile(Model().eval(), (torch.ones(6, 3, 4), _LENGTHS), target="cpu")
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize("name", _NETWORKS)
def test_loops_on_the_gpu(name: str) -> None:
    """The kernels of recurrent layers have no ends of sequences."""
    kind, options = _NETWORKS[name]
    network = kind(4, 5, bidirectional=True, **options)
    model = _Padded(network, _STEPS, enforce_sorted=False).eval()
    compiled = convoy.compile(model, (_input(network), _LENGTHS), target="cuda")
    assert "recurrent" not in compiled.phases["group"]
    assert compiled.phases["group"].count("tcp.scan") == 2


@pytest.mark.parametrize("name", _NETWORKS)
def test_bisect_runs_the_networks_of_pytorch(name: str) -> None:
    """Its reference is the recorded graph, which has Convoy's ops on padded tensors."""
    kind, options = _NETWORKS[name]
    torch.manual_seed(0)
    network = kind(4, 5, bidirectional=True, **options)
    model = _Padded(network, _STEPS, enforce_sorted=False).eval()
    inputs = (_input(network), _LENGTHS)
    imported = frontend.import_module(model, inputs)
    finding = bisect_model(model, inputs, imported, CompileOptions.of(target="cpu"))
    assert finding.culprit is None
    assert all(each.difference <= each.limit for each in finding.outputs)
