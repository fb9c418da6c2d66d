"""PyTorch beside an artifact: the difference from fp64, and the time of both on the same inputs."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from convoy.cli.arrays import tensor_of, wide

if TYPE_CHECKING:
    import torch

    from convoy_runtime import Program

__all__ = ["compare", "medians_ms", "relative_difference"]


def relative_difference(got: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference over the largest magnitude of `expected`; NaN anywhere gives NaN."""
    scale = float(np.abs(expected).max()) or 1.0
    return float(np.abs(got.astype(np.float64) - expected).max() / scale)


def medians_ms(actions: Mapping[str, Callable[[], Any]], *, seconds: float = 1.5, blocks: int = 8) -> dict[str, float]:
    """Median time of each action in milliseconds, `seconds` of measuring each; an action waits for its result.

    The actions take turns in blocks, so that what else the machine does meets all of them; a block's first call warms up.
    """
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(blocks):
        for name, action in actions.items():
            action()
            end = time.perf_counter() + seconds / blocks
            while True:
                start = time.perf_counter()
                action()
                times[name].append((time.perf_counter() - start) * 1e3)
                if time.perf_counter() >= end:
                    break
    return {name: statistics.median(values) for name, values in times.items()}


def compare(
    program: Program, module: torch.nn.Module, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], tolerance: Mapping[str, float]
) -> int:
    """Prints the largest difference from PyTorch in fp64 and the time beside PyTorch's; returns the exit code."""
    import torch

    tensors = [tensor_of(each, spec.dtype) for each, spec in zip(inputs, program.inputs, strict=True)]
    with torch.inference_mode():
        precise = copy.deepcopy(module).double()
        expected = precise(*(each.double() if each.is_floating_point() else each for each in tensors))
        expected = expected if isinstance(expected, tuple) else (expected,)
        got = (wide(each, spec.dtype) for each, spec in zip(outputs, program.outputs, strict=True))
        differences = [relative_difference(ours, want.numpy()) for ours, want in zip(got, expected, strict=True)]
        worst = float(np.max(differences))
        ours, peer = medians_ms({"convoy": lambda: program.run_numpy(*inputs), "torch": lambda: module(*tensors)}).values()
    limit = tolerance[_computes_in(program)]
    print(f"largest difference from PyTorch in fp64: {worst:.2e} relative (at most {limit:.0e})")
    where = f"CPU, {torch.get_num_threads()} threads"
    print(f"time: {ours:.2f} ms on {program.manifest.target}, PyTorch {peer:.2f} ms on the {where} ({ours / peer:.2f}x)")
    return 0 if worst <= limit else 3


def _computes_in(program: Program) -> str:
    """The tolerance class: what the cuDNN graphs compute in, or float32 on the CPU."""
    manifest = program.manifest
    dtypes = {tensor.dtype for graph in manifest.graphs for tensor in graph.tensors} | {spec.dtype for spec in manifest.prepared}
    for dtype in ("bfloat16", "float16"):
        if dtype in dtypes:
            return dtype
    return "tf32" if manifest.target == "cuda" else "float32"
