"""What an alternative takes at least, whatever its plans: its steps run one after another, and move
what they write and read.

A step writes its results whole, and reads whole what has the spatial size of its result: a strided
convolution may pass over the rest. Of that, what the L2 cache holds at the start of the step need
not be read from memory, and what it holds at its end need not be written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod
from typing import Final

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import Graph, GraphAlternative, GraphTensor
from convoy_runtime.value_types import value_type

__all__ = ["LowerBound", "Speeds", "speeds_of"]

#: Memory of double data rate, and what a multiprocessor gets from the L2 cache in a clock, or gives
#: it (NVIDIA's tuning guides).
_TRANSFERS: Final = 2
_CACHE_BYTES_A_CLOCK: Final = 64
#: No kernel moves a byte of its own more slowly than at this part of the memory's highest speed
#: because it is not in the cache.
_SLOWNESS: Final = 2


@value_type(frozen=True, slots=True)
class Speeds:
    """The most that a GPU can move: bytes a microsecond from and to memory together, bytes a
    microsecond from, or to, the L2 cache, and the size of that in bytes. A speed that is not known
    is infinite."""

    memory: float
    cache: float
    cache_bytes: int


def speeds_of(device: Device) -> Speeds:
    """From the clocks and widths that the driver tells (CU_DEVICE_ATTRIBUTE_...)."""
    memory = (
        device.attribute("MEMORY_CLOCK_RATE")
        * 1e-3
        * _TRANSFERS
        * device.attribute("GLOBAL_MEMORY_BUS_WIDTH")
        / 8
    )
    cache = (
        device.attribute("CLOCK_RATE")
        * 1e-3
        * device.attribute("MULTIPROCESSOR_COUNT")
        * _CACHE_BYTES_A_CLOCK
    )
    return Speeds(memory or inf, cache or inf, device.attribute("L2_CACHE_SIZE"))


@value_type(frozen=True, slots=True)
class _Traffic:
    """Bytes that a step reads and writes at least, and those of them that are of temporaries."""

    read: int
    written: int
    temporary: int

    def microseconds(self, speeds: Speeds) -> float:
        beyond = max(0, self.read - speeds.cache_bytes) + max(0, self.written - speeds.cache_bytes)
        return max(beyond / speeds.memory, max(self.read, self.written) / speeds.cache)

    def warm(self, cold: float, speeds: Speeds) -> float:
        """What the step takes at least after the steps before it, where it takes `cold`
        microseconds on a cold cache: what of temporaries the cache holds is neither read from
        memory nor written to it, which saves their share of the time, and no more than it takes."""
        cached = min(self.temporary, speeds.cache_bytes)
        saved = min(
            cold * cached / max(1, self.read + self.written), _SLOWNESS * cached / speeds.memory
        )
        return max(cold - saved, self.microseconds(speeds))


class LowerBound:
    """Of `alternative`, whose steps are these `graphs`, for a graph of so many `tensors`."""

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
        """What all steps together read and write at least."""
        return sum(step.read + step.written for step in self._steps)

    def microseconds(self, alone: Mapping[int, float] | None = None) -> float:
        """What all take at least, where `alone` is what steps, by their place, took when they were
        measured on a cold cache."""
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
    """The bytes of all elements, those between them and copies of one left out."""
    return min(tensor.bytes, prod(tensor.shape) * DTYPES[tensor.dtype].bytes)


def _is_whole(tensor: GraphTensor, results: Sequence[GraphTensor]) -> bool:
    """Whether a step reads all of an operand: its dims behind the first two are those of the
    result, or 1."""

    def fits(result: GraphTensor) -> bool:
        pairs = zip(tensor.shape[2:], result.shape[2:], strict=False)
        return len(tensor.shape) == len(result.shape) and all(
            size in (1, other) for size, other in pairs
        )

    return any(map(fits, results))
