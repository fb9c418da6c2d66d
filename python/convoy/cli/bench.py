"""time an artifact, beside PyTorch

Prints medians of whole calls on host arrays, copies to and from the device included; PyTorch runs on the CPU. The two take turns.
benchmarks/compare.py times CUDA-graph replays beside PyTorch and JAX on the GPU.

examples:
  convoy bench resnet18.convoy --peer examples/resnet.py:resnet18
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.cli.reference import medians_ms

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

    with convoy_runtime.load(options.artifact) as program, contextlib.ExitStack() as stack:
        rng = np.random.default_rng(0)
        inputs = [np.asarray(rng.standard_normal(spec.shape), dtype=spec.dtype) for spec in program.inputs]
        actions: dict[str, Callable[[], Any]] = {"convoy": lambda: program.run_numpy(*inputs)}
        target = program.manifest.target
        if options.peer is not None:
            import torch

            module, _ = build_model(options.peer)
            tensors = [torch.from_numpy(each) for each in inputs]
            stack.enter_context(torch.inference_mode())
            actions["torch"] = lambda: module(*tensors)
        figures = medians_ms(actions, seconds=options.seconds)
    if options.json:
        print(json.dumps({"target": target, "unit": "ms", "median": figures}))
        return 0
    for name, value in figures.items():
        ratio = f"  {value / figures['torch']:.2f}x PyTorch" if "torch" in figures and name != "torch" else ""
        print(f"{name:8} {value:9.3f} ms{ratio}")
    return 0
