# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""convert a graph that cudnn-frontend serialized to `cudnn` IR

FILE is the JSON that str(graph) returns after graph.validate() or graph.build_operation_graph(), or
the bytes of graph.serialize().
All unsupported parts of it are reported in one error. The output is a cudnn.graph for `convoy
inspect`, `convoy-opt` and the compiler's phases.

examples:
  python -c 'from model import graph; graph.validate(); print(graph)' > graph.json
  convoy import graph.json -o graph.mlir
  convoy import plan.bin -o - | convoy-opt --convert-cudnn-graphs-to-backend
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from convoy_runtime.output_files import checked_stream, write_text

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="JSON of str(graph), or bytes of graph.serialize()"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help="the .mlir file; - is standard output (default: %(default)s)",
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy.graphs import import_graph

    checked_stream(options.output)
    text, plan = import_graph(options.file)
    if plan:
        print(
            (
                f"convoy: {options.file}: ignored, because they belong to a plan and not to the "
                f"graph: {', '.join(plan)}"
            ),
            file=sys.stderr,
        )
    write_text(options.output, text)
    return 0
