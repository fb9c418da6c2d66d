# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Causal masks among the constants of a program.

The compiler does not know the values of a constant, so a causal mask becomes a comparison of
indices, which the compiler recognizes. It also takes no memory."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from convoy.frontend._emitter import Emitter

__all__ = ["CausalMask"]

aten = torch.ops.aten


@dataclass(frozen=True)
class CausalMask:
    """A matrix, or a batch of equal ones, with one value up to the diagonal and another above it,
    and below a window.

    Attributes:
        shape: The shape; its last two dims are equal.
        dtype: The dtype, bool or a float.
        kept: The value where the column is at most the row, and less than `window` before it.
        hidden: The value elsewhere.
        window: The number of columns that a row sees, or None for all up to its own.
    """

    shape: torch.Size
    dtype: torch.dtype
    kept: float | bool
    hidden: float | bool
    window: int | None = None

    @classmethod
    def of(cls, value: torch.Tensor) -> CausalMask | None:
        """The mask that a constant is, or None. A float is zero where it keeps."""
        if value.ndim < 2 or value.shape[-1] != value.shape[-2] or value.shape[-1] < 2:
            return None
        if not (value.dtype == torch.bool or value.is_floating_point()):
            return None
        first = value.reshape(-1, *value.shape[-2:])[0]
        kept, hidden = first[0, 0], first[0, 1]
        window = int((first[:, 0] == kept).sum())
        seen = torch.ones_like(first, dtype=torch.bool).tril().triu(1 - window)
        if value.is_floating_point() and (bool(kept != 0) or bool(kept.signbit())):
            return None
        if not bool((value == torch.where(seen, kept, hidden)).all()) or bool(kept == hidden):
            return None
        bound = window if window < len(first) else None
        return cls(value.shape, value.dtype, kept.item(), hidden.item(), bound)

    def create(self, graph: torch.fx.Graph, node: torch.fx.Node) -> torch.fx.Node:
        """Creates nodes that compute the mask, with the location of `node`, at the graph's
        insertion point. Returns the last one."""
        size, rank = self.shape[-1], len(self.shape)

        call = Emitter(graph, node)
        indices = call(aten.arange.default, size, device=torch.device("cpu"), pin_memory=False)
        rows = call(aten.view.default, indices, [1] * (rank - 2) + [size, 1])
        columns = call(aten.view.default, indices, [1] * (rank - 1) + [size])
        is_bool = self.dtype == torch.bool
        is_kept = bool(self.kept) or not is_bool
        mask = call(aten.ge.Tensor if is_kept else aten.lt.Tensor, rows, columns)
        if self.window is not None:
            ends = call(aten.add.Tensor, columns, self.window)
            inside = call(aten.gt.Tensor if is_kept else aten.le.Tensor, ends, rows)
            both = aten.bitwise_and.Tensor if is_kept else aten.bitwise_or.Tensor
            mask = call(both, mask, inside)
        if not is_bool:
            kept, hidden = (
                call(
                    aten.full.default,
                    [1] * rank,
                    number,
                    dtype=self.dtype,
                    device=torch.device("cpu"),
                    pin_memory=False,
                )
                for number in (self.kept, self.hidden)
            )
            mask = call(aten.where.self, mask, kept, hidden)
        if mask.meta["val"].shape == self.shape:
            return mask
        return call(aten.expand.default, mask, list(self.shape))
