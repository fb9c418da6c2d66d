# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The job of a runner process, and the interface of runners."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from benchmarks.cases import Case
from benchmarks.gpu_turn import GpuTurn

if TYPE_CHECKING:
    import torch

__all__ = ["NAMES", "PEERS", "Job", "Runner"]

#: Name on the command line to the title in tables.
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
    """The job of a runner.

    Attributes:
        name: A key of NAMES.
        artifact: The artifact of the case.
        case: The benchmark case.
        model: The module of the case, float32 on the CPU.
        x: The input of the case, float32 on the CPU.
        cache: The folder of compiled code and tuned plans.
        tune: The tuning level, for Convoy.
        turn: The lock to hold while timing on the GPU.
    """

    name: str
    artifact: Path
    case: Case
    model: torch.nn.Module
    x: torch.Tensor
    cache: Path
    tune: Literal["off", "quick", "full"]
    turn: GpuTurn


class Runner(Protocol):
    """A compiled and warmed-up model whose input is on the device."""

    #: One result on the host: batch x classes.
    output: np.ndarray
    #: Seconds of compilation or tuning and warm-up, without the wait for the GPU lock.
    seconds: float
    #: More figures, serializable as JSON: `versions`, and those that the tables show by name.
    details: dict[str, Any]

    def time(self, repeats: int) -> float:
        """Milliseconds per run, over at least `repeats` consecutive runs after a warm-up."""
