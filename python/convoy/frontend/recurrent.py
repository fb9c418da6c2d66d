# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recurrent networks: LSTM, GRU and RNN. Each direction of a layer is one `tcp.scan`. The products
with the inputs of all time steps are one product before it; its body has the product with the state
and the gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Step, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.linear import product_with_weights

__all__: list[str] = []


@dataclass(frozen=True)
class _Cell:
    """What differs between the networks.

    Attributes:
        step: Builds a step from the state, the product with its input, and `invariant`.
        bias: What is added to the products with the inputs; None without biases.
        invariant: Other tensors that the steps use.
    """

    step: Step
    bias: ir.Value | None
    invariant: Sequence[ir.Value]


#: Makes a cell from the transposed weights of the state, the biases of input and state, if any, and
#: the transposed weights of a projection, if any.
_Make = Callable[[Builder, ir.Value, Sequence[ir.Value], Sequence[ir.Value]], _Cell]


def _lstm(
    b: Builder, weights: ir.Value, biases: Sequence[ir.Value], projection: Sequence[ir.Value]
) -> _Cell:
    """Gates in the order input, forget, cell, output."""

    def step(
        b: Builder,
        state: Sequence[ir.Value],
        element: Sequence[ir.Value],
        invariant: Sequence[ir.Value],
    ) -> Sequence[ir.Value]:
        gates = b.binary(tcp.AddOp, b.matmul(state[0], invariant[0]), element[0])
        first, forget, new, last = _parts(b, gates, 4)
        kept = b.binary(tcp.MulOp, b.unary(tcp.SigmoidOp, forget), state[1])
        added = b.binary(tcp.MulOp, b.unary(tcp.SigmoidOp, first), b.unary(tcp.TanhOp, new))
        cell = b.binary(tcp.AddOp, kept, added)
        hidden = b.binary(tcp.MulOp, b.unary(tcp.SigmoidOp, last), b.unary(tcp.TanhOp, cell))
        for matrix in invariant[1:]:
            hidden = b.matmul(hidden, matrix)
        return hidden, cell, hidden

    return _Cell(step, b.binary(tcp.AddOp, *biases) if biases else None, [weights, *projection])


def _gru(
    b: Builder, weights: ir.Value, biases: Sequence[ir.Value], _projection: Sequence[ir.Value]
) -> _Cell:
    """Gates in the order reset, update, new. The reset gate scales the bias of the state's part of
    the new gate, which is therefore added in the body."""

    def step(
        b: Builder,
        state: Sequence[ir.Value],
        element: Sequence[ir.Value],
        invariant: Sequence[ir.Value],
    ) -> Sequence[ir.Value]:
        own = _parts(b, b.matmul(state[0], invariant[0]), 3)
        given = _parts(b, element[0], 3)
        reset, update = (
            b.unary(tcp.SigmoidOp, b.binary(tcp.AddOp, given[gate], own[gate])) for gate in (0, 1)
        )
        part = own[2]
        for bias in invariant[1:]:
            part = b.binary(tcp.AddOp, part, bias)
        part = b.binary(tcp.MulOp, reset, part)
        new = b.unary(tcp.TanhOp, b.binary(tcp.AddOp, given[2], part))
        change = b.binary(tcp.MulOp, update, b.binary(tcp.SubOp, state[0], new))
        hidden = b.binary(tcp.AddOp, new, change)
        return hidden, hidden

    if not biases:
        return _Cell(step, None, [weights])
    size = type_of(biases[0]).shape[0] // 3
    both = b.slice(b.binary(tcp.AddOp, *biases), 0, 0, 2 * size)
    given, own = (b.slice(bias, 0, 2 * size, size) for bias in biases)
    return _Cell(step, b.concat([both, given], 0), [weights, b.reshape(own, (1, size))])


def _rnn(activation: Callable[[Builder, ir.Value], ir.Value]) -> _Make:
    def make(
        b: Builder, weights: ir.Value, biases: Sequence[ir.Value], _projection: Sequence[ir.Value]
    ) -> _Cell:
        def step(
            b: Builder,
            state: Sequence[ir.Value],
            element: Sequence[ir.Value],
            invariant: Sequence[ir.Value],
        ) -> Sequence[ir.Value]:
            total = b.binary(tcp.AddOp, b.matmul(state[0], invariant[0]), element[0])
            hidden = activation(b, total)
            return hidden, hidden

        return _Cell(step, b.binary(tcp.AddOp, *biases) if biases else None, [weights])

    return make


