"""The CPUs that tests of vector code compile for."""

from __future__ import annotations

from typing import Final

import torch

__all__ = ["CPUS", "VECTOR_CPUS"]

#: Those with vectors of 32 bytes and more that this machine runs. Without AVX-512 the vectors of
#: `native` are those of x86-64-v3, and testing both takes 250 s more.
VECTOR_CPUS: Final = [
    *(["native"] if torch.backends.cpu.get_cpu_capability() == "AVX512" else []),
    "x86-64-v3",
]
#: One for each width of vectors.
CPUS: Final = [*VECTOR_CPUS, "x86-64"]
