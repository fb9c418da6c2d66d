# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Data types for the measured times of a program's calls on a GPU. `CudaProgram.profile` measures
them."""

from __future__ import annotations

from typing import Literal

from .value_types import value_type

__all__ = ["GpuFacts", "Profile", "Timing"]


@value_type(frozen=True, slots=True)
class GpuFacts:
    """A GPU (CU_DEVICE_ATTRIBUTE_...), its software versions and its copy bandwidth.

    Attributes:
        name: The name of the GPU.
        compute_capability: Major and minor version.
        multiprocessors: The number of multiprocessors.
        clock_khz: The highest clock.
        memory_clock_khz: The highest memory clock.
        memory_bus_bits: The width of the memory bus.
        l2_bytes: The size of the L2 cache.
        driver: The CUDA version of the driver, e.g. 13000.
        cudnn: The cuDNN version, e.g. 91900; 0 if the program has no graphs.
        copy_bytes_per_second: Bytes read plus bytes written by a large copy on the device.
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
    """A call of a program.

    Attributes:
        kind: "graph", "kernel" or "copy".
        index: The index of the call or kernel in the manifest, or the number of the copy.
        bytes: Bytes read plus bytes written by a copy, else 0.
        microseconds: One run alone; None if not measured.
        in_place_microseconds: The time that it adds to the previous calls in the program; None if
            not measured.
        after: The positions of the calls that it waits for, without indirect ones.
    """

    kind: Literal["graph", "kernel", "copy"]
    index: int
    bytes: int
    microseconds: float | None
    in_place_microseconds: float | None = None
    after: tuple[int, ...] = ()


@value_type(frozen=True, slots=True)
class Profile:
    """The profile of a program.

    Attributes:
        gpu: The GPU.
        form: The form of the CUDA graph, which orders its calls.
        timings: The calls in the order of the program.
        replay_microseconds: One replay of the CUDA graph.
    """

    gpu: GpuFacts
    form: str
    timings: tuple[Timing, ...]
    replay_microseconds: float
