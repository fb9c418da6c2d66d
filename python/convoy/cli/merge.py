"""merge stores of plans: what other folders and artifacts hold goes into one folder

Of several plans for one graph, GPU, cuDNN and driver, the one that most work went into is kept;
plans for others are kept beside it. A folder is what --plan-cache of the other commands takes. To
move a store to an equal machine where there is none, copy the folder.

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
        help="the store that takes the plans; made where it is not there",
    )
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        type=Path,
        nargs="+",
        help="a folder of plans, or an artifact; it stays as it is",
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy_runtime.inspection import merge_plans

    checked_folder(options.folder)
    merged = merge_plans(options.folder, options.sources)
    for place in merged.unreadable:
        print(f"  not taken, because it cannot be read: {place}")
    print(
        f"{options.folder}: {merged.new} new, {merged.better} with better plans or more, "
        f"{merged.known} known already"
    )
    return 0
