"""What a contender's process is told, and what it has to offer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from benchmarks.cases import Case
from benchmarks.gpu_turn import GpuTurn

if TYPE_CHECKING:
    import torch

__all__ = ["NAMES", "PEERS", "Contender", "Job"]

#: By the name on the command line: the title in tables.
PEERS = {
    "eager": "torch eager",
    "compile": "torch.compile",
    "freezing": "torch.compile, freezing",
    "max-autotune": "max-autotune, freezing",
    "jax": "JAX/XLA",
    "jax-graphs": "JAX/XLA, CUDA graphs",
}
NAMES = {"convoy": "Convoy", **PEERS}


@dataclass(frozen=True, slots=True)
class Job:
    """`model` and `x` are those of the case, float32 on the CPU. `cache` is where what is compiled
    or tuned is kept, `turn` is to be taken for whatever is timed on the GPU."""

    name: str
    artifact: Path
    case: Case
    model: torch.nn.Module
    x: torch.Tensor
    cache: Path
    tune: Literal["off", "quick", "full"]
    turn: GpuTurn


class Contender(Protocol):
    """Compiled, warm, its input on the device."""

    #: One result, read back; batch x classes.
    output: np.ndarray
    #: Seconds to compile or to tune it, and to have it warm; those of waiting for the GPU are not
    #: counted.
    seconds: float
    #: More figures and notes about it, as JSON takes them: `versions`, and what the tables show by
    #: name.
    details: dict[str, Any]

    def time(self, repeats: int) -> float:
        """Milliseconds of a run, over at least `repeats` in a row, after one that is not
        counted."""
