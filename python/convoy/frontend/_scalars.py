# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers as elements of tensors."""

from __future__ import annotations

import torch

from convoy.frontend._types import dtype_name
from convoy.frontend._unsupported import Unsupported

__all__ = ["element_number", "is_float32", "wrapped_number"]


def element_number(value: float | int | bool, dtype: torch.dtype) -> float | int | bool:
    """Converts a number like PyTorch converts a Scalar: bool is `!= 0`, integers drop the fraction.

    Args:
        value: The number.
        dtype: The type of the element.

    Returns:
        The converted number.

    Raises:
        Unsupported: The number is out of range, which includes NaN and infinities for integers.
    """
    try:
        # Two elements: for a single one, PyTorch does not check the range of floats.
        return torch.full((2,), value, dtype=dtype)[0].item()
    except (OverflowError, RuntimeError, TypeError):
        msg = f"expected a number in the range of {dtype_name(dtype)}, got {value}"
        raise Unsupported(msg) from None


def wrapped_number(value: float | int | bool, dtype: torch.dtype) -> float | int | bool:
    """Converts a number like PyTorch for ops that first make it a tensor: integers wrap around,
    floats become infinite."""
    kind = torch.float64 if isinstance(value, float) else torch.int64
    return torch.tensor(element_number(value, kind), dtype=kind).to(dtype).item()


def is_float32(number: float | int) -> bool:
    return float(torch.tensor(float(number), dtype=torch.float32)) == float(number)
