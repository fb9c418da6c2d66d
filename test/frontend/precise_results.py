"""PyTorch's results in float64, which those of the compiler are compared with."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["expected_results"]


def expected_results(module: torch.nn.Module, inputs: Sequence[Tensor]) -> list[Tensor]:
    """PyTorch's results in float64."""
    wide = [value.double() if value.dtype.is_floating_point else value for value in inputs]
    with torch.no_grad():
        # Module.double leaves complex weights as they are.
        precise = (
            copy.deepcopy(module)
            .double()
            ._apply(lambda each: each.to(torch.complex128) if each.is_complex() else each)
        )
        results = precise(*wide)
    return list(results) if isinstance(results, (list, tuple)) else [results]