_CELLS: dict[str, _Make] = {
    "aten.lstm.input": _lstm,
    "aten.gru.input": _gru,
    "aten.rnn_tanh.input": _rnn(lambda b, x: b.unary(tcp.TanhOp, x)),
    "aten.rnn_relu.input": _rnn(lambda b, x: b.clamp(x, 0, None)),
}
#: The networks that `_packed.py` records.
_PADDED_CELLS = {
    f"convoy.padded_{name.removeprefix('aten.').removesuffix('.input')}": make
    for name, make in _CELLS.items()
}


@converts(*_CELLS)
def recurrent(b: Builder, call: Call) -> Sequence[ir.Value]:
    """All layers. The results are the outputs of the last layer, and for each part of the state its
    last value in each direction of each layer."""
    x, state, weights, biases, layers, dropout, train, bidirectional, batch_first = call.args
    if train and dropout:
        msg = f"expected a network without dropout, or eval(), got dropout of {dropout}"
        raise Unsupported(msg)
    state = state if isinstance(state, list) else [state]
    if batch_first:
        x = b.transpose(x, [1, 0, 2])
    x, *last = _layers(b, _CELLS[call.name], x, state, weights, biases, layers, bidirectional)
    if batch_first:
        x = b.transpose(x, [1, 0, 2])
    return [x, *last]


@converts(*_PADDED_CELLS)
def padded_recurrent(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The networks of `_packed.py`. In a step that a sequence does not have, it keeps its state."""
    x, valid, state, weights, biases, layers, bidirectional = call.args
    valid = b.reshape(valid, (*type_of(valid).shape, 1))
    make = _PADDED_CELLS[call.name]
    return _layers(b, make, x, state, weights, biases, layers, bidirectional, valid)


def _layers(
    b: Builder,
    make: _Make,
    x: ir.Value,
    state: Sequence[ir.Value],
    weights: Sequence[ir.Value],
    has_biases: bool,
    layers: int,
    bidirectional: bool,
    valid: ir.Value | None = None,
) -> list[ir.Value]:
    """All layers: the outputs of the last one, and the last values of the state."""
    directions = 2 if bidirectional else 1
    count = len(weights) // (layers * directions)
    last: list[list[ir.Value]] = [[] for _ in state]
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            *found, output = _direction(
                b,
                make,
                x,
                [_element(b, part, index) for part in state],
                weights[index * count : (index + 1) * count],
                valid,
                has_biases=has_biases,
                reverse=direction == 1,
            )
            outputs.append(output)
            for values, value in zip(last, found, strict=True):
                values.append(b.reshape(value, (1, *type_of(value).shape)))
        x = b.concat(outputs, 2)
    return [x, *(b.concat(values, 0) for values in last)]


def _direction(
    b: Builder,
    make: _Make,
    x: ir.Value,
    state: Sequence[ir.Value],
    weights: Sequence[ir.Value],
    valid: ir.Value | None,
    *,
    has_biases: bool,
    reverse: bool,
) -> list[ir.Value]:
    """One direction of a layer: the last state and the outputs of all steps. `valid` has the steps
    of each sequence, [T, B, 1]."""
    of_input, of_state, *rest = weights
    biases, projection = (rest[:2], rest[2:]) if has_biases else ([], rest)
    matrices = [b.transpose(weight, [1, 0]) for weight in (of_state, *projection)]
    cell = make(b, matrices[0], biases, matrices[1:])
    given = product_with_weights(b, x, of_input, cell.bias)
    output = type_of(state[0])
    return b.scan(
        type_of(x).shape[0],
        cell.step if valid is None else _kept_behind_the_end(cell.step),
        state,
        [given] if valid is None else [given, valid],
        cell.invariant,
        [TensorType(output.shape, output.dtype)],
        reverse=reverse,
    )


def _kept_behind_the_end(step: Step) -> Step:
    """A step that keeps the state where its last element is false."""

    def kept(
        b: Builder,
        state: Sequence[ir.Value],
        element: Sequence[ir.Value],
        invariant: Sequence[ir.Value],
    ) -> Sequence[ir.Value]:
        *given, valid = element
        *new, output = step(b, state, given, invariant)
        return [*(b.select(valid, a, old) for a, old in zip(new, state, strict=True)), output]

    return kept


def _element(b: Builder, x: ir.Value, index: int) -> ir.Value:
    """Element `index` along dim 0."""
    return b.reshape(b.slice(x, 0, index, 1), type_of(x).shape[1:])


def _parts(b: Builder, x: ir.Value, count: int) -> list[ir.Value]:
    """Equal parts of dim 1."""
    size = type_of(x).shape[1] // count
    return [b.slice(x, 1, index * size, size) for index in range(count)]
