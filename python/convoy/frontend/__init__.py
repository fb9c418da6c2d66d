# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Converts Torch models to `tcp`: torch.export, torch-mlir's FX importer, and a converter for each
Torch op.

Converters are grouped by family; importing a family registers its converters.
"""

from __future__ import annotations

from convoy.frontend import (  # noqa: F401, registers converters
    activation,
    adaptive_pooling,
    bessel,
    binary,
    bitwise,
    complex_functions,
    complex_parts,
    complex_products,
    convolution,
    creation,
    distance,
    division,
    elementary,
    embedding,
    fourier,
    identity,
    indexing,
    linear,
    normalization,
    ordering,
    pointwise,
    pooling,
    recurrent,
    reduction,
    resize,
    rotations,
    sampling,
    scans,
    scatter,
    search,
    selection,
    shape,
    slicing,
    special,
    unary,
    views,
)
from convoy.frontend._convert import has_same_bytes, source_line
from convoy.frontend._export import (
    decompositions,
    export_module,
    has_conversion,
    read_exported,
)
from convoy.frontend._importer import ImportedModule, import_exported, import_module
from convoy.frontend._inputs import check_module, has_symbols
from convoy.frontend._mlir_file import import_mlir

__all__ = [
    "ImportedModule",
    "check_module",
    "decompositions",
    "export_module",
    "has_conversion",
    "has_same_bytes",
    "has_symbols",
    "import_exported",
    "import_mlir",
    "import_module",
    "read_exported",
    "source_line",
]
