# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""write an artifact into a model repository of Triton Inference Server

The model runs in Triton's Python backend, whose Python needs the package convoy-runtime. If one
symbol is the batch of all inputs and outputs, and its rows are independent, Triton collects
requests into batches up to the largest point. Otherwise each request is one call.

examples:
  convoy export-triton resnet50.convoy models/
  convoy export-triton retrained.convoy models/ --name resnet50 --version 2
  convoy export-triton resnet50.convoy models/ --version 3 --weights retrained.safetensors
"""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="an artifact")
    parser.add_argument(
        "repository",
        metavar="REPOSITORY",
        type=Path,
        help="the model repository; created if necessary",
    )
    parser.add_argument(
        "--name", help="the name of the model; default: that of FILE without its suffix"
    )
    parser.add_argument(
        "--version",
        metavar="N",
        type=int,
        default=1,
        help="the version of the model (default: %(default)s)",
    )
    parser.add_argument(
        "--weights",
        metavar="FILE",
        type=Path,
        help="a .safetensors file that replaces the weights of the artifact",
    )
    parser.add_argument(
        "--instances",
        metavar="N",
        type=int,
        default=1,
        help="how many processes run the model, on each GPU for target cuda (default: %(default)s)",
    )
    parser.add_argument(
        "--gpus",
        metavar="N",
        type=int,
        nargs="+",
        default=[],
        help="the GPUs that run the model; default: all",
    )
    parser.add_argument(
        "--max-queue-delay",
        metavar="MICROSECONDS",
        type=int,
        default=0,
        help="how long a request may wait for others of its batch while an instance is free "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace the version if it exists, and a config.pbtxt that differs",
    )
    parser.add_argument(
        "--keep-config",
        action="store_true",
        help="keep a config.pbtxt that exists, e.g. because it was edited; it is checked when "
        "Triton loads the model",
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy_runtime.integrations.triton.repository import export_model

    folder, model = export_model(
        options.file,
        options.repository,
        name=options.name,
        version=options.version,
        weights=options.weights,
        instances=options.instances,
        gpus=options.gpus,
        max_queue_delay=options.max_queue_delay,
        force=options.force,
        keep_config=options.keep_config,
    )
    batches = (
        f"batches of up to {model.max_batch_size} rows, points {', '.join(map(str, model.points))}"
        if model.batch
        else f"no batches: {model.unbatched}"
    )
    print(f"{folder}: {batches}")
    return 0
