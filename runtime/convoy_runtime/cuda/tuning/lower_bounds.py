# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lower bounds of the time of an alternative for any plans. Its steps run one after another, and
must read and write their tensors.

A step writes all of its results. It reads all of an operand that has the spatial size of its
result; a strided convolution may skip parts of others. Data in the L2 cache at the start of a step
is not read from memory, and data in the cache at its end is not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod
from typing import Final

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import Graph, GraphAlternative, GraphTensor
from convoy_runtime.value_types import value_type

__all__ = ["LowerBound", "Speeds", "least_microseconds", "memory_microseconds", "speeds_of"]

#: Transfers per memory clock (double data rate), and bytes per clock between a multiprocessor and
#: the L2 cache in one direction (NVIDIA's tuning guides).
_TRANSFERS: Final = 2
_CACHE_BYTES_PER_CLOCK: Final = 64
#: FLOPs per clock of a multiprocessor of sm_90 for products of 16-bit numbers.
_FLOPS_PER_CLOCK: Final = 4096
#: A cache miss takes a kernel at most this multiple of the transfer time at peak bandwidth.
_MAX_MISS_COST: Final = 2


@value_type(frozen=True, slots=True)
class Speeds:
    """The peak speeds of a GPU; infinite if unknown.

    Attributes:
        memory: Bytes per microsecond from and to memory together.
        cache: Bytes per microsecond from, or to, the L2 cache.
        cache_bytes: Size of the L2 cache in bytes.
        products: FLOPs per microsecond of products.
    """

    memory: float
    cache: float
    cache_bytes: int
    products: float = inf


def speeds_of(device: Device) -> Speeds:
    """Computes the speeds from the device's clocks, multiprocessors and bus widths."""
    memory = (
        device.attribute("MEMORY_CLOCK_RATE")
        * 1e-3
        * _TRANSFERS
        * device.attribute("GLOBAL_MEMORY_BUS_WIDTH")
        / 8
    )
    clocks = device.attribute("CLOCK_RATE") * 1e-3 * device.attribute("MULTIPROCESSOR_COUNT")
    return Speeds(
        memory or inf,
        clocks * _CACHE_BYTES_PER_CLOCK or inf,
        device.attribute("L2_CACHE_SIZE"),
        clocks * _FLOPS_PER_CLOCK or inf,
    )


def memory_microseconds(graph: Graph, speeds: Speeds) -> float:
    """Returns the time to transfer each tensor of a graph once at the peak bandwidth of memory."""
    return sum(map(_bytes, graph.tensors)) / speeds.memory


def least_microseconds(graph: Graph, speeds: Speeds) -> float:
    """Returns the time of a graph's transfers or products at the peak, whichever is longer."""
    flops = 0 if graph.products is None else graph.products.flops
    return max(memory_microseconds(graph, speeds), flops / speeds.products)


@value_type(frozen=True, slots=True)
class _Traffic:
    """The fewest bytes that a step reads and writes, and the number of those in temporaries."""

    read: int
    written: int
    temporary: int

    def microseconds(self, speeds: Speeds) -> float:
        beyond = max(0, self.read - speeds.cache_bytes) + max(0, self.written - speeds.cache_bytes)
        return max(beyond / speeds.memory, max(self.read, self.written) / speeds.cache)

    def warm(self, cold: float, speeds: Speeds) -> float:
        """Returns the fewest microseconds of the step after the previous steps.

        Temporaries in the cache are neither read from memory nor written to it. That saves at most
        their share of the time, and at most the time of their transfer.

        Args:
            cold: Microseconds of the step on a cold cache.
            speeds: The bandwidths of the GPU.
        """
        cached = min(self.temporary, speeds.cache_bytes)
        saved = min(
            cold * cached / max(1, self.read + self.written),
            _MAX_MISS_COST * cached / speeds.memory,
        )
        return max(cold - saved, self.microseconds(speeds))


class LowerBound:
    """The lower bound of an alternative.

    Args:
        alternative: The alternative.
        graphs: The graph of each step.
        tensors: The number of tensors of the alternative's graph.
        speeds: The bandwidths of the GPU.
    """

    def __init__(
        self, alternative: GraphAlternative, graphs: Sequence[Graph], tensors: int, speeds: Speeds
    ) -> None:
        self._speeds = speeds
        self._steps = [
            _traffic(graph, step.tensors, tensors)
            for step, graph in zip(alternative.steps, graphs, strict=True)
        ]

    @property
    def bytes(self) -> int:
        """The fewest bytes that all steps read and write."""
        return sum(step.read + step.written for step in self._steps)

    def microseconds(self, alone: Mapping[int, float] | None = None) -> float:
        """Returns the fewest microseconds of all steps.

        Args:
            alone: Index of a step to its measured microseconds on a cold cache.
        """
        return sum(
            step.warm((alone or {}).get(place, 0.0), self._speeds)
            for place, step in enumerate(self._steps)
        )


def _traffic(graph: Graph, places: Sequence[int], tensors: int) -> _Traffic:
    pairs = {place: tensor for place, tensor in zip(places, graph.tensors, strict=True)}
    results = {place: tensor for place, tensor in pairs.items() if tensor.role == "output"}
    read = {
        place: tensor
        for place, tensor in pairs.items()
        if tensor.role == "input" and _is_whole(tensor, list(results.values()))
    }
    moved = {**read, **results}
    return _Traffic(
        sum(map(_bytes, read.values())),
        sum(map(_bytes, results.values())),
        sum(_bytes(tensor) for place, tensor in moved.items() if place >= tensors),
    )


def _bytes(tensor: GraphTensor) -> int:
    """Returns the bytes of all elements, without gaps and broadcasts."""
    return min(tensor.bytes, prod(tensor.shape) * DTYPES[tensor.dtype].bytes)


def _is_whole(tensor: GraphTensor, results: Sequence[GraphTensor]) -> bool:
    """Returns whether a step reads all of an operand: its spatial dims are those of a result, or
    1."""

    def fits(result: GraphTensor) -> bool:
        pairs = zip(tensor.shape[2:], result.shape[2:], strict=False)
        return len(tensor.shape) == len(result.shape) and all(
            size in (1, other) for size, other in pairs
        )

    return any(map(fits, results))
