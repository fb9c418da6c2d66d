# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Loads and runs Convoy artifacts. Requires numpy, and on the `cuda` target cuda-bindings and cuDNN
9; neither PyTorch nor the compiler.

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
    CublasError,
    CudaError,
    CudnnError,
    DeviceError,
    ExecutionError,
    LibraryError,
    PackageError,
    PlanError,
    WeightsError,
)
from .loader import load
from .manifest import Manifest, TensorSpec
from .program import Program

if TYPE_CHECKING:
    from .cuda.plans.options import PlanOptions
    from .replicas import Replicas

__version__ = "0.1.0"  # of convoy-runtime and convoy-compiler

__all__ = [
    "ArgumentError",
    "ArtifactError",
    "ConvoyRuntimeError",
    "ConvoyRuntimeWarning",
    "CublasError",
    "CudaError",
    "CudnnError",
    "DeviceError",
    "ExecutionError",
    "LibraryError",
    "Manifest",
    "PackageError",
    "PlanError",
    "PlanOptions",
    "Program",
    "Replicas",
    "TensorSpec",
    "WeightsError",
    "load",
]


def __getattr__(name: str) -> Any:
    # Imported on first access, because most loads do not need them.
    if name == "PlanOptions":
        from .cuda.plans.options import PlanOptions

        return PlanOptions
    if name == "Replicas":
        from .replicas import Replicas

        return Replicas
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
