"""show what an artifact holds

examples:
  convoy inspect resnet18.convoy
  convoy inspect resnet18.convoy --manifest
  convoy inspect resnet18.convoy --ptx
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("artifact", metavar="FILE", type=Path, help="an artifact that `convoy compile` wrote")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--manifest", action="store_true", help="print manifest.json")
    what.add_argument("--ptx", action="store_true", help="print the PTX of the generated kernels")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy_runtime.artifact import open_artifact

    artifact = open_artifact(options.artifact)
    manifest = artifact.manifest
    if options.manifest:
        print(manifest.to_json())
        return 0
    if options.ptx:
        print(bytes(artifact.members.get("kernels.ptx", b"")).decode(), end="")
        return 0
    console = Console(highlight=False, soft_wrap=True)
    producer = ", ".join(f"{name} {version}" for name, version in manifest.producer.items())
    console.print(f"{options.artifact}: target {manifest.target}, host {manifest.host.cpu}, made by {producer}")
    for title, specs in (("input", manifest.inputs), ("output", manifest.outputs)):
        for spec in specs:
            console.print(f"  {title} {spec.name}: {spec.dtype} {list(spec.shape)}")
    console.print(f"  {len(manifest.weights)} weights, {len(manifest.prepared)} prepared; arena {manifest.arena_bytes / 1e6:.2f} MB")
    table = Table(box=None, pad_edge=False)
    for column in ("member", "bytes", "sha256"):
        table.add_column(column, justify="right" if column == "bytes" else "left")
    for name, entry in manifest.files.items():
        table.add_row(name, f"{entry.bytes:,}", entry.sha256[:16])
    console.print(table)
    if manifest.graphs:
        table = Table(box=None, pad_edge=False)
        for column in ("cuDNN graph", "calls", "ops", "location"):
            table.add_column(column)
        for index, graph in enumerate(manifest.graphs):
            calls = sum(call.graph == index for call in manifest.calls)
            table.add_row(graph.name, str(calls), " ".join(graph.ops), graph.location)
        console.print(table)
    for kernel in manifest.kernels:
        console.print(f"  kernel {kernel.name} ({kernel.location})")
    return 0
