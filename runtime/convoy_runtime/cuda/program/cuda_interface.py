# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The arrays of a call on a GPU, and their copies from and to the static buffers of the program."""

from __future__ import annotations

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.cuda.driver.windows import Copy, copy_in, copy_out
from convoy_runtime.interface import Interface
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.strides import packed_strides
from convoy_runtime.value_types import value_type

from .buffers import Buffers

__all__ = ["NO_COPIES", "Copies", "CudaInterface", "cuda_interface"]

#: The copies of the inputs into the static buffers, and those of the outputs out of them.
Copies = tuple[tuple[Copy, ...], tuple[Copy, ...]]
NO_COPIES: Copies = ((), ())


@value_type(frozen=True, slots=True)
class CudaInterface(Interface):
    """An interface of calls of one program.

    Attributes:
        copies: The copies of arrays on the device.
        host_copies: The copies of arrays on the host.
        results: Shape, strides and dtype of each output, as PyTorch allocates them.
    """

    copies: Copies
    host_copies: Copies
    results: tuple[tuple[tuple[int, ...], tuple[int, ...], str], ...]


def cuda_interface(driver: Driver, buffers: Buffers, interface: Interface) -> CudaInterface:
    """Makes the copies of an interface.

    Args:
        driver: The CUDA driver.
        buffers: The static buffers of the program.
        interface: The interface.
    """
    inputs, outputs = (
        list(zip(pointers, windows, strict=True))
        for pointers, windows in zip(
            (buffers.arguments.inputs, buffers.arguments.outputs), interface.windows, strict=True
        )
    )

    def copies(*, host: bool) -> Copies:
        return (
            tuple([copy_in(driver, *each, host=host) for each in inputs]),
            tuple([copy_out(driver, *each, host=host) for each in outputs]),
        )

    return CudaInterface(
        interface.inputs,
        interface.outputs,
        interface.windows,
        copies(host=False),
        copies(host=True),
        tuple((spec.shape, _strides(spec), spec.dtype) for spec in interface.outputs),
    )


def _strides(spec: TensorSpec) -> tuple[int, ...]:
    """The strides of a tensor as PyTorch allocates it, in which a dim of size 0 counts as 1."""
    return spec.strides or packed_strides(tuple(max(1, size) for size in spec.shape))
