# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the models with dynamic sizes, and static artifacts of each point, without weights;
needs no GPU.

    python -m benchmarks.dynamic.build build/dynamic --target cuda --dtype float16

torchvision and transformers must be installed.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import convoy
from benchmarks.dynamic.models import MODELS

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes MODEL.convoy, and MODEL-VALUES.convoy for each point. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        model = MODELS[name]
        module = model.build()
        chosen = {"target": options.target, "dtype": options.dtype, "weights": False}
        first = dict.fromkeys(model.points, 0)
        first |= {symbol: values[0] for symbol, values in model.points.items()}
        start = time.perf_counter()
        compiled = convoy.compile(
            module,
            model.inputs(first),
            dynamic_shapes=model.shapes,
            points=model.points,
            **chosen,
        )
        compiled.save(options.folder / f"{name}.convoy", weights=False)
        print(
            f"{name}: {len(compiled.points)} points in {time.perf_counter() - start:.1f} s; "
            + "; ".join(f"{each}: {each.unpadded or 'padded'}" for each in compiled.symbols),
            flush=True,
        )
        for values in itertools.product(*model.points.values()):
            point = dict(zip(model.points, values, strict=True))
            text = "-".join(map(str, values))
            static = convoy.compile(module, model.inputs(point), **chosen)
            static.save(options.folder / f"{name}-{text}.convoy", weights=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
