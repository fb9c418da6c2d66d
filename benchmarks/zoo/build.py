# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the models of the zoo for the GPU, without weights; needs no GPU.

    python -m benchmarks.zoo.build build/zoo --models vit_b_16 bert_base_128 --dtypes float16

torchvision, timm and transformers must be installed, for the models that come from them. --models
names models of the zoo, which is the default, and those of `benchmarks.zoo.further`; "further" is
all of the latter.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Sequence
from pathlib import Path

import convoy
from benchmarks.zoo.further import FURTHER
from benchmarks.zoo.model import narrowed
from benchmarks.zoo.models import MODELS, ZOO, Row

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes one artifact for each model, dtype and size of the batch. Returns the exit code: 1 if
    a model was refused."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=[*MODELS, "further"], default=list(ZOO))
    parser.add_argument(
        "--dtypes", nargs="+", choices=("float16", "bfloat16"), default=["float16", "bfloat16"]
    )
    parser.add_argument("--batches", nargs="+", type=int, help="default: those of each model")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    refused = False
    for name in FURTHER if options.models == ["further"] else options.models:
        for batch in options.batches or MODELS[name].batches:
            module, inputs = MODELS[name].build(batch)
            for dtype in options.dtypes:
                path = options.folder / f"{Row(name, dtype, batch).key}.convoy"
                start = time.perf_counter()
                try:
                    model = convoy.compile(
                        *narrowed(copy.deepcopy(module), inputs, dtype),
                        target="cuda",
                        weights=False,
                    )
                except convoy.ConvoyError as error:
                    refused = True
                    print(f"{path.stem}: {error}", flush=True)
                    continue
                model.save(path, weights=False)
                print(
                    f"{path}: {time.perf_counter() - start:.1f} s, "
                    f"{path.stat().st_size / 1e3:.0f} kB",
                    flush=True,
                )
    return int(refused)


if __name__ == "__main__":
    raise SystemExit(main())
