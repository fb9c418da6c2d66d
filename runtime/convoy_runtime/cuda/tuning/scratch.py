# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Buffers for measuring the candidates for a graph: sets of its tensors, larger than the L2 cache
in total, with guards around tensors and workspace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log2, prod
from typing import Final

import numpy as np

from convoy_runtime.cuda.driver.device import Device, Driver
from convoy_runtime.cuda.driver.memory import ALIGNMENT, Allocation
from convoy_runtime.cuda.plans.plan import Queue
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import Graph, Manifest

from .result_memory import ResultMemory

__all__ = ["Scratch", "cold_sets", "fill_inputs", "fill_random", "fill_weights", "read_tensor"]

#: Bytes before and after each tensor that must not be written. They are NaN as floats, which also
#: reveals reads.
_GUARD = 4096
_GUARD_BYTE = 0xFF
#: The period of the random inputs in elements. It is prime, so that rows differ.
_RANDOM = 1_000_003
#: The number of compared chunks of a large output, evenly distributed over it.
_CHUNKS = 64
_CHUNK_BYTES = 4 << 10
_MAX_SETS = 16
#: Operations that multiply their results by the weights again, in each step. With weights of
#: variance 1 the effect of a rounding would grow from step to step, and correct results would
#: differ.
_RECURRENT: Final = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))


