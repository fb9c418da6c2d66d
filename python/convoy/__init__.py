# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convoy compiles PyTorch models ahead of time into an artifact that runs without PyTorch and the
compiler.

Names are imported on first use, so that `import convoy` loads neither torch nor the compiler.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "CompileOptions": "convoy.options",
    "CompiledModel": "convoy.compiled_model",
    "ConvoyError": "convoy.errors",
    "ImportedModule": "convoy.frontend",
    "import_mlir": "convoy.frontend",
    "compile": "convoy.compiler",
    "compile_undeclared": "convoy.dynamic.undeclared",
    "import_module": "convoy.frontend",
    "__version__": "convoy_runtime",  # the two packages have one version
}

__all__ = [
    "CompileOptions",
    "CompiledModel",
    "ConvoyError",
    "ImportedModule",
    "compile",
    "compile_undeclared",
    "import_mlir",
    "import_module",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        msg = f"module 'convoy' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
