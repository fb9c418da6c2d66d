# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The arrays of a call on a GPU, and their windows of the static buffers of the program."""

from __future__ import annotations

from convoy_runtime.interface import Interface
from convoy_runtime.known_tensors import KnownTensors
from convoy_runtime.torch_tensors import Result, results_of
from convoy_runtime.value_types import value_type

from .buffers import Buffers
from .native_runs import NativeRuns, RunArrays

__all__ = ["CudaInterface", "cuda_interface"]


@value_type(frozen=True, slots=True)
class CudaInterface(Interface):
    """An interface of calls of one program.

    Attributes:
        arrays: The windows of the arrays of a call.
        known: The inputs of earlier calls.
        results: Each output as PyTorch allocates it.
    """

    arrays: RunArrays
    known: KnownTensors
    results: tuple[Result, ...]


def cuda_interface(runs: NativeRuns, buffers: Buffers, interface: Interface) -> CudaInterface:
    """Computes once what each call of an interface needs.

    Args:
        runs: Enqueues the runs.
        buffers: The static buffers of the program.
        interface: The interface.
    """
    inputs, outputs = (
        list(zip(pointers, windows, strict=True))
        for pointers, windows in zip(
            (buffers.arguments.inputs, buffers.arguments.outputs), interface.windows, strict=True
        )
    )
    return CudaInterface(
        interface.inputs,
        interface.outputs,
        interface.windows,
        runs.arrays(inputs, outputs),
        KnownTensors(),
        results_of(interface.outputs),
    )
