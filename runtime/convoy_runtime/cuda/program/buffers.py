# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The static memory of a program: its interface, its arena, its workspaces and its prepared
weights. The programs for the points of one artifact, which run one after another, share it."""

from __future__ import annotations

from collections.abc import Sequence

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation, carve, carved_bytes
from convoy_runtime.cuda.graphs.forms import Arguments
from convoy_runtime.errors import CudaError
from convoy_runtime.manifest import Manifest, TensorSpec

__all__ = ["Buffers", "ProgramMemory"]


class ProgramMemory:
    """The memory of one program, or of several that run one after another: weights of equal origin
    once, and the largest interface, arena and workspaces.

    Args:
        device: The GPU, which is current.
        manifests: The programs.

    Attributes:
        scratch: The memory of interface and arena.
        workspace: The memory of the workspaces that `reserve` was called for.
        weights: The memory of the prepared weights.
        prepared: Key of a prepared weight to its pointer.

    Raises:
        CudaError: The device has too little memory.
    """

    def __init__(self, device: Device, manifests: Sequence[Manifest]) -> None:
        self.driver, self._device = device.driver, device
        specs = {key_of(spec): spec for manifest in manifests for spec in manifest.prepared}
        self.weights, pointers = carve(device, [spec.bytes for spec in specs.values()])
        self.prepared = dict(zip(specs, pointers, strict=True))
        self.scratch = Allocation(
            device, max(carved_bytes(_scratch(manifest)) for manifest in manifests)
        )
        self.workspace = Allocation(device, 0)

    @property
    def size(self) -> int:
        """The size of all of it in bytes."""
        return self.scratch.size + self.workspace.size + self.weights.size

    def reserve(self, size: int) -> None:
        """Makes `workspace` at least this large. Arguments and errors as `resize`."""
        if size > self.workspace.size:
            self.resize(size)

    def resize(self, size: int) -> None:
        """Replaces `workspace`. Graphs that were captured with the old one keep it.

        Args:
            size: In bytes.

        Raises:
            CudaError: The device has too little memory. `workspace` has its old size.
        """
        old = self.workspace.size
        # Freed first, so that both need not fit.
        self.workspace = Allocation(self._device, 0)
        try:
            self.workspace = Allocation(self._device, size)
        except CudaError:
            self.workspace = Allocation(self._device, old)
            raise

    def clear(self, stream: int) -> None:
        """Enqueues a memset of all memory to zero."""
        for each in (self.scratch, self.weights):
            if each.size:
                self.driver.call("cuMemsetD8Async", each.pointer, 0, each.size, stream)


class Buffers:
    """The inputs, outputs, prepared weights and arena of a program.

    Args:
        memory: The memory, which may have a larger program's size.
        manifest: The program.

    Attributes:
        program_memory: The memory.
        memory: The allocation of inputs and outputs. Arrays on it keep it alive.
        arguments: The pointer arguments of `convoy_main`.
        inputs: Pointer and size in bytes of each input.
        outputs: Pointer and size in bytes of each output.
        arena: Pointer and size in bytes of the arena.
    """

    def __init__(self, memory: ProgramMemory, manifest: Manifest) -> None:
        self.program_memory, self.memory = memory, memory.scratch
        _, pointers = carve(self.memory, _scratch(manifest))
        count, arena = len(manifest.inputs), pointers[-1]
        self.arguments = Arguments(
            inputs=pointers[:count],
            prepared=[memory.prepared[key_of(spec)] for spec in manifest.prepared],
            outputs=[arena + offset for offset in manifest.output_offsets] or pointers[count:-1],
            arena=arena,
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
        """Enqueues a memset of all memory to zero."""
        self.program_memory.clear(stream)


def key_of(spec: TensorSpec) -> str:
    """What identifies a prepared weight: its origin, or its name in a program without origins."""
    return spec.origin or spec.name


def _scratch(manifest: Manifest) -> list[int]:
    """The sizes of the inputs, the outputs outside of the arena, and the arena."""
    return [
        *(spec.bytes for spec in (*manifest.inputs, *manifest.own_outputs)),
        manifest.arena_bytes,
    ]
