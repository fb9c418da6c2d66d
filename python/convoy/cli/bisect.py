# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""find the op that makes a compiled model differ from PyTorch

Compiles the model, and once more so that it returns the value of every op. Each value is compared
with PyTorch in float64 on the same operands. The ops with the largest errors are listed by their
effect on the outputs. The limits are those of `convoy run --check`. If the difference comes from a
narrow type, the last line is the --keep-float32 that removes it. The exit code is 3 if an output
differs.

examples:
  convoy bisect model.py:build --dtype float16
  convoy compile model.py:build --dtype float16 --keep-float32 model.py:12 -o model.convoy
  convoy bisect model.py:build --tcp changed.tcp.mlir
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from convoy.cli.model_file import MODEL_HELP, ModelFileError, build_model
from convoy.cli.precision import add_precision
from convoy.cli.progress import Steps
from convoy.options import CompileOptions

if TYPE_CHECKING:
    from convoy.bisect import Finding, OpErrors

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--tcp",
        type=Path,
        metavar="FILE",
        help="compile this module of the tcp phase instead of the model's; ops may be changed",
    )
    parser.add_argument(
        "--target", choices=("cpu", "cuda"), help="default: cuda if there is a GPU, else cpu"
    )
    add_precision(parser, ", as for convoy compile")
    parser.add_argument(
        "--most",
        type=int,
        default=10,
        metavar="N",
        help="the number of ops to list (default: %(default)s)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import torch
    from torch.utils._pytree import tree_leaves

    if options.most < 1:
        message = f"expected --most of at least 1, got {options.most}"
        raise ValueError(message)
    chosen = CompileOptions.of(
        target=options.target,
        dtype=options.dtype,
        keep_float32=options.keep_float32,
        allow_tf32=not options.no_tf32,
        allow_winograd=not options.no_winograd,
        alternatives=False,
    )
    text = None if options.tcp is None else options.tcp.read_text()
    module, inputs, keywords = build_model(options.model)
    if keywords or not all(isinstance(each, torch.Tensor) for each in tree_leaves(inputs)):
        message = f"{options.model}: expected positional inputs that are tensors"
        raise ModelFileError(message)
    with Steps(quiet=options.quiet) as steps:
        steps.start("import")
        from convoy import frontend
        from convoy.bisect import bisect_model

        imported = frontend.import_module(module, inputs)
        found = bisect_model(
            module, inputs, imported, chosen, text=text, most=options.most, progress=steps.start
        )
    _print(found)
    return 0 if found.culprit is None else 3


def _print(found: Finding) -> None:
    for each in found.outputs:
        verdict = "agrees with" if each.agrees else "differs from"
        print(
            f"output {each.name} {verdict} PyTorch in fp64: {each.difference:.2e} relative, at "
            f"most {each.limit:.2e}"
        )
    print("ops by their effect on the outputs:")
    print("  effect    alone     at most   op")
    for op in found.ops:
        print(
            f"  {op.effect:.2e}  {op.alone.difference:.2e}  {op.alone.limit:.2e}  {_described(op)}"
        )
    if found.culprit is None:
        print("every output agrees")
        return
    if found.fused:
        print(
            "first wrong value, only when computed with the ops before it: "
            f"{_described(found.culprit)}"
        )
        print("  the values agree when each is stored: the ops are correct, but not their fusion")
        return
    print(f"culprit: {_described(found.culprit)}")
    if found.keep is None:
        print("  float32 does not improve the outputs")
        return
    worst = max(found.kept, key=lambda each: each.excess)
    print(
        f"  --keep-float32 {found.keep}: output {worst.name} "
        f"{'agrees' if worst.agrees else 'differs'}, {worst.difference:.2e}, at most "
        f"{worst.limit:.2e}"
    )


def _described(op: OpErrors) -> str:
    from convoy.bisect.probes import shown

    probe = op.probe
    target = str(probe.node.target).removesuffix(".default")
    where = f" in {probe.module}" if probe.module else ""
    return f"{target} ({' + '.join(probe.names)}) at {shown(probe.line)}{where}"
