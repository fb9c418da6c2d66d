"""PyTorch beside an artifact: the difference from fp64, and the time of both on the same inputs."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

    from convoy_runtime import Program

__all__ = ["compare", "median_ms", "relative_difference"]


def relative_difference(got: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference over the largest magnitude of `expected`; NaN anywhere gives NaN."""
    scale = float(np.abs(expected).max()) or 1.0
    return float(np.abs(got.astype(np.float64) - expected).max() / scale)


def median_ms(action: Callable[[], Any], *, seconds: float = 1.5, minimum: int = 5) -> float:
    """Median time of `action` in milliseconds, after one call to warm up; `action` waits for its result."""
    action()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < minimum or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compare(
    program: Program, module: torch.nn.Module, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], tolerance: Mapping[str, float]
) -> int:
    """Prints the largest difference from PyTorch in fp64 and the time beside PyTorch's; returns the exit code."""
    import torch

    tensors = [torch.from_numpy(np.ascontiguousarray(each)) for each in inputs]
    with torch.inference_mode():
        wide = copy.deepcopy(module).double()
        expected = wide(*(each.double() if each.is_floating_point() else each for each in tensors))
        expected = expected if isinstance(expected, tuple) else (expected,)
        differences = [relative_difference(got, want.numpy()) for got, want in zip(outputs, expected, strict=True)]
        worst = float(np.max(differences))
        ours = median_ms(lambda: program.run_numpy(*inputs))
        peer = median_ms(lambda: module(*tensors))
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
