# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the benchmark models, without weight data, into a folder. Needs no GPU.

    python -m benchmarks.build build/bench --models resnet18 resnet50 --batches 1 32 \\
        --dtypes float16 bfloat16 float32 strict
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

import convoy
from benchmarks.cases import DTYPES, Case

__all__ = ["main"]


def main() -> None:
    """Compiles each combination of model, dtype and batch size on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", default=["resnet18", "resnet50"])
    parser.add_argument(
        "--dtypes",
        nargs="+",
        choices=DTYPES,
        default=list(DTYPES),
        help="strict is float32 without TF32",
    )
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 32])
    parser.add_argument(
        "--no-alternatives",
        action="store_true",
        help="compile no alternatives of graphs",
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        for batch in options.batches:
            for kind in options.dtypes:
                case = Case(name, kind, batch)
                module, x = case.build()
                path = options.folder / f"{case.key}.convoy"
                start = time.perf_counter()
                chosen = None if case.dtype == "float32" else getattr(torch, case.dtype)
                model = convoy.compile(
                    module, (x,), target="cuda", dtype=chosen, weights=False, allow_tf32=case.tf32,
                    alternatives=not options.no_alternatives,
                )  # fmt: skip
                model.save(path, weights=False)
                print(
                    (
                        f"{path}: {time.perf_counter() - start:.1f} s, "
                        f"{path.stat().st_size / 1e3:.0f} kB"
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
