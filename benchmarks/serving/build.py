# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the models of `benchmarks.serving` for the CPU: ResNet-18 on images of 224x224 and of
64x64, and one that does nothing.

.venv/bin/python -m benchmarks.serving.build build/serving-bench
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from torch.export import Dim

import convoy

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from resnet import resnet18

__all__ = ["main"]

POINTS = [1, 2, 4, 8, 16]


def resnet18_64() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """ResNet-18 on images of 64x64."""
    return resnet18()[0], (torch.randn(2, 3, 64, 64),)


def nothing() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Returns its input, float32[batch, 8]."""
    return nn.Identity().eval(), (torch.randn(2, 8),)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes an artifact per model. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for make in (resnet18, resnet18_64, nothing):
        module, inputs = make()
        batch = Dim("batch", min=1, max=POINTS[-1])
        example = tuple(torch.cat([each, each]) if len(each) == 1 else each for each in inputs)
        compiled = convoy.compile(
            module,
            example,
            target="cpu",
            dynamic_shapes=({0: batch},),
            points={"batch": POINTS},
        )
        compiled.save(options.folder / f"{make.__name__}.convoy")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
