# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensor types, and the element types of Torch, torch-mlir's torch dialect and `tcp`."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import torch
from torch_mlir import ir

__all__ = [
    "TensorType",
    "dtype_name",
    "dtype_of",
    "element_of",
    "parse_vtensor",
    "unsupported_dtype",
]

# dtype -> spelling in the torch dialect, spelling in tcp. Signed torch integers are signless in
# tcp, as arith requires. tcp-lower-unsigned replaces uint8, the only unsigned one.
_DTYPES = {
    torch.float64: ("f64", "f64"),
    torch.float32: ("f32", "f32"),
    torch.float16: ("f16", "f16"),
    torch.bfloat16: ("bf16", "bf16"),
    torch.int64: ("si64", "i64"),
    torch.int32: ("si32", "i32"),
    torch.int16: ("si16", "i16"),
    torch.int8: ("si8", "i8"),
    torch.uint8: ("ui8", "ui8"),
    torch.bool: ("i1", "i1"),
}
_FROM_TORCH_DIALECT = {torch_name: dtype for dtype, (torch_name, _) in _DTYPES.items()}
_FROM_TCP = {tcp_name: dtype for dtype, (_, tcp_name) in _DTYPES.items()}

_VTENSOR = re.compile(r"!torch\.vtensor<\[([0-9?, ]*)\],\s*([^<>]+(?:<[^>]+>)?)>")


@dataclass(frozen=True)
class TensorType:
    """A static shape and a dtype."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}{list(self.shape)}"

    def mlir(self) -> ir.RankedTensorType:
        """The `tcp` type, in the current context."""
        return ir.RankedTensorType.get(list(self.shape), element_of(self.dtype))


@functools.cache
def parse_vtensor(text: str) -> TensorType | str:
    """Parses a torch-dialect type such as `!torch.vtensor<[1,3],f32>`.

    Args:
        text: The type.

    Returns:
        The type, or an error message if it is not a value tensor with a static shape and a dtype of
        `tcp`.
    """
    match = _VTENSOR.fullmatch(text)
    if match is None:
        return f"expected a value tensor of known shape and dtype, got {text}"
    dims, dtype = match[1].replace(" ", ""), match[2]
    if "?" in dims:
        return f"expected a static shape, got [{dims}]"
    if dtype not in _FROM_TORCH_DIALECT:
        return f"expected a dtype of {', '.join(_FROM_TORCH_DIALECT)}, got {dtype}"
    return TensorType(tuple(int(dim) for dim in dims.split(",") if dim), _FROM_TORCH_DIALECT[dtype])


def unsupported_dtype(dtype: torch.dtype) -> str:
    """An error message if `tcp` does not have `dtype`, else an empty string."""
    if dtype in _DTYPES:
        return ""
    return (
        f"expected a dtype of {', '.join(dtype_name(each) for each in _DTYPES)}, got "
        f"{dtype_name(dtype)}"
    )


def element_of(dtype: torch.dtype) -> ir.Type:
    """The `tcp` element type of `dtype`, in the current context."""
    return ir.Type.parse(_DTYPES[dtype][1])


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype in messages and the manifest, e.g. `float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def dtype_of(element: ir.Type) -> torch.dtype:
    """The dtype of a `tcp` element type."""
    return _FROM_TCP[str(element)]
