# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Shape functions of recurrent networks. PyTorch has none: it computes the shapes of an LSTM by
running its decomposition, of one cell for each time step, on tensors without data. So the time of
torch.export would be linear in the length of the sequence."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.fx.experimental.proxy_tensor import get_proxy_mode

__all__ = ["recurrent_shapes", "result_shapes"]

_OPS = (
    torch.ops.aten.lstm.input,
    torch.ops.aten.gru.input,
    torch.ops.aten.rnn_tanh.input,
    torch.ops.aten.rnn_relu.input,
)
_KEYS = (DispatchKey.CompositeImplicitAutograd, DispatchKey.Autograd)


@contextlib.contextmanager
def recurrent_shapes() -> Iterator[None]:
    """Uses the shape functions where no graph is recorded."""
    with contextlib.ExitStack() as stack:
        for op in _OPS:
            stack.enter_context(_replaced(op))
        yield


@contextlib.contextmanager
def _replaced(op: OpOverload) -> Iterator[None]:
    kernels = {key: op.py_kernels[key] for key in _KEYS if key in op.py_kernels}
    decomposition = decomposition_table[op]
    op.py_kernels.update({key: _shapes_or(kernel) for key, kernel in kernels.items()})
    decomposition_table[op] = _shapes_or(decomposition)
    op._dispatch_cache.clear()
    try:
        yield
    finally:
        op.py_kernels.update(kernels)
        decomposition_table[op] = decomposition
        op._dispatch_cache.clear()


def _shapes_or(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """The shape function; the decomposition while its ops are recorded."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if get_proxy_mode() is not None:
            return decomposition(*args, **kwargs)
        return result_shapes(*args, **kwargs)

    return kernel


def result_shapes(
    x: Tensor,
    state: Tensor | Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Tensors of the shapes, strides and dtypes of the results."""
    parts = [state] if isinstance(state, Tensor) else list(state)
    steps, batch = (x.shape[1], x.shape[0]) if batch_first else (x.shape[0], x.shape[1])
    features = parts[0].shape[2] * (2 if bidirectional else 1)
    output = x.new_empty((steps, batch, features))
    last = [part.new_empty(part.shape) for part in parts]
    return (output.transpose(0, 1) if batch_first else output, *last)
