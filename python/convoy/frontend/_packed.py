# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Packed sequences: batches of sequences of several lengths, as recurrent networks take them.

A PackedSequence has the rows of all time steps without padding, so its size depends on the values
of the lengths. Here recurrent networks compute the padded tensor, and keep their state behind the
end of each sequence. The rows themselves are those that a mask selects, so ops that compute each
row by itself may come between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.overrides import TorchFunctionMode

from convoy.frontend._recurrent_shapes import result_shapes

__all__ = ["RecordPackedSequences"]

_LIBRARY = torch.library.Library("convoy", "FRAGMENT")  # type: ignore[no-untyped-call]
_NETWORKS: dict[Callable[..., Any], str] = {
    torch.lstm: "padded_lstm",
    torch.gru: "padded_gru",
    torch.rnn_tanh: "padded_rnn_tanh",
    torch.rnn_relu: "padded_rnn_relu",
}

_USE = (
    "the batch sizes of a PackedSequence depend on the values of the lengths; expected recurrent "
    "networks and pad_packed_sequence as their uses, got batch_sizes{use}"
)


def _shapes(
    x: Tensor,
    valid: Tensor,
    state: Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    """Tensors of the shapes and dtypes of the results."""
    return result_shapes(
        x, state, weights, has_biases, num_layers, 0.0, False, bidirectional, False
    )


def _kernel_of(network: Callable[..., Any]) -> Callable[..., tuple[Tensor, ...]]:
    """PyTorch's network on a packed sequence, with which `convoy bisect` compares."""

    def kernel(
        x: Tensor,
        valid: Tensor,
        state: Sequence[Tensor],
        weights: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        bidirectional: bool,
    ) -> tuple[Tensor, ...]:
        lengths, order = valid.sum(0).sort(descending=True)
        parts = [part[:, order] for part in state]
        rows, sizes = torch._pack_padded_sequence(x[:, order], lengths.cpu(), False)
        given = parts if network is torch.lstm else parts[0]
        rows, *last = network(
            rows, sizes, given, weights, has_biases, num_layers, 0.0, False, bidirectional
        )
        output, _ = torch._pad_packed_sequence(rows, sizes, False, 0.0, x.shape[0])
        return tuple(each.index_select(1, order.argsort()) for each in (output, *last))

    return kernel


for _network, _name in _NETWORKS.items():
    _results = "Tensor, Tensor, Tensor" if _network is torch.lstm else "Tensor, Tensor"
    _LIBRARY.define(  # type: ignore[no-untyped-call]
        f"{_name}(Tensor x, Tensor valid, Tensor[] state, Tensor[] weights, bool has_biases, "
        f"int num_layers, bool bidirectional) -> ({_results})"
    )
    _LIBRARY.impl(_name, _shapes, "Meta")  # type: ignore[no-untyped-call]
    for _key in ("CPU", "CUDA"):
        _LIBRARY.impl(_name, _kernel_of(_network), _key)  # type: ignore[no-untyped-call]


class RecordPackedSequences(TorchFunctionMode):
    """Packs and unpacks sequences while ops are recorded."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is torch._pack_padded_sequence and get_proxy_mode() is not None:
            return _pack(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


class _Longest(int):
    """The length of the longest sequence, which is the number of time steps of the padded
    tensor."""


class _BatchSizes:
    """In place of the tensor `PackedSequence.batch_sizes`.

    Attributes:
        valid: Whether each sequence has a time step: [T, B].
        longest: The number of time steps, an object of its own.
        padded: The rows and padded tensors that belong together.
    """

    device = torch.device("cpu")

    def __init__(self, valid: Tensor) -> None:
        steps = valid.shape[0]
        self.valid = valid
        self.longest = _Longest(steps) if isinstance(steps, int) else torch.SymInt(steps.node)
        self.padded: list[tuple[Tensor, Tensor]] = []

    def __getitem__(self, step: int) -> int:
        """The number of sequences. All have a first time step."""
        if step != 0:
            raise AttributeError(_USE.format(use=f"[{step}]"))
        return self.valid.shape[1]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_USE.format(use=f".{name}"))

    def size(self, dim: int) -> int | torch.SymInt:
        """The number of time steps."""
        return (self.longest,)[dim]

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in _NETWORKS:
            return _run(_NETWORKS[func], *args, **(kwargs or {}))
        if func is torch._pad_packed_sequence:
            return _pad(*args, **(kwargs or {}))
        raise TypeError(_USE.format(use=f" in {getattr(func, '__name__', func)}"))

    def rows_of(self, padded: Tensor) -> Tensor:
        """The rows of all sequences, those of each time step together: [rows, ...]."""
        rows = padded.flatten(0, 1)[self.valid.flatten()]
        self.padded.append((rows, padded))
        return rows

    def padded_of(self, rows: Tensor) -> Tensor:
        """The padded tensor of rows: [T, B, ...]."""
        for own, padded in self.padded:
            if own is rows:
                return padded
        steps, batch = self.valid.shape
        padded = rows.new_zeros((steps * batch, *rows.shape[1:]))
        padded[self.valid.flatten()] = rows
        return padded.reshape(steps, batch, *rows.shape[1:])


def _pack(x: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, _BatchSizes]:
    """torch._pack_padded_sequence. Sequences with an invalid length consist of NaN."""
    x = x.transpose(0, 1) if batch_first else x
    steps, batch = x.shape[:2]
    lengths = lengths.to(x.device)
    is_length = (lengths > 0) & (lengths <= steps)
    x = torch.where(is_length.reshape(batch, *[1] * (x.dim() - 2)), x, _invalid(x.dtype))
    at = torch.arange(steps, device=x.device)[:, None]
    sizes = _BatchSizes(at < lengths.clamp(min=1))
    return sizes.rows_of(x), sizes


def _invalid(dtype: torch.dtype) -> float | int | bool:
    """What the results of an index out of range are."""
    if dtype.is_floating_point:
        return math.nan
    return False if dtype == torch.bool else torch.iinfo(dtype).min


def _run(
    name: str,
    rows: Tensor,
    sizes: _BatchSizes,
    state: Tensor | Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    """The forms of torch.lstm, torch.gru, torch.rnn_tanh and torch.rnn_relu on packed sequences."""
    parts = [state] if isinstance(state, Tensor) else list(state)
    output, *last = getattr(torch.ops.convoy, name)(
        sizes.padded_of(rows),
        sizes.valid,
        parts,
        list(weights),
        has_biases,
        num_layers,
        bidirectional,
    )
    return (sizes.rows_of(output), *last)


def _pad(
    rows: Tensor, sizes: _BatchSizes, batch_first: bool, value: float, total_length: int
) -> tuple[Tensor, Tensor]:
    """torch._pad_packed_sequence. In PyTorch the longest sequence has as many time steps as the
    result, unless the model gives `total_length`. A result with other sequences consists of NaN."""
    valid = sizes.valid
    steps = valid.shape[0]
    padded = sizes.padded_of(rows)
    is_valid = valid.reshape(*valid.shape, *[1] * (padded.dim() - 2))
    padded = torch.where(is_valid, padded, value)
    if total_length is sizes.longest:
        padded = torch.where(valid[-1].any(), padded, _invalid(padded.dtype))
    elif total_length > steps:
        missing = padded.new_full((total_length - steps, *padded.shape[1:]), value)
        padded = torch.cat([padded, missing])
    lengths = valid.sum(0)
    return padded.transpose(0, 1) if batch_first else padded, lengths
