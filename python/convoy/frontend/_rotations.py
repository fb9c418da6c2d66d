# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The op `convoy.rotate_columns`, which makes the columns of matrices orthogonal by rotations: the
one-sided Jacobi method. Its converter is in `rotations.py`."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["ORTHOGONAL", "rotate_columns"]

#: A pair of columns whose cosine is at most this is orthogonal in float64.
ORTHOGONAL = 2.0**-52
_LIBRARY = torch.library.Library("convoy", "FRAGMENT")  # type: ignore[no-untyped-call]


def _shapes(x: Tensor, sweeps: int) -> tuple[Tensor, Tensor]:
    """Tensors of the shapes and dtypes of the results."""
    batch, _, columns = x.shape
    return torch.empty_like(x), x.new_empty(batch, columns, columns)


def _kernel(x: Tensor, sweeps: int) -> tuple[Tensor, Tensor]:
    """The steps of the converter, with which `convoy bisect` compares."""
    batch, rows, columns = x.shape
    half = (columns + 1) // 2
    one = torch.eye(columns, dtype=x.dtype, device=x.device).expand(batch, columns, columns)
    both = torch.nn.functional.pad(torch.cat([x, one], 1), (0, 2 * half - columns))
    left, right = both[..., :half], both[..., half:]
    for _ in range(sweeps * (2 * half - 1)):
        a, b = left[:, :rows], right[:, :rows]
        aa, bb, ab = ((u * v).sum(1, keepdim=True) for u, v in ((a, a), (b, b), (a, b)))
        is_orthogonal = ab.abs() <= ORTHOGONAL * aa.sqrt() * bb.sqrt()
        ratio = (bb - aa) / torch.where(is_orthogonal, 1, 2 * ab)
        tangent = torch.where(ratio < 0, -1, 1) / (ratio.abs() + (ratio * ratio + 1).sqrt())
        tangent = torch.where(is_orthogonal, 0, tangent)
        cosine = 1 / (tangent * tangent + 1).sqrt()
        sine = cosine * tangent
        left, right = left * cosine - right * sine, left * sine + right * cosine
        if half > 1:
            first = [left[..., :1], right[..., :1], left[..., 1 : half - 1]]
            left, right = (
                torch.cat(first, -1),
                torch.cat([right[..., 1:], left[..., half - 1 :]], -1),
            )
    done = torch.cat([left, right], -1)[..., :columns]
    return done[:, :rows].contiguous(), done[:, rows:].contiguous()


_LIBRARY.define("rotate_columns(Tensor x, int sweeps) -> (Tensor, Tensor)")  # type: ignore[no-untyped-call]
_LIBRARY.impl("rotate_columns", _shapes, "Meta")  # type: ignore[no-untyped-call]
for _key in ("CPU", "CUDA"):
    _LIBRARY.impl("rotate_columns", _kernel, _key)  # type: ignore[no-untyped-call]


def rotate_columns(x: Tensor, sweeps: int) -> tuple[Tensor, Tensor]:
    """Rotates pairs of columns until all are orthogonal.

    Args:
        x: [B, M, N].
        sweeps: How often each pair is rotated.

    Returns:
        [B, M, N], the columns in any order; and [B, N, N], the orthogonal matrix by which `x` is
        multiplied for them.
    """
    made: tuple[Tensor, Tensor] = torch.ops.convoy.rotate_columns(x, sweeps)
    return made
