# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles functions that are bound by memory, and copies, for the GPU; needs no GPU.

    python -m benchmarks.bandwidth.build build/bandwidth --dtypes float16

The functions are in `benchmarks.bandwidth.cases`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch

import convoy
from benchmarks.bandwidth.cases import CASES, COPIES, COPY, INDEX, MEGABYTES, Case, copy_key
from convoy.compiled_model import CompiledModel

__all__ = ["main"]

_DTYPES: Final = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the artifacts. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--dtypes", nargs="+", choices=list(_DTYPES), default=["float16"])
    parser.add_argument("--megabytes", nargs="+", type=int, default=list(MEGABYTES))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for megabytes in COPIES:
        copy = _compiled(COPY, megabytes, torch.float32)
        copy.save(options.folder / f"{copy_key(megabytes)}.convoy")
    index = {}
    for name in options.cases:
        for dtype in options.dtypes:
            for megabytes in options.megabytes:
                key = f"{name.replace(', ', ' ').replace(' ', '_')}-{dtype}-{megabytes}"
                model = _compiled(CASES[name], megabytes, _DTYPES[dtype])
                model.save(options.folder / f"{key}.convoy")
                index[key] = {
                    "name": name,
                    "dtype": dtype,
                    "megabytes": megabytes,
                    "bytes": sum(
                        spec.bytes for spec in (*model.manifest.inputs, *model.manifest.outputs)
                    ),
                }
                print(key, flush=True)
    (options.folder / INDEX).write_text(json.dumps(index, indent=1) + "\n")
    return 0


def _compiled(case: Case, megabytes: int, dtype: torch.dtype) -> CompiledModel:
    inputs = case.arguments((megabytes << 20) // dtype.itemsize, dtype)
    return convoy.compile(case.module().eval(), inputs, target="cuda")


if __name__ == "__main__":
    raise SystemExit(main())
