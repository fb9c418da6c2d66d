# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The static memory of a program: one allocation for the tensors of its interface and its arena."""

from __future__ import annotations

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import carve
from convoy_runtime.cuda.graphs.forms import Arguments
from convoy_runtime.manifest import Manifest

__all__ = ["Buffers"]


class Buffers:
    """Memory for the inputs, outputs, prepared weights and arena of a program.

    Args:
        device: The GPU, which is current.
        manifest: The program.

    Attributes:
        memory: The allocation. Arrays on it keep it alive.
        arguments: The pointer arguments of `convoy_main`.
        inputs: Pointer and size in bytes of each input.
        outputs: Pointer and size in bytes of each output.
        arena: Pointer and size in bytes of the arena.

    Raises:
        CudaError: The device has too little memory.
    """

    def __init__(self, device: Device, manifest: Manifest) -> None:
        self._driver = device.driver
        specs = (*manifest.inputs, *manifest.outputs, *manifest.prepared)
        sizes = [*(spec.bytes for spec in specs), manifest.arena_bytes]
        self.memory, pointers = carve(device, sizes)
        ends = len(manifest.inputs), len(manifest.inputs) + len(manifest.outputs), len(specs)
        self.arguments = Arguments(
            inputs=pointers[: ends[0]],
            prepared=pointers[ends[1] : ends[2]],
            outputs=pointers[ends[0] : ends[1]],
            arena=pointers[-1],
        )
        self.inputs = [
            (pointer, spec.bytes)
            for pointer, spec in zip(self.arguments.inputs, manifest.inputs, strict=True)
        ]
        self.outputs = [
            (pointer, spec.bytes)
            for pointer, spec in zip(self.arguments.outputs, manifest.outputs, strict=True)
        ]
        self.arena = self.arguments.arena, manifest.arena_bytes

    def clear(self, stream: int) -> None:
        """Enqueues a memset of all buffers to zero."""
        self._driver.call("cuMemsetD8Async", self.memory.pointer, 0, self.memory.size, stream)
