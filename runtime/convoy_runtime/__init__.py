"""Loads and runs Convoy artifacts. Needs numpy alone on the `cpu` target, and cuda-bindings and
cuDNN 9 on `cuda`; no PyTorch, no compiler.

program = convoy_runtime.load("model.convoy")
y = program(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    ArgumentError,
    ArtifactError,
    ConvoyRuntimeError,
    ConvoyRuntimeWarning,
    CudaError,
    CudnnError,
    DeviceError,
    ExecutionError,
    PlanError,
    WeightsError,
)
from .loader import load
from .manifest import Manifest, TensorSpec
from .program import Program

if TYPE_CHECKING:
    from .cuda.plans.options import PlanOptions

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "ConvoyRuntimeError",
    "ConvoyRuntimeWarning",
    "CudaError",
    "CudnnError",
    "DeviceError",
    "ExecutionError",
    "Manifest",
    "PlanError",
    "PlanOptions",
    "Program",
    "TensorSpec",
    "WeightsError",
    "load",
]


def __getattr__(name: str) -> Any:
    # Only when it is asked for: most loads, and all on the cpu target, do without.
    if name != "PlanOptions":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from .cuda.plans.options import PlanOptions

    return PlanOptions
