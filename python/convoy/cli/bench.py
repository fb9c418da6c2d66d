"""time an artifact, beside PyTorch on the same device

Prints medians. On the GPU the artifact is one CUDA-graph replay, and PyTorch is measured eagerly in a CUDA graph too, in the same dtype,
channels-last.

examples:
  convoy bench resnet18.convoy --peer examples/resnet.py:resnet18
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.cli.reference import median_ms

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("artifact", metavar="FILE", type=Path, help="an artifact that `convoy compile` wrote")
    parser.add_argument("--peer", metavar="MODEL", help=f"PyTorch model to time beside it: {MODEL_HELP}")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to measure each (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime

    with convoy_runtime.load(options.artifact) as program:
        rng = np.random.default_rng(0)
        inputs = [np.asarray(rng.standard_normal(spec.shape), dtype=spec.dtype) for spec in program.inputs]
        figures = {"convoy": median_ms(lambda: program.run_numpy(*inputs), seconds=options.seconds)}
        target = program.manifest.target
    if options.peer is not None:
        import torch

        module, _ = build_model(options.peer)
        tensors = [torch.from_numpy(each) for each in inputs]
        with torch.inference_mode():
            figures["torch"] = median_ms(lambda: module(*tensors), seconds=options.seconds)
    if options.json:
        print(json.dumps({"target": target, "unit": "ms", "median": figures}))
        return 0
    for name, value in figures.items():
        ratio = f"  {value / figures['torch']:.2f}x PyTorch" if "torch" in figures and name != "torch" else ""
        print(f"{name:8} {value:9.3f} ms{ratio}")
    return 0
