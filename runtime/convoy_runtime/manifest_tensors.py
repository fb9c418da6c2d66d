# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The records of tensors: those of a program, and those of a cuDNN graph."""

# No `from __future__ import annotations`: `records` reads annotations.

from dataclasses import field
from math import prod

from .dtypes import DTYPES
from .json_object import COUNT, COUNTS, DTYPE, SHAPE, TEXT, choice
from .record_fields import OMITTED, about
from .strides import dense_order, memory_format, packed_strides
from .value_types import value_type

__all__ = ["GraphTensor", "TensorSpec"]


@value_type(frozen=True, slots=True)
class TensorSpec:
    """An input, output or weight of a program: a dense tensor, whose dims may be permuted in
    memory. Weights are packed row-major."""

    name: str = field(metadata=about("The name; unique in its list.", TEXT))
    shape: tuple[int, ...] = field(metadata=about("The sizes of its dims.", SHAPE))
    dtype: str = field(metadata=about("torch's name of the element type.", DTYPE))
    strides: tuple[int, ...] = field(
        default=(),
        metadata=about(
            "One stride per dim, in elements, as in PyTorch; absent if packed row-major.",
            COUNTS,
            OMITTED,
        ),
    )
    origin: str = field(
        default="",
        metadata=about(
            "Of a prepared weight: the SHA-256 of the ops that compute it and of the names of its "
            "weights.",
            TEXT,
            OMITTED,
        ),
    )

    @property
    def bytes(self) -> int:
        """The size of the buffer in bytes."""
        return prod(self.shape) * DTYPES[self.dtype].bytes

    @property
    def all_strides(self) -> tuple[int, ...]:
        """One stride per dim, also if packed row-major."""
        return self.strides or packed_strides(self.shape)

    @property
    def order(self) -> tuple[int, ...] | None:
        """The dims from the outermost to the innermost in memory; None if packed row-major."""
        return dense_order(self.shape, self.strides) if self.strides else None

    @property
    def stored(self) -> "TensorSpec":
        """The packed tensor in memory, with the dims in the order in memory."""
        order = self.order
        if order is None:
            return self
        return TensorSpec(self.name, tuple(self.shape[dim] for dim in order), self.dtype)

    def __str__(self) -> str:
        text = f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"
        return f"{text} {memory_format(self.shape, self.strides)}" if self.strides else text


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
