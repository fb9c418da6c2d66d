# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks results: by comparison with a result that was accumulated in float32, or with the median
of all results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from convoy_runtime.cuda.cudnn.configs import Config, EngineSupport
from convoy_runtime.cuda.cudnn.enums import BehaviorNote, NumericalNote, name_of
from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.plans.builder import PlanBuilder
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import PlanReport

__all__ = ["exact_plan", "is_exact", "median_of", "mismatch"]

#: The largest difference between correct results, relative to the largest value: a few units in the
#: last place of the io dtype, and the error of TF32 or Winograd transforms.
_TOLERANCE: Final = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 5e-3, "float64": 1e-6}
#: Notes of engines that may round between inputs and result, differ from run to run, or compile a
#: kernel.
_INEXACT: Final = {note.name for note in NumericalNote} - {NumericalNote.STRICT_NAN_PROP.name} | {
    BehaviorNote.RUNTIME_COMPILATION.name
}


def is_exact(report: PlanReport) -> bool:
    """Returns whether a plan multiplies unrounded inputs and accumulates in float32, the compute
    type, according to the notes of its engine. False for engines that compile a kernel, whose notes
    are unreliable."""
    notes = {*report.numerical_notes, *report.behavior_notes}
    return report.engine is not None and not notes & _INEXACT


def exact_plan(
    builder: PlanBuilder,
    graph: Graph,
    operations: BackendDescriptor,
    support: EngineSupport | None = None,
) -> Plan | None:
    """Returns the plan of the first exact engine, or None. The options do not restrict it, because
    it only serves as a reference. `support` is that of `engine_configs`."""

    def exact(config: Config) -> bool:
        notes = {name_of(NumericalNote, note) for note in config.numerical} | {
            name_of(BehaviorNote, note) for note in config.behavior
        }
        return not notes & _INEXACT

    return next(builder.any_plans(graph, operations, exact, support), None)


def median_of(results: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
    """Returns the elementwise median of each output over several plans."""
    return [np.median(np.stack(found), axis=0) for found in zip(*results, strict=True)]


def mismatch(expected: np.ndarray, got: np.ndarray, dtype: str) -> str | None:
    """Returns how `got` differs from `expected`; None if it is within the tolerance of `dtype`."""
    if (np.isnan(expected) != np.isnan(got)).any():
        return "in the positions of NaN"
    scale = float(np.nanmax(np.abs(expected), initial=0.0)) or 1.0
    difference = float(np.nanmax(np.abs(got - expected), initial=0.0)) / scale
    return (
        None
        if difference <= _TOLERANCE.get(dtype, 0.0)
        else f"by {difference:.1e} of the largest value"
    )
