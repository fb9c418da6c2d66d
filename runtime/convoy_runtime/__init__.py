"""Loads and runs Convoy artifacts. Needs numpy alone on the `cpu` target, and cuda-bindings and cuDNN 9 on `cuda`; no PyTorch, no compiler.

program = convoy_runtime.load("model.convoy")
y = program(x)
"""

from __future__ import annotations

from .errors import (
    ArgumentError,
    ArtifactError,
    ConvoyRuntimeError,
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

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "ConvoyRuntimeError",
    "CudaError",
    "CudnnError",
    "DeviceError",
    "ExecutionError",
    "Manifest",
    "PlanError",
    "Program",
    "TensorSpec",
    "WeightsError",
    "load",
]
