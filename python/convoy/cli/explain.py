"""tell what became of each op: groups, what they fused, and why anything stayed outside

examples:
  convoy explain resnet18.convoy
  convoy explain examples/resnet.py:resnet50 --dtype float16
"""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("model", metavar="FILE", help="an artifact, FILE.py:FUNCTION, or a torch-dialect .mlir file")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), help="type to compute in, when a model is given")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy.explain import explain_artifact

    print(explain_artifact(options.model) if options.model.endswith(".convoy") else _explain_model(options.model, options.dtype), end="")
    return 0


def _explain_model(name: str, dtype: str | None) -> str:
    """The explanation of a model compiled for cuda: FILE.py:FUNCTION, or a torch-dialect .mlir file. Raises ConvoyError."""
    from convoy.cli.model_file import build_model
    from convoy.compiler import compile_imported
    from convoy.frontend import import_mlir, import_module
    from convoy.options import CompileOptions

    imported = import_mlir(Path(name)) if name.endswith(".mlir") else import_module(*build_model(name))
    return compile_imported(imported, CompileOptions.of(target="cuda", dtype=dtype, weights=False)).explain()
