"""How far results are from PyTorch's in float64, beside how far PyTorch itself is when it computes
in the program's type."""

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

#: How much farther from float64 than PyTorch a result may be: sums in another order lose about as
#: much, never the same.
ALLOWANCE = 8.0
#: Distance of 1 from the next number, by what the program computes in. TF32 has ten bits of
#: fraction, as float16.
_EPSILON = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "tf32": 2.0**-10,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}
#: A result this many epsilons off is taken whatever PyTorch loses. Of float64 there is no more
#: precise reference.
_FLOOR = {"float64": 1024.0, "float32": 4.0, "tf32": 4.0, "float16": 4.0, "bfloat16": 4.0}
#: Products, whose factors TF32 rounds: the convolutions and matrix products of torch, by the first
#: word of the op's name.
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
    """One output: largest difference from PyTorch in float64 over the largest magnitude there,
    PyTorch's own, and the most that is accepted. Of integers and booleans, the share of elements
    that differ."""

    name: str
    difference: float
    peer: float
    limit: float

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the limit; NaN is not."""
        return self.difference <= self.limit

    @property
    def excess(self) -> float:
        """The difference in limits, to find the worst output."""
        if self.agrees:
            return self.difference / self.limit if self.limit else 0.0
        return (
            self.difference / self.limit
            if self.limit and np.isfinite(self.difference)
            else float("inf")
        )


def compute_type(program: Program, *, allow_tf32: bool = True) -> str:
    """What the program computes in, as far as it shows: its graphs' and prepared weights' type,
    then that of its inputs and outputs."""
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
    """Compares a result with PyTorch's in the program's type, `peer`, and in float64, `precise`.

    Integers and booleans are exact: each is PyTorch's in one of both types. Where PyTorch has NaN
    or infinity, so has the result, or what float64 has there; NaN or infinity elsewhere is an
    infinite difference.
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
    # Where PyTorch overflows in its type, what float64 has is right as well.
    distance = np.where(
        np.isfinite(peer),
        _distance(got, precise),
        np.minimum(_distance(got, precise), _distance(got, peer)),
    )
    lost = own[np.isfinite(own)].max(initial=0.0) / scale
    limit = max(ALLOWANCE * lost, _FLOOR[dtype] * _EPSILON[dtype])
    return Comparison(name, float(distance.max(initial=0.0) / scale), float(lost), float(limit))


def _distance(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Element by element: 0 where both are NaN or the same infinity, infinite where one of them
    alone is not finite."""
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(got - want)
    return np.where(same, 0.0, np.where(np.isfinite(far), far, np.inf))


class _Tf32(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Rounds the float32 factors of products as tensor cores do, to nearest with ties to even:
    PyTorch has TF32 on GPUs alone."""

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
    """PyTorch computes as the program does: with factors rounded to TF32 where `dtype` is "tf32",
    else as it is."""
    if dtype != "tf32":
        yield
        return
    with _Tf32():  # type: ignore[no-untyped-call]
        yield
