# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares results with PyTorch in float64. The limit follows from PyTorch's own error in the
program's compute type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from convoy_runtime import Program

__all__ = ["ALLOWANCE", "Comparison", "compare_tensor", "compute_type", "rounding"]

#: The limit on a result's error, in multiples of PyTorch's: sums in another order have similar but
#: not equal errors.
ALLOWANCE = 8.0
#: Compute type to its machine epsilon. TF32 has a 10-bit fraction, like float16.
_EPSILON = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "tf32": 2.0**-10,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}
#: The minimal limit in epsilons. For float64 there is no more precise reference.
_FLOOR = {"float64": 1024.0, "float32": 4.0, "tf32": 4.0, "float16": 4.0, "bfloat16": 4.0}
#: The names of torch's convolutions and matrix products, whose factors TF32 rounds.
_PRODUCTS = (
    "convolution",
    "mm",
    "addmm",
    "bmm",
    "baddbmm",
    "matmul",
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "scaled_dot_product_attention",
)


@dataclass(frozen=True)
class Comparison:
    """The comparison of an output with PyTorch in float64.

    Differences are relative to the largest magnitude. For integers and booleans, they are the share
    of elements that differ.

    Attributes:
        name: The name of the output.
        difference: The largest difference.
        peer: The largest difference of PyTorch in the program's compute type.
        limit: The largest accepted difference.
    """

    name: str
    difference: float
    peer: float
    limit: float

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the limit. False for NaN."""
        return self.difference <= self.limit

    @property
    def excess(self) -> float:
        """The difference divided by the limit, to find the worst output."""
        if self.agrees:
            return self.difference / self.limit if self.limit else 0.0
        return (
            self.difference / self.limit
            if self.limit and np.isfinite(self.difference)
            else float("inf")
        )


def compute_type(program: Program, *, allow_tf32: bool = True) -> str:
    """Derives the compute type of a program from its graphs and prepared weights, else from its
    inputs and outputs.

    Args:
        program: The program.
        allow_tf32: Whether it was loaded with TF32 allowed.

    Returns:
        torch's name of a float type, or "tf32".
    """
    manifest = program.manifest
    dtypes = {tensor.dtype for graph in manifest.graphs for tensor in graph.tensors} | {
        spec.dtype for spec in manifest.prepared
    }
    if manifest.cudnn is not None:
        dtypes.add(manifest.cudnn.io_dtype)
    for dtype in ("bfloat16", "float16"):
        if dtype in dtypes:
            return dtype
    floats = {
        spec.dtype
        for spec in (*manifest.inputs, *manifest.outputs, *manifest.prepared)
        if "float" in spec.dtype
    }
    if len(floats) == 1 and not manifest.graphs:
        return floats.pop()
    return (
        "tf32"
        if manifest.cudnn is not None and manifest.cudnn.allow_tf32 and allow_tf32
        else "float32"
    )


def compare_tensor(
    name: str, got: np.ndarray, peer: np.ndarray, precise: np.ndarray, dtype: str
) -> Comparison:
    """Compares a result with PyTorch's.

    Integers and booleans must equal PyTorch's in one of both types. At elements where PyTorch has
    NaN or infinity, the result must have the same value or that of float64. NaN or infinity
    elsewhere is an infinite difference.

    Args:
        name: The name of the output.
        got: The result.
        peer: PyTorch's result in the program's compute type.
        precise: PyTorch's result in float64.
        dtype: The compute type, as `compute_type` returns it.

    Returns:
        The comparison.
    """
    if got.shape != precise.shape:
        return Comparison(name, float("inf"), 0.0, 0.0)
    if not np.issubdtype(precise.dtype, np.floating):
        differs = (got != peer) & (got != precise)
        return Comparison(name, float(np.mean(differs)) if differs.size else 0.0, 0.0, 0.0)
    got, peer = got.astype(np.float64), peer.astype(np.float64)
    finite = np.isfinite(precise)
    scale = float(np.abs(precise[finite]).max(initial=0.0)) or 1.0
    own = _distance(peer, precise)
    # If PyTorch overflows in its type, the float64 value is also correct.
    distance = np.where(
        np.isfinite(peer),
        _distance(got, precise),
        np.minimum(_distance(got, precise), _distance(got, peer)),
    )
    lost = own[np.isfinite(own)].max(initial=0.0) / scale
    limit = max(ALLOWANCE * lost, _FLOOR[dtype] * _EPSILON[dtype])
    return Comparison(name, float(distance.max(initial=0.0) / scale), float(lost), float(limit))


def _distance(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The elementwise difference: 0 if both are NaN or the same infinity, infinite if only one is
    finite."""
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(got - want)
    return np.where(same, 0.0, np.where(np.isfinite(far), far, np.inf))


class _Tf32(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Rounds the float32 factors of products like tensor cores, to nearest with ties to even.
    PyTorch supports TF32 only on GPUs."""

    def __torch_dispatch__(
        self, op: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if op.overloadpacket.__name__ in _PRODUCTS:
            args = tuple(_round(each) for each in args)
        return op(*args, **(kwargs or {}))


def _round(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
        return value
    bits = value.contiguous().view(torch.int32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF
    return torch.where(torch.isfinite(value), rounded.view(torch.float32), value)


@contextmanager
def rounding(dtype: str) -> Iterator[None]:
    """Makes PyTorch round factors to TF32 if `dtype` is "tf32"; no effect otherwise."""
    if dtype != "tf32":
        yield
        return
    with _Tf32():  # type: ignore[no-untyped-call]
        yield
