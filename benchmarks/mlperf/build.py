# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the models of the benchmark without weights; needs no GPU.

    python -m benchmarks.mlperf.build build/mlperf --models resnet50 detector --batches 256 16

Inputs are channels-last and of the model's dtype. torchvision must be installed for ResNet-50.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim

import convoy
from benchmarks.mlperf.detector import Detector
from benchmarks.zoo.model import narrowed
from benchmarks.zoo.models import ZOO

__all__ = ["main"]


def _detector() -> nn.Module:
    torch.manual_seed(0)
    return Detector().eval()


#: Name to the module and the size of its images.
_MODELS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "resnet50": (lambda: ZOO["resnet50"].build(1)[0], 224),
    "detector": (_detector, 800),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes MODEL-BATCH.convoy for each batch, and MODEL.convoy for the points. Returns the exit
    code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=_MODELS, default=list(_MODELS))
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float16")
    parser.add_argument("--batches", nargs="*", type=int, default=[], help="of static artifacts")
    parser.add_argument("--points", nargs="*", type=int, default=[], help="of one artifact")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        create, size = _MODELS[name]
        module = create()
        for batch in options.batches:
            _save(module, size, batch, options, options.folder / f"{name}-{batch}.convoy")
        if options.points:
            dynamic = {
                "dynamic_shapes": ({0: Dim("batch", min=1, max=max(options.points))},),
                "points": {"batch": sorted(options.points)},
            }
            path = options.folder / f"{name}.convoy"
            _save(module, size, max(options.points), options, path, **dynamic)
    return 0


def _save(
    module: nn.Module, size: int, batch: int, options: Any, path: Path, **dynamic: Any
) -> None:
    """Compiles a module and writes its artifact.

    Args:
        module: The module, which is converted to the dtype.
        size: The height and width of its images.
        batch: The size of the batch of the example.
        options: The arguments of the command.
        path: The file.
        **dynamic: Further arguments of `convoy.compile`.
    """
    start = time.perf_counter()
    narrow, inputs = narrowed(module, (torch.rand(batch, 3, size, size),), options.dtype)
    compiled = convoy.compile(narrow, inputs, target=options.target, weights=False, **dynamic)
    compiled.save(path, weights=False)
    seconds = time.perf_counter() - start
    print(f"{path}: {seconds:.1f} s, {path.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
