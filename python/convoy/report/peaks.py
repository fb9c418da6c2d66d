# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The peak speeds of a GPU, from the driver's device attributes and, for arithmetic, a table by
compute capability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from convoy.report.formatting import scale
from convoy.report.model import Gpu

if TYPE_CHECKING:
    from convoy_runtime.profile import GpuFacts

__all__ = ["gpu_of"]

#: Compute capability to dense FLOPs per clock and multiprocessor, where a multiply-add counts as
#: two. float32 is without tensor cores (CUDA C++ Programming Guide, throughput of native arithmetic
#: instructions); others are with tensor cores (NVIDIA's white papers on each architecture).
_RATES: Final[dict[tuple[int, int], dict[str, int]]] = {
    (7, 0): {"float32": 128, "float64": 64, "float16": 1024},
    (7, 5): {"float32": 128, "float16": 1024, "int8": 2048},
    (8, 0): {
        "float32": 128,
        "float64": 128,
        "tf32": 1024,
        "bfloat16": 2048,
        "float16": 2048,
        "int8": 4096,
    },
    (8, 6): {"float32": 256, "tf32": 512, "bfloat16": 1024, "float16": 1024, "int8": 2048},
    (8, 9): {
        "float32": 256,
        "tf32": 512,
        "bfloat16": 1024,
        "float16": 1024,
        "int8": 2048,
        "float8": 2048,
    },
    (9, 0): {
        "float32": 256,
        "float64": 256,
        "tf32": 2048,
        "bfloat16": 4096,
        "float16": 4096,
        "int8": 8192,
        "float8": 8192,
    },
    (10, 0): {
        "float32": 256,
        "tf32": 4096,
        "bfloat16": 8192,
        "float16": 8192,
        "int8": 16384,
        "float8": 16384,
    },
    (12, 0): {
        "float32": 256,
        "tf32": 512,
        "bfloat16": 1024,
        "float16": 1024,
        "int8": 2048,
        "float8": 2048,
    },
}
#: Transfers per memory clock: GPUs of these architectures have double data rate memory.
_TRANSFERS: Final = 2


def gpu_of(facts: GpuFacts) -> Gpu:
    """Computes the peak speeds of a GPU, with a note on the source of each."""
    capability = ".".join(map(str, facts.compute_capability))
    rates = _RATES.get(facts.compute_capability, {})
    peak = facts.memory_clock_khz * 1e3 * _TRANSFERS * facts.memory_bus_bits / 8
    memory = (
        f"memory: {facts.memory_clock_khz / 1e3:.0f} MHz x {_TRANSFERS} x "
        f"{facts.memory_bus_bits} bits = {scale(peak, 'B/s')}"
    )
    notes = [
        (
            f"copy speed: {scale(facts.copy_bytes_per_second, 'B/s')}, measured, bytes read "
            "plus bytes written; used for the roofline"
        ),
        f"{memory}, L2 cache of {scale(facts.l2_bytes, 'B')}, from the driver's device attributes",
    ]
    if rates:
        units = (
            f"{facts.multiprocessors} multiprocessors x {facts.clock_khz / 1e3:.0f} MHz, from "
            "the driver's device attributes"
        )
        notes.append(
            f"arithmetic: {units}, x FLOPs per clock for compute capability {capability}, "
            "dense; float32 without tensor cores"
        )
    else:
        notes.append(
            f"arithmetic: unknown for compute capability {capability}; the roofline uses only "
            "the copy speed"
        )
    return Gpu(
        name=facts.name,
        driver=facts.driver,
        cudnn=facts.cudnn,
        copy_bytes=facts.copy_bytes_per_second,
        peak_bytes=peak,
        flops={
            name: rate * facts.multiprocessors * facts.clock_khz * 1e3
            for name, rate in rates.items()
        },
        notes=tuple(notes),
    )
