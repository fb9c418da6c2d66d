# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""merge the plans of folders and artifacts into one plan store

Of several plans for one graph, GPU, cuDNN and driver, the one with the highest tuning level is
kept. A folder is a --plan-cache of other commands. To move a store to an equal machine that has
none, copy the folder.

examples:
  convoy merge ~/.cache/convoy /mnt/other/convoy
  convoy merge plans/ resnet18.convoy resnet50.convoy
"""

from __future__ import annotations

import argparse
from pathlib import Path

from convoy_runtime.output_files import checked_folder

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        help="the store to merge into; created if necessary",
    )
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        type=Path,
        nargs="+",
        help="a plan store, or an artifact; not changed",
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy_runtime.inspection import merge_plans

    checked_folder(options.folder)
    merged = merge_plans(options.folder, options.sources)
    for place in merged.unreadable:
        print(f"  skipped, because it cannot be read: {place}")
    print(
        f"{options.folder}: {merged.new} new, {merged.better} with better or more plans, "
        f"{merged.known} already known"
    )
    return 0
