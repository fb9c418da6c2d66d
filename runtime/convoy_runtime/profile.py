"""What a program's parts take on a GPU, as measured: data only. `CudaProgram.profile` measures
it."""

from __future__ import annotations

from typing import Literal

from .value_types import value_type

__all__ = ["GpuFacts", "Profile", "Timing"]


@value_type(frozen=True, slots=True)
class GpuFacts:
    """A GPU as its driver describes it (CU_DEVICE_ATTRIBUTE_...), the versions around it, and how
    fast it copies.

    Clocks are the highest ones, in kHz; `memory_bus_bits` is the width of the bus to its memory;
    `driver` and `cudnn` are versions as 13000 and 91900, `cudnn` 0 when the program has no graphs;
    `copy_bytes_per_second` counts what a large copy on the device reads and writes.
    """

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    l2_bytes: int
    driver: int
    cudnn: int
    copy_bytes_per_second: float


@value_type(frozen=True, slots=True)
class Timing:
    """One call of a program: of kind `graph` (`index` is the call in the manifest), `kernel` (the
    kernel in the manifest) or `copy` (the number of the copy). `bytes` are those that a copy reads
    and writes, else 0. `microseconds` is one run of it alone, `in_place_microseconds` what it adds
    to the calls before it in the program; None where nobody measured. `after` are the calls that it
    waits for, by their place in the program; those that these wait for are left out."""

    kind: Literal["graph", "kernel", "copy"]
    index: int
    bytes: int
    microseconds: float | None
    in_place_microseconds: float | None = None
    after: tuple[int, ...] = ()


@value_type(frozen=True, slots=True)
class Profile:
    """`timings` are the calls in the order of the program; `replay_microseconds` is one replay of
    the whole as it runs, with its calls in the order that `form` tells."""

    gpu: GpuFacts
    form: str
    timings: tuple[Timing, ...]
    replay_microseconds: float
