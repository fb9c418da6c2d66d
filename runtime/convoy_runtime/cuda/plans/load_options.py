# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The keyword arguments of `convoy_runtime.load` that concern plans."""

from __future__ import annotations

import os
from dataclasses import replace

from convoy_runtime.manifest import Manifest
from convoy_runtime.program import Progress
from convoy_runtime.value_types import value_type

from .options import PlanOptions

__all__ = ["LoadOptions"]


@value_type(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The options of one load. `load` creates them once; every layer below reads them.

    Attributes:
        plan_options: Restrictions on execution plans.
        plan_cache: The folder of the plan store; True for the user's cache folder, False for none.
        tune: The tuning level: off, limited, quick, full or exhaustive.
        again: Whether tuning ignores the plans in the artifact and the cache.
        strict: Whether a graph without a stored plan is an error.
        poison: Whether temporary and output memory is filled with NaN before each run.
        progress: Called before each step with its name, the number of finished steps and the
            number of all steps.
    """

    plan_options: PlanOptions = PlanOptions()
    plan_cache: str | os.PathLike[str] | bool = True
    tune: str = "off"
    again: bool = False
    strict: bool = False
    poison: bool = False
    progress: Progress | None = None

    @property
    def tunes(self) -> bool:
        """Whether plans are measured."""
        return self.tune != "off"

    @property
    def ignores_stored_plans(self) -> bool:
        """Whether tuning also measures graphs with a stored plan."""
        return self.again and self.tunes

    def for_model(self, manifest: Manifest) -> LoadOptions:
        """Returns these options with the restrictions that the model was compiled with."""
        return replace(self, plan_options=self.plan_options.for_model(manifest))
