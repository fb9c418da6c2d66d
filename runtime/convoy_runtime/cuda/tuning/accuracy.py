"""Whether a result is right: compared with one that was accumulated in float32, or else with the
median of all there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from convoy_runtime.cuda.cudnn.configs import Config
from convoy_runtime.cuda.cudnn.enums import BehaviorNote, NumericalNote, name_of
from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.plans.builder import PlanBuilder
from convoy_runtime.cuda.plans.plan import Plan, PlanReport
from convoy_runtime.manifest import Graph

__all__ = ["exact_plan", "is_exact", "median_of", "mismatch"]

#: Largest difference between right results, relative to the largest value: some units in the last
#: place of the io type, and what rounding to TF32, or Winograd's transform, adds.
_TOLERANCE: Final = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 5e-3, "float64": 1e-6}
#: With one of these an engine may round between the inputs and the result, or not do the same in
#: each run, or it compiles.
_INEXACT: Final = {note.name for note in NumericalNote} - {NumericalNote.STRICT_NAN_PROP.name} | {
    BehaviorNote.RUNTIME_COMPILATION.name
}


def is_exact(report: PlanReport) -> bool:
    """Whether a plan multiplies the inputs as they are and adds the products up in the compute
    type, float32, by what cuDNN says of its engine. One that compiles a kernel is not believed."""
    notes = {*report.numerical_notes, *report.behavior_notes}
    return report.engine is not None and not notes & _INEXACT


def exact_plan(builder: PlanBuilder, graph: Graph, operations: BackendDescriptor) -> Plan | None:
    """The plan of the first engine that is exact; None when there is none. The options do not
    matter: no program runs on it."""

    def exact(config: Config) -> bool:
        notes = {name_of(NumericalNote, note) for note in config.numerical} | {
            name_of(BehaviorNote, note) for note in config.behavior
        }
        return not notes & _INEXACT

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
    return (
        None
        if difference <= _TOLERANCE.get(dtype, 0.0)
        else f"by {difference:.1e} of the largest value"
    )
