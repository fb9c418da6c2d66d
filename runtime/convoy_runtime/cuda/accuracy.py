"""Whether a result is right: compared with one that was accumulated in float32, or else with the median of all there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from convoy_runtime.manifest import Graph

from ._cudnn import BackendDescriptor
from ._enums import BehaviorNote, NumericalNote
from .builder import PlanBuilder
from .configs import Config
from .plan import Plan

__all__ = ["exact_plan", "median_of", "mismatch"]

#: Largest difference between right results, relative to the largest value: some units in the last place of the io type, and what rounding
#: to TF32, or Winograd's transform, adds.
_TOLERANCE: Final = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 5e-3, "float64": 1e-6}
#: With one of these an engine may round between the inputs and the result, or not do the same in each run.
_INEXACT: Final = {note for note in NumericalNote if note != NumericalNote.STRICT_NAN_PROP}


def exact_plan(builder: PlanBuilder, graph: Graph, operations: BackendDescriptor) -> Plan | None:
    """The plan of the first engine that multiplies the inputs as they are, adds the products up in the compute type, float32, and compiles
    nothing; None when there is none. The options do not matter: no program runs on it."""

    def exact(config: Config) -> bool:
        return not _INEXACT & set(config.numerical) and BehaviorNote.RUNTIME_COMPILATION not in config.behavior

    return next(builder.any_plans(graph, operations, exact), None)


def median_of(results: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
    """Each output's median over several plans, element by element."""
    return [np.median(np.stack(found), axis=0) for found in zip(*results, strict=True)]


def mismatch(expected: np.ndarray, got: np.ndarray, dtype: str) -> str | None:
    """How far `got` is from `expected`, when that is too far for a tensor of `dtype`."""
    if (np.isnan(expected) != np.isnan(got)).any():
        return "in where it has NaN"
    scale = float(np.nanmax(np.abs(expected), initial=0.0)) or 1.0
    difference = float(np.nanmax(np.abs(got - expected), initial=0.0)) / scale
    return None if difference <= _TOLERANCE.get(dtype, 0.0) else f"by {difference:.1e} of the largest value"
