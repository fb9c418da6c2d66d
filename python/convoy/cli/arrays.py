"""Host arrays of a program as PyTorch's tensors, and back. numpy has no bfloat16: such an array
holds the bits of each element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["array_of", "tensor_of", "wide"]


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """The array of a tensor on the host."""
    import torch

    tensor = tensor.detach()
    return np.asarray(
        (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()
    )


def tensor_of(array: np.ndarray, dtype: str) -> torch.Tensor:
    """The tensor of an array that a program takes as `dtype`, torch's name."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def wide(array: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers in an array of `dtype`, as float64."""
    if dtype == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)
