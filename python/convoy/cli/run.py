# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""run an artifact

Inputs are .npy files, one per input. The default is random numbers, or with --check the model's
example inputs. --check also runs the PyTorch model and compares results and times. The reference is
the model in float64; the limit is a small multiple of PyTorch's error in the artifact's compute
type. Integers and booleans must be equal, as must the positions of NaN and infinities. The exit
code is 3 if results differ. On a GPU, plans tuned with a restriction, e.g. --deterministic, are
used only with the same restriction.

examples:
  convoy run resnet18.convoy --check examples/resnet.py:resnet18 --top 5
  convoy run resnet18.convoy --input image.npy --output logits.npy
  convoy run resnet50.convoy --strict --plans
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from convoy.cli.arrays import array_of, wide
from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.cli.plans import print_plans
from convoy.errors import ConvoyError
from convoy_runtime.output_files import checked_stream, write_array

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.load_flags import add_arguments, add_plans, add_tensor_files

    parser.add_argument(
        "artifact", metavar="FILE", type=Path, help="an artifact that `convoy compile` wrote"
    )
    add_tensor_files(parser)
    parser.add_argument(
        "--check", metavar="MODEL", help=f"compare with this PyTorch model: {MODEL_HELP}"
    )
    parser.add_argument(
        "--top", type=int, default=0, metavar="K", help="print the K largest of the first output"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="cpu, cuda or cuda:N; default: the artifact's target"
    )
    add_plans(parser)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="use only plans from the artifact or the cache",
    )
    add_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime
    from convoy_runtime.load_flags import load_arguments

    if options.top < 0:
        message = f"--top: expected a number from 0, got {options.top}"
        raise ConvoyError(message)
    for path in options.output:
        checked_stream(path)
    with convoy_runtime.load(
        options.artifact,
        device=options.device,
        weights=options.weights,
        strict=options.strict,
        **load_arguments(options),
    ) as program:
        print_plans(program, options.artifact, everything=options.plans)
        if len(options.output) > len(program.outputs):
            message = (
                f"expected at most {len(program.outputs)} --output files, got {len(options.output)}"
            )
            raise ConvoyError(message)
        model = None if options.check is None else build_model(options.check)
        inputs = _inputs(program, options.input, model)
        outputs = program.run_numpy(*inputs)
        for path, output in zip(options.output, outputs, strict=False):
            write_array(path, output)
        for spec, output in zip(program.outputs, outputs, strict=True):
            print(f"output {spec.name}: {spec.dtype} {list(output.shape)}")
        if options.top:
            _print_top(wide(outputs[0], program.outputs[0].dtype), options.top)
        if model is None:
            return 0
        from convoy.cli.reference import Model, compare

        return compare(
            program,
            Model(*model, program, inputs),
            inputs,
            outputs,
            allow_tf32=options.allow_tf32 is not False,
        )


def _inputs(program: object, paths: list[Path], model: tuple | None) -> list[np.ndarray]:  # type: ignore[type-arg]
    from convoy_runtime.array_files import read_array
    from convoy_runtime.random_arrays import random_array

    specs = program.example_inputs  # type: ignore[attr-defined]
    if paths:
        if len(paths) != len(specs):
            message = f"expected {len(specs)} --input files, got {len(paths)}"
            raise ConvoyError(message)
        return [read_array(path) for path in paths]
    if model is not None:
        from torch.utils._pytree import tree_leaves

        leaves = [each for each in tree_leaves(model[1:]) if hasattr(each, "__dlpack__")]
        if len(leaves) != len(specs):
            message = (
                f"expected a model with {len(specs)} inputs, like the artifact, got {len(leaves)}"
            )
            raise ConvoyError(message)
        return [array_of(each) for each in leaves]
    return [random_array(spec, seed) for seed, spec in enumerate(specs)]


def _print_top(output: np.ndarray, count: int) -> None:
    for row in np.atleast_2d(output).reshape(-1, output.shape[-1] if output.ndim else 1)[:1]:
        order = np.argsort(row)[::-1][:count]
        print(
            "  top", count, ":", ", ".join(f"{index} ({float(row[index]):.4f})" for index in order)
        )
