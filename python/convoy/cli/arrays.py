# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Converts host arrays of a program to PyTorch tensors and back. numpy has no bfloat16: such arrays
are uint16 with the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["array_of", "tensor_of", "wide"]


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """Converts a host tensor to an array."""
    import torch

    tensor = tensor.detach()
    return np.asarray(
        (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()
    )


def tensor_of(array: np.ndarray, dtype: str) -> torch.Tensor:
    """Converts an array to a tensor of `dtype`, torch's name of the array's type in a program."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def wide(array: np.ndarray, dtype: str) -> np.ndarray:
    """Converts an array of `dtype`, torch's name, to float64."""
    if dtype == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)
