"""The shape functions of recurrent networks: the results of PyTorch's decompositions, in a time that
does not depend on the length of the sequence, and without traces in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from frontend_checks import ops
from torch import nn
from torch._decomp import decomposition_table
from torch._subclasses import FakeTensorMode

from convoy.frontend import import_module
from convoy.frontend._recurrent_shapes import recurrent_shapes

_NETWORKS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm_projection": (nn.LSTM, {"proj_size": 3}),
    "gru": (nn.GRU, {}),
    "rnn_tanh": (nn.RNN, {}),
    "rnn_relu": (nn.RNN, {"nonlinearity": "relu"}),
}


def _kinds(network: nn.Module, x: torch.Tensor) -> list[tuple[Any, ...]]:
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        results = network(mode.from_tensor(x))
    return [
        (tuple(each.shape), each.stride(), each.dtype)
        for each in torch.utils._pytree.tree_leaves(results)
    ]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("name", _NETWORKS)
def test_shapes_are_those_of_the_decomposition(name: str, batch_first: bool) -> None:
    kind, options = _NETWORKS[name]
    network = kind(
        4,
        6,
        num_layers=2,
        bidirectional=True,
        batch_first=batch_first,
        dtype=torch.bfloat16,
        **options,
    ).eval()
    x = torch.randn(3, 5, 4, dtype=torch.bfloat16)
    expected = _kinds(network, x)
    with recurrent_shapes():
        assert _kinds(network, x) == expected


@pytest.mark.parametrize("name", _NETWORKS)
def test_no_decomposition_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would compute the shapes of each time step."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    for each in ("one_layer_lstm", "one_layer_rnn"):
        monkeypatch.setattr(f"torch._decomp.decompositions.{each}", fail)
    kind, options = _NETWORKS[name]
    imported = import_module(kind(4, 6, **options).eval(), (torch.randn(1000, 1, 4),))
    assert sum(op.startswith("scan") for op in ops(imported.text)) == 1


def test_pytorch_is_unchanged_afterwards() -> None:
    op = torch.ops.aten.lstm.input
    before = dict(op.py_kernels), decomposition_table[op]
    with recurrent_shapes():
        assert decomposition_table[op] is not before[1]
    assert (dict(op.py_kernels), decomposition_table[op]) == before
