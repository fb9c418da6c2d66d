# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Cases of op_cases for recurrent networks: name, module, inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

__all__ = ["RECURRENT_CASES", "Recurrent"]

_STEPS, _BATCH, _FEATURES, _HIDDEN = 5, 3, 4, 6


class Recurrent(nn.Module):
    """A recurrent network whose inputs and results are in flat lists: the output, then the parts of
    the state. Without a state among the inputs PyTorch uses zeros."""

    def __init__(self, kind: type[nn.RNNBase], *sizes: int, **options: Any) -> None:
        super().__init__()
        self.network = kind(*sizes, **options)

    def forward(self, x: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        given = state if isinstance(self.network, nn.LSTM) else state[0] if state else None
        output, last = self.network(x, given) if state else self.network(x)
        return (output, *(last if isinstance(last, tuple) else [last]))


class _Packed(Recurrent):
    """The same for sequences of several lengths, in an order of their own."""

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, last = self.network(packed)
        padded, _ = rnn.pad_packed_sequence(output, total_length=_STEPS + 1)
        return (padded, *(last if isinstance(last, tuple) else [last]))


def _network(
    kind: type[nn.RNNBase], module: type[nn.Module] = Recurrent, **options: Any
) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        return module(kind, _FEATURES, _HIDDEN, **options)

    make.makes_module = True  # type: ignore[attr-defined]
    return make


def _state(directions: int, *sizes: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(directions)
    return tuple(torch.randn(directions, _BATCH, size, generator=generator) for size in sizes)


_X = (_STEPS, _BATCH, _FEATURES)
_BATCH_FIRST = (_BATCH, _STEPS, _FEATURES)
_KINDS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "gru": (nn.GRU, {}),
    "rnn_tanh": (nn.RNN, {}),
    "rnn_relu": (nn.RNN, {"nonlinearity": "relu"}),
}
_FORMS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "plain": ({}, _X),
    "no_bias": ({"bias": False}, _X),
    "layers": ({"num_layers": 2, "dropout": 0.5, "bidirectional": True}, _X),
    "batch_first": ({"batch_first": True, "bidirectional": True, "bias": False}, _BATCH_FIRST),
    "no_batch": ({"num_layers": 2}, (_STEPS, _FEATURES)),
    "one_step": ({}, (1, _BATCH, _FEATURES)),
}

RECURRENT_CASES: list[tuple[str, Callable[..., Any], *tuple[Any, ...]]] = [
    (f"{name}_{form}", _network(kind, **options, **more), shape)
    for name, (kind, options) in _KINDS.items()
    for form, (more, shape) in _FORMS.items()
]
RECURRENT_CASES += [
    (f"{name}_state", _network(kind, **options, bidirectional=True), _X, *_state(2, *sizes))
    for (name, (kind, options)), sizes in zip(
        _KINDS.items(), ((_HIDDEN, _HIDDEN), (_HIDDEN,), (_HIDDEN,), (_HIDDEN,)), strict=True
    )
]
RECURRENT_CASES += [
    ("lstm_projection", _network(nn.LSTM, proj_size=2, num_layers=2), _X),
    ("lstm_projection_no_bias", _network(nn.LSTM, proj_size=2, bias=False), _X),
    ("lstm_projection_state", _network(nn.LSTM, proj_size=2), _X, *_state(1, 2, _HIDDEN)),
]
RECURRENT_CASES += [
    (
        f"{name}_packed",
        _network(kind, _Packed, bidirectional=True, **options),
        _X,
        torch.tensor([2, _STEPS, 1]),
    )
    for name, (kind, options) in _KINDS.items()
]
