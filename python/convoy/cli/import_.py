"""turn a graph that cudnn-frontend serialized into `cudnn` IR

FILE is what str(graph) prints after graph.validate(), which is JSON, or the bytes of
graph.serialize(). Everything in it is understood, or is in an error that lists all of it. The
output is a cudnn.graph, which `convoy inspect`, `convoy-opt` and the compiler's phases take.

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
                f"convoy: {options.file}: not imported, because they are a plan's and not the "
                f"graph's: {', '.join(plan)}"
            ),
            file=sys.stderr,
        )
    write_text(options.output, text)
    return 0
