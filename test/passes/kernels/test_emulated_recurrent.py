"""The kernels of recurrent layers (runtime/device/recurrent*.cu) with the instructions of a GPU
emulated on the host: a fiber for each thread, with tensor cores, clusters and shared memory. Results
are compared with PyTorch in float64. test/gpu/test_graph_kernels.py has the same on a GPU."""

from __future__ import annotations

import ctypes

import pytest
import torch
from emulated import DEVICE, build
from torch import Tensor, nn

TYPES = (torch.float16, torch.bfloat16, torch.float32)
LIMITS = {torch.float16: 5e-3, torch.bfloat16: 4e-2, torch.float32: 5e-6}
#: In the order of RecurrentMode.
NETWORKS = (
    (nn.RNN, {"nonlinearity": "relu"}),
    (nn.RNN, {}),
    (nn.LSTM, {}),
    (nn.GRU, {}),
)
RELU, TANH, LSTM, GRU = range(4)


class Arguments(ctypes.Structure):
    """RecurrentArguments of kernel_abi.h."""

    _fields_ = [
        (name, ctypes.c_int)
        for name in ("mode", "steps", "rows", "size", "reverse", "warps", "groups", "split")
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    kernels = (*DEVICE.glob("recurrent*"), DEVICE / "kernel_abi.h")
    return build(tmp_path_factory.mktemp("emulation"), kernels, "recurrent.cpp")


def expected(
    mode: int, given: Tensor, w: Tensor, bias: Tensor, state: list[Tensor], reverse: bool
) -> tuple[Tensor, Tensor]:
    """The outputs and the last cell in float64. Products with the inputs are those with the unit
    matrix."""
    kind, options = NETWORKS[mode]
    size = w.shape[0]
    network = kind(given.shape[2], size, **options).double()
    with torch.no_grad():
        network.weight_ih_l0.copy_(torch.eye(given.shape[2]))
        network.weight_hh_l0.copy_(w.T)
        network.bias_ih_l0.zero_()
        network.bias_hh_l0.zero_()
        if mode == GRU:
            network.bias_hh_l0[2 * size :] = bias
        x = given.double().flip(0) if reverse else given.double()
        parts = [part.double()[None] for part in state]
        y, last = network(x, tuple(parts) if mode == LSTM else parts[0])
    return (y.flip(0) if reverse else y), (last[1][0] if mode == LSTM else last[0])


@pytest.mark.parametrize(
    ("mode", "dtype", "rows", "size", "warps", "groups", "split"),
    [
        # recurrent_step.cu: a state that fills no group, sequences that fill no block, and more
        # steps of the sum than warps.
        (LSTM, torch.float16, 3, 104, 4, 1, 0),
        (LSTM, torch.bfloat16, 9, 72, 4, 1, 0),
        (GRU, torch.float32, 11, 36, 3, 1, 0),
        (GRU, torch.float16, 1, 8, 4, 1, 0),
        (TANH, torch.float16, 8, 136, 16, 1, 0),
        (RELU, torch.float32, 2, 40, 8, 1, 0),
        # Weights in registers, then also in shared memory.
        (LSTM, torch.float16, 3, 40, 6, 3, 1),
        (LSTM, torch.float16, 9, 136, 4, 2, 8),
        (GRU, torch.float32, 5, 36, 5, 5, 1),
        # Clusters, also with a block that has only a part of its columns.
        (LSTM, torch.float16, 1, 104, 16, 4, 2),
        (LSTM, torch.bfloat16, 11, 72, 6, 2, 4),
        (LSTM, torch.float32, 8, 64, 4, 1, 8),
        (GRU, torch.float16, 9, 136, 10, 2, 8),
        (TANH, torch.float32, 3, 136, 16, 2, 4),
        (RELU, torch.float16, 8, 136, 16, 2, 2),
        # Two numbers of the state for each thread.
        (TANH, torch.float16, 8, 40, 8, 1, 1),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_results_are_those_of_pytorch(
    library: ctypes.CDLL,
    mode: int,
    dtype: torch.dtype,
    rows: int,
    size: int,
    warps: int,
    groups: int,
    split: int,
    reverse: bool,
) -> None:
    torch.manual_seed(size)
    steps, gates = 4, (1, 1, 4, 3)[mode]
    given = torch.randn(steps, rows, gates * size).to(dtype)
    w = (torch.randn(size, gates * size) / size**0.5).to(dtype)
    bias = torch.randn(size).to(dtype)
    state = [torch.randn(rows, size).to(dtype) for _ in range(1 + (mode == LSTM))]
    # Without an initial state it is zero.
    has_state = not reverse
    y = torch.full((steps, rows, size), torch.nan, dtype=dtype)
    cell = torch.full((rows, size), torch.nan, dtype=dtype)

    def pointer(tensor: Tensor, given: bool = True) -> ctypes.c_void_p:
        return ctypes.c_void_p(tensor.data_ptr() if given else None)

    library.run(
        TYPES.index(dtype),
        pointer(given),
        pointer(w),
        pointer(bias, mode == GRU),
        pointer(state[0], has_state),
        pointer(state[-1], has_state and mode == LSTM),
        pointer(y),
        pointer(cell, mode == LSTM),
        ctypes.byref(Arguments(mode, steps, rows, size, reverse, warps, groups, split)),
    )
    if not has_state:
        state = [torch.zeros_like(part) for part in state]
    outputs, last = expected(mode, given, w, bias, state, reverse)
    assert float((y.double() - outputs).abs().max()) < LIMITS[dtype]
    if mode == LSTM:
        assert float((cell.double() - last).abs().max()) < LIMITS[dtype]