def cold_sets(device: Device, size: int) -> int:
    """Returns the number of sets of buffers of `size` bytes to use in turn, so that a set is not in
    the L2 cache when it is used again."""
    return max(1, min(_MAX_SETS, -(-2 * device.attribute("L2_CACHE_SIZE") // max(1, size))))


class Scratch:
    """Buffers for one graph.

    Args:
        device: The GPU, which is current.
        stream: The handle of the stream.
        graph: The graph.
        workspace_bytes: The size of the workspace in bytes.

    Attributes:
        sets: In each set, the pointer of each tensor in the order of the manifest. All sets have
            the same inputs.
        workspace: The pointer of the workspace.
        workspace_bytes: The size of the workspace in bytes.

    Raises:
        CudaError: The device has too little memory.
    """

    def __init__(self, device: Device, stream: int, graph: Graph, workspace_bytes: int) -> None:
        self._driver, self._stream, self._graph = device.driver, stream, graph
        self.workspace_bytes = workspace_bytes
        self._sizes = [tensor.bytes for tensor in graph.tensors]
        count = cold_sets(device, sum(self._sizes))
        # One allocation: guard, tensor, guard, tensor, ... guard, workspace, guard.
        offsets, end = [], _GUARD
        for size in [*(self._sizes * count), workspace_bytes]:
            offsets.append(end)
            end += -(-size // ALIGNMENT) * ALIGNMENT + _GUARD
        self._memory = Allocation(device, end)
        self._call("cuMemsetD8Async", self._memory.pointer, _GUARD_BYTE, end)
        pointers = [self._memory.pointer + offset for offset in offsets]
        self.sets = [
            pointers[index : index + len(self._sizes)]
            for index in range(0, count * len(self._sizes), len(self._sizes))
        ]
        self.workspace = pointers[-1]
        for position, tensor in enumerate(graph.tensors):
            if tensor.role == "input":
                first, size = self.sets[0][position], self._sizes[position]
                scale = _scale(graph, position)
                fill_random(
                    self._driver, stream, first, size, tensor.dtype, scale=scale, seed=position
                )
                for pointers in self.sets[1:] if size else ():
                    self._call("cuMemcpyDtoDAsync", pointers[position], first, size)

    def poison(self) -> None:
        """Fills the outputs of the first set with NaN, to reveal elements that a run does not
        write."""
        for pointer, size, tensor in zip(
            self.sets[0], self._sizes, self._graph.tensors, strict=True
        ):
            if tensor.role == "output" and size:
                self._call("cuMemsetD8Async", pointer, _GUARD_BYTE, size)

    def outputs(self, memory: ResultMemory | None = None) -> list[np.ndarray]:
        """Returns the outputs of the first set as float32, or chunks of large ones, in `memory`, by
        default in new arrays."""
        found = []
        for pointer, size, tensor in zip(
            self.sets[0], self._sizes, self._graph.tensors, strict=True
        ):
            if tensor.role == "output":
                found.append(
                    read_tensor(self._driver, self._stream, pointer, size, tensor.dtype, memory)
                )
        return found

    def trespass(self, workspace_bytes: int) -> str | None:
        """Returns the first overwritten guard around the first set's tensors or after
        `workspace_bytes` of the workspace, or None. Restores the guards."""
        tensors = zip(
            self.sets[0],
            self._sizes,
            (f"tensor {tensor.uid}" for tensor in self._graph.tensors),
            strict=True,
        )
        guards: list[tuple[int, str]] = []
        for pointer, size, name in (*tensors, (self.workspace, workspace_bytes, "the workspace")):
            guards += [(pointer - _GUARD, f"before {name}"), (pointer + size, f"after {name}")]
        found = None
        contents = np.empty(len(guards) * _GUARD, np.uint8)
        _read(
            self._driver, self._stream, [(begin, begin + _GUARD) for begin, _ in guards], contents
        )
        for (begin, place), content in zip(guards, contents.reshape(-1, _GUARD), strict=True):
            if (content != _GUARD_BYTE).any():
                self._call("cuMemsetD8Async", begin, _GUARD_BYTE, _GUARD)
                found = found or f"writes {place}"
        return found

    def guard_workspace(self, size: int) -> None:
        """Writes a guard after `size` bytes of the workspace."""
        self._call("cuMemsetD8Async", self.workspace + size, _GUARD_BYTE, _GUARD)

    def close(self) -> None:
        """Frees the memory."""
        del self._memory

    def _call(self, name: str, *arguments: object) -> None:
        self._driver.call(name, *arguments, self._stream)


def _scale(graph: Graph, position: int) -> float:
    """The standard deviation of the random numbers of an operand."""
    # The second operand of a recurrent layer has the weights.
    is_fed_back = position == 1 and not _RECURRENT.isdisjoint(graph.ops)
    return float(graph.tensors[position].shape[-1] ** -0.5) if is_fed_back else 1.0


def fill_inputs(manifest: Manifest, queue: Queue, pointers: Sequence[int]) -> None:
    """Fills the inputs of a program with random numbers. On zeros the GPU reaches higher clocks
    than on real data."""
    for spec, pointer in zip(manifest.inputs, pointers, strict=True):
        fill_random(queue.driver, queue.stream, pointer, spec.bytes, spec.dtype)


def fill_weights(manifest: Manifest, queue: Queue, pointers: Sequence[int]) -> None:
    """Fills the prepared weights of a program with random numbers."""
    for spec, pointer in zip(manifest.prepared, pointers, strict=True):
        # A weight of K x C x ... is divided by the square root of its fan-in, so that values stay
        # in range over many layers. A DenseNet has weights of 100 fan-ins, so the scales of random
        # blocks are powers of 2 ** (1 / 4).
        fan_in = max(1, prod(spec.shape[1:]))
        scale = 2.0 ** (round(log2(fan_in**-0.5) * 4) / 4)
        fill_random(queue.driver, queue.stream, pointer, spec.bytes, spec.dtype, scale=scale)


def read_tensor(
    driver: Driver,
    stream: int,
    pointer: int,
    size: int,
    dtype: str,
    memory: ResultMemory | None = None,
) -> np.ndarray:
    """Reads a tensor, or chunks of a large one. Waits for the stream.

    Args:
        driver: The CUDA driver.
        stream: The handle of the stream.
        pointer: The tensor on the device.
        size: Its size in bytes.
        dtype: The type of the elements.
        memory: Allocates the result. Default: a new array.

    Returns:
        The elements as float32, one-dimensional.

    Raises:
        CudaError: The driver fails.
    """
    memory = ResultMemory() if memory is None else memory
    count = min(size, _CHUNKS * _CHUNK_BYTES)
    result = memory.empty(count // DTYPES[dtype].bytes, np.float32)
    with memory.released():
        host = memory.empty(count, np.uint8)
        if count == size:
            _read(driver, stream, [(pointer, pointer + size)], host)
        else:
            _read_chunks(driver, stream, pointer, size, DTYPES[dtype].bytes, host)
        _convert(host, dtype, result)
    return result


def _read_chunks(
    driver: Driver, stream: int, pointer: int, size: int, element: int, host: np.ndarray
) -> None:
    """Reads chunks of a tensor of `size` bytes into `host`. Waits for the stream."""
    pitch = (size - _CHUNK_BYTES) // (_CHUNKS - 1) // element * element
    # One call and not one for each chunk, of which 64 take 0.6 ms. The last chunk is at the end.
    kinds, copy = driver.module.CUmemorytype, driver.module.CUDA_MEMCPY2D()
    copy.WidthInBytes, copy.Height = _CHUNK_BYTES, _CHUNKS - 1
    copy.srcMemoryType, copy.srcDevice, copy.srcPitch = (
        kinds.CU_MEMORYTYPE_DEVICE,
        pointer,
        pitch,
    )
    copy.dstMemoryType, copy.dstHost, copy.dstPitch = (
        kinds.CU_MEMORYTYPE_HOST,
        host.ctypes.data,
        _CHUNK_BYTES,
    )
    driver.call("cuMemcpy2DAsync", copy, stream)
    last = pointer + size - _CHUNK_BYTES, pointer + size
    _read(driver, stream, [last], host[-_CHUNK_BYTES:])


def _read(driver: Driver, stream: int, spans: Sequence[tuple[int, int]], host: np.ndarray) -> None:
    """Reads the bytes of all spans into `host`, one after another. Waits for the stream once."""
    place = host.ctypes.data
    for begin, end in spans:
        driver.call("cuMemcpyDtoHAsync", place, begin, end - begin, stream)
        place += end - begin
    if spans:
        driver.call("cuStreamSynchronize", stream)


def fill_random(
    driver: Driver,
    stream: int,
    pointer: int,
    size: int,
    dtype: str,
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> None:
    """Fills memory with one random block, repeated: normal floats, or integers 0 and 1.

    Args:
        driver: The CUDA driver.
        stream: The handle of the stream.
        pointer: The memory.
        size: Its size in bytes.
        dtype: The type of the elements.
        scale: The standard deviation of floats.
        seed: The seed of the random numbers.
    """
    block = _random(dtype, scale, seed)
    done = min(size, block.nbytes)
    if done:
        driver.call("cuMemcpyHtoDAsync", pointer, block.ctypes.data, done, stream)
    while done < size:
        step = min(done, size - done)
        driver.call("cuMemcpyDtoDAsync", pointer + done, pointer, step, stream)
        done += step


@lru_cache(maxsize=8)
def _normal(seed: int) -> np.ndarray:
    """Returns the normal floats of a seed. Cached, because generating them is slow and many scales
    share a seed."""
    return np.random.default_rng(seed).standard_normal(_RANDOM, np.float32)


@lru_cache(maxsize=32)
def _random(dtype: str, scale: float, seed: int) -> np.ndarray:
    if not dtype.startswith(("float", "bfloat")):
        return np.random.default_rng(seed).integers(0, 2, _RANDOM).astype(DTYPES[dtype].storage)
    normal = _normal(seed) * np.float32(scale)
    if dtype == "bfloat16":
        return np.asarray(normal.view(np.uint32) >> 16, np.uint16)
    return np.asarray(normal.astype(DTYPES[dtype].storage))


def _convert(raw: np.ndarray, dtype: str, result: np.ndarray) -> None:
    """Converts the bytes of elements to float32."""
    if dtype == "bfloat16":
        np.left_shift(raw.view(np.uint16), 16, out=result.view(np.uint32), dtype=np.uint32)
    else:
        np.copyto(result, raw.view(DTYPES[dtype].storage), casting="unsafe")
