# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The record of a graph's tensor: part of a graph's record."""

# No `from __future__ import annotations`: `records` reads annotations.

from dataclasses import field
from math import prod

from .dtypes import DTYPES
from .json_object import COUNT, COUNTS, DTYPE, SHAPE, choice
from .records import about
from .value_types import value_type

__all__ = ["GraphTensor"]


@value_type(frozen=True, slots=True)
class GraphTensor:
    """An operand or result of a graph."""

    uid: int = field(metadata=about("cuDNN's unique ID.", COUNT))
    role: str = field(metadata=about("Operand or result.", choice("input", "output")))
    shape: tuple[int, ...] = field(metadata=about("The logical shape.", SHAPE))
    strides: tuple[int, ...] = field(
        metadata=about("One stride per dim, in elements. The tensor is below 2**63 bytes.", COUNTS)
    )
    dtype: str = field(metadata=about("torch's name of the element type.", DTYPE))

    @property
    def bytes(self) -> int:
        """Bytes from the first element to the end of the last one."""
        elements = 1 + sum(
            (size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)
        )
        return elements * DTYPES[self.dtype].bytes if prod(self.shape) else 0
