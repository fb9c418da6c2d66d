# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Complex tensors at the border of a model."""

from __future__ import annotations

import torch

from convoy.frontend._types import dtype_name

__all__ = ["complex_input", "real_view"]


def real_view(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as a real one with a last dim of 2; other tensors unchanged."""
    return torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor


def complex_input(dtype: torch.dtype) -> str:
    """The problem with a complex input, or an empty string."""
    if not dtype.is_complex:
        return ""
    return (
        f"expected a real tensor, got {dtype_name(dtype)}; pass torch.view_as_real(x), and call "
        "torch.view_as_complex in the model"
    )
