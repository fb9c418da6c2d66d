# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products with a matrix for each group of rows, as in a mixture of experts.

The groups are known at run time only, and shapes are static. So every row is multiplied by the
matrices of all groups, and counts for its own group only: the rows become a matrix of zeros with
one block of columns for each group, and the product with the stacked matrices is one product. It
has as many times the operations of the grouped product as there are groups.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["grouped_decompositions"]


def grouped_decompositions() -> dict[Any, Any]:
    """The decompositions of the grouped products of PyTorch and, if it is imported,
    transformers."""
    found: dict[Any, Any] = {torch.ops.aten._grouped_mm.default: grouped_mm}
    fallback = getattr(torch.ops.transformers, "grouped_mm_fallback", None)
    if fallback is not None:
        found[fallback.default] = grouped_mm
    return found


def grouped_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """torch.nn.functional.grouped_mm. What belongs to no group is zero.

    Args:
        a: [M, K], whose rows are grouped or, with a matrix `b`, whose columns are; or [E, M, K].
        b: [E, K, N], or [K, N], whose rows or, with three dims of `a`, whose columns are grouped.
        offs: [E]: the end of each group; None for two operands with three dims.
        bias: [E, N] or [N], which is added.
        out_dtype: The dtype of the result; None for that of `a`.

    Returns:
        [M, N], or [E, M, N] if no dim of the result is grouped.
    """
    if offs is None or (a.ndim == 3 and b.ndim == 3):
        product = torch.matmul(a, b)
    elif a.ndim == 2 and b.ndim == 3:
        product = _grouped_rows(a, b, offs)
    elif a.ndim == 3:
        product = _grouped_rows(b.mT, a.mT, offs).mT
    else:
        product = torch.matmul(torch.where(_members(offs, a.shape[1]).unsqueeze(1), a, 0), b)
    if bias is not None:
        product = product + bias
    return product.to(out_dtype or a.dtype)


def _grouped_rows(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    """[M, K] and [E, K, N] to [M, N]."""
    groups, inner, columns = b.shape
    belongs = _members(offs, a.shape[0]).t().unsqueeze(-1)
    blocks = torch.where(belongs, a.unsqueeze(1), 0).reshape(a.shape[0], groups * inner)
    return blocks @ b.reshape(groups * inner, columns)


def _members(offs: torch.Tensor, count: int) -> torch.Tensor:
    """Whether each of `count` positions is in a group: [E, count]."""
    positions = torch.arange(count, device=offs.device)
    ends = offs.unsqueeze(-1)
    starts = torch.nn.functional.pad(offs[:-1], (1, 0)).unsqueeze(-1)
    return (positions >= starts) & (positions < ends)
