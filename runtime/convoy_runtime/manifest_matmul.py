# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The record of a matrix product that cuBLASLt can compute: part of a graph's record."""

# No `from __future__ import annotations`: `records` reads annotations.

from collections.abc import Sequence
from dataclasses import field

from .json_object import COUNT, choice
from .manifest_tensors import GraphTensor
from .record_fields import Presence, about
from .strides import packed_strides
from .value_types import value_type

__all__ = ["Matmul"]

#: An absent number is None, as is null.
_NUMBER_OR_NULL = Presence("no", null=True)
_FACTORS = ("float16", "bfloat16", "float32")


@value_type(frozen=True, slots=True)
class Matmul:
    """A graph as one matrix product: `activation(left * right + residual + bias)`. Its tensors are
    packed and have a batch dim, rows and columns. A factor with a batch of 1 is used for the whole
    batch."""

    left: int = field(metadata=about("The left factor, an index into `Graph.tensors`.", COUNT))
    right: int = field(metadata=about("The right factor.", COUNT))
    activation: str = field(
        metadata=about(
            "The last operation. `gelu_tanh` is the form of GELU with tanh.",
            choice("none", "relu", "gelu_tanh"),
        )
    )
    bias: int | None = field(
        default=None, metadata=about("A row that is added to each row.", COUNT, _NUMBER_OR_NULL)
    )
    residual: int | None = field(
        default=None,
        metadata=about("A summand of the result's shape.", COUNT, _NUMBER_OR_NULL),
    )

    def sizes(self, tensors: Sequence[GraphTensor]) -> tuple[int, int, int, int]:
        """Returns the batch, rows, depth and columns of the product of a graph with `tensors`: the
        left matrices are rows x depth, the right ones depth x columns."""
        batch, rows, columns = tensors[-1].shape
        return batch, rows, tensors[self.left].shape[2], columns

    def problem(self, tensors: Sequence[GraphTensor]) -> str | None:
        """Returns what is wrong with the product for a graph with `tensors`; None if nothing is."""
        operands = [self.left, self.right]
        operands += [each for each in (self.bias, self.residual) if each is not None]
        inputs = [place for place, tensor in enumerate(tensors) if tensor.role == "input"]
        if len(tensors) - len(inputs) != 1 or tensors[-1].role != "output":
            return "expected a graph with one result"
        if sorted(set(operands)) != inputs:
            return f"expected all operands of the graph, {inputs}, got {operands}"
        for place, tensor in enumerate(tensors):
            if len(tensor.shape) != 3 or 0 in tensor.shape or not _is_packed(tensor):
                return (
                    f"expected packed matrices with a batch dim, got tensor {place} of shape "
                    f"{list(tensor.shape)} with strides {list(tensor.strides)}"
                )
        return self._mismatch(tensors)

    def _mismatch(self, tensors: Sequence[GraphTensor]) -> str | None:
        """Returns which shape or type differs from that of the product, or None."""
        batch, rows, depth, columns = self.sizes(tensors)
        result, factor = tensors[-1].dtype, tensors[self.left].dtype
        if factor not in _FACTORS or result not in (factor, "float32"):
            return f"expected factors and result of floats, got {factor} and {result}"
        for place, matrix, batches, dtype in (
            (self.left, [rows, depth], (1, batch), factor),
            (self.right, [depth, columns], (1, batch), factor),
            (self.bias, [1, columns], (1,), result),
            (self.residual, [rows, columns], (batch,), result),
        ):
            if place is None:
                continue
            tensor = tensors[place]
            if list(tensor.shape[1:]) != matrix or tensor.shape[0] not in batches:
                return (
                    f"expected tensor {place} of shape {[batches[-1], *matrix]}, got "
                    f"{list(tensor.shape)}"
                )
            if tensor.dtype != dtype:
                return f"expected tensor {place} of {dtype}, got {tensor.dtype}"
        return None


def _is_packed(tensor: GraphTensor) -> bool:
    """Whether a tensor is packed row-major. Dims of size 1 may have any stride."""
    return all(
        size == 1 or stride == packed
        for size, stride, packed in zip(
            tensor.shape, tensor.strides, packed_strides(tensor.shape), strict=True
        )
    )
