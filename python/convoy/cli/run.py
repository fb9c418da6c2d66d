"""run an artifact

Inputs are .npy files, one an input; without them, random numbers of the right shape and dtype, or with --check the model's own example
inputs. --check runs the PyTorch model beside it and compares results and time.

examples:
  convoy run resnet18.convoy --check examples/resnet.py:resnet18 --top 5
  convoy run resnet18.convoy --input image.npy --output logits.npy
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from convoy.cli.model_file import MODEL_HELP, build_model
from convoy.errors import ConvoyError

__all__ = ["main", "populate_parser"]

#: Largest relative difference from PyTorch in fp64 that --check accepts, by the dtype that the model computes in.
TOLERANCE = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 3e-2, "tf32": 5e-3}


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("artifact", metavar="FILE", type=Path, help="an artifact that `convoy compile` wrote")
    parser.add_argument("--input", action="append", type=Path, default=[], metavar="FILE.npy", help="an input, in order; may be repeated")
    parser.add_argument("--output", action="append", type=Path, default=[], metavar="FILE.npy", help="where to write an output, in order")
    parser.add_argument("--weights", type=Path, metavar="FILE.safetensors", help="weights to use instead of the artifact's")
    parser.add_argument("--check", metavar="MODEL", help=f"compare with this PyTorch model: {MODEL_HELP}")
    parser.add_argument("--top", type=int, default=0, metavar="K", help="print the K largest of the first output")
    parser.add_argument("--device", metavar="NAME", help="cpu, cuda or cuda:N; default: the artifact's target")


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    import convoy_runtime

    with convoy_runtime.load(options.artifact, device=options.device, weights=options.weights) as program:
        model = None if options.check is None else build_model(options.check)
        inputs = _inputs(program, options.input, model)
        outputs = program.run_numpy(*inputs)
        for path, output in zip(options.output, outputs, strict=False):
            np.save(path, output)
        for spec, output in zip(program.outputs, outputs, strict=True):
            print(f"output {spec.name}: {spec.dtype} {list(spec.shape)}")
            if options.top:
                _print_top(output, options.top)
        if model is None:
            return 0
        from convoy.cli.reference import compare

        return compare(program, model[0], inputs, outputs, TOLERANCE)


def _inputs(program: object, paths: list[Path], model: tuple | None) -> list[np.ndarray]:  # type: ignore[type-arg]
    specs = program.inputs  # type: ignore[attr-defined]
    if paths:
        if len(paths) != len(specs):
            message = f"expected {len(specs)} --input files, got {len(paths)}"
            raise ConvoyError(message)
        return [np.load(path, allow_pickle=False) for path in paths]
    if model is not None:
        return [each.detach().numpy() for each in model[1]]
    rng = np.random.default_rng(0)
    arrays = []
    for spec in specs:
        if spec.dtype.startswith("float"):
            arrays.append(rng.standard_normal(spec.shape).astype(spec.dtype))
        elif spec.dtype.startswith("int"):
            arrays.append(rng.integers(0, 2, spec.shape).astype(spec.dtype))
        else:
            message = f"input {spec.name!r} is {spec.dtype}, which .npy files do not hold: expected --check or the Python API"
            raise ConvoyError(message)
    return arrays


def _print_top(output: np.ndarray, count: int) -> None:
    for row in output.reshape(-1, output.shape[-1])[:1]:
        order = np.argsort(row)[::-1][:count]
        print("  top", count, ":", ", ".join(f"{index} ({float(row[index]):.4f})" for index in order))
