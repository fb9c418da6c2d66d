"""tell what became of each op: groups, what they fused, and why anything stayed outside

examples:
  convoy explain resnet18.convoy
  convoy explain examples/resnet.py:resnet50 --dtype float16
"""

from __future__ import annotations

import argparse

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("model", metavar="FILE", help="an artifact, FILE.py:FUNCTION, or a torch-dialect .mlir file")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), help="type to compute in, when a model is given")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy.explain import explain_artifact, explain_model

    print(explain_artifact(options.model) if options.model.endswith(".convoy") else explain_model(options.model, options.dtype), end="")
    return 0
