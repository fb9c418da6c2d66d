"""Torch models to `tcp`: torch.export, torch-mlir's FX importer, and one converter a Torch op.

Converters are split by family; importing a family registers its converters.
"""

from __future__ import annotations

from convoy.frontend import (  # noqa: F401, imported for what they register
    activation,
    binary,
    convolution,
    identity,
    linear,
    normalization,
    pooling,
    reduction,
    shape,
    slicing,
    unary,
)
from convoy.frontend._importer import ImportedModule, import_module

__all__ = ["ImportedModule", "import_module"]
