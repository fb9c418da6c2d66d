# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The data model of operation graphs, which all formats are read into and printed from.

Ports and attributes of a node have the names of cudnn-frontend's JSON (`X`, `pre_padding`). Data
types and enumerators are cuDNN's, in capitals and without prefix (`HALF` for CUDNN_DATA_HALF,
`RELU_FWD`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convoy.errors import ConvoyError

__all__ = ["DEFAULT_ALIGNMENT", "PEER_STATS", "GraphError", "Node", "OperationGraph", "Tensor"]

#: The default alignment in bytes of a tensor in cudnn-frontend and the cudnn dialect.
DEFAULT_ALIGNMENT = 16
#: The prefix of the ports of a batch normalization with the statistics of other devices.
PEER_STATS = "PEER_STATS_"


class GraphError(ConvoyError):
    """A graph cannot be read, or cannot be expressed in a format. `problems` lists all reasons."""

    def __init__(self, subject: str, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n  ".join([f"{subject}:", *problems]))


@dataclass(frozen=True, slots=True)
class Tensor:
    """CUDNN_BACKEND_TENSOR_DESCRIPTOR.

    Attributes:
        uid: The unique ID.
        dims: In elements.
        strides: In elements.
        data_type: cudnnDataType_t.
        virtual: Whether the tensor is an intermediate value.
        by_value: Whether the tensor is a scalar in host memory.
        alignment: In bytes.
        vector_count: The number of elements of a vector.
        vectorized_dimension: The dim of vectors, or -1.
        reordering: cudnnBackendTensorReordering_t.
        ragged_offset: The uid of the tensor of ragged offsets.
        value: The value of a by-value tensor, if known.
        name: The name, if any.
    """

    uid: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    data_type: str
    virtual: bool = False
    by_value: bool = False
    alignment: int = DEFAULT_ALIGNMENT
    vector_count: int = 1
    vectorized_dimension: int = -1
    reordering: str = "NONE"
    ragged_offset: int | None = None
    value: float | int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation.

    Attributes:
        tag: cudnn-frontend's name of its kind, e.g. `CONV_FPROP`.
        compute: The compute type, or an empty string.
        inputs: Port to uid.
        outputs: Port to uid.
        attributes: Key to value.
        beyond: Attributes of the backend that cudnn-frontend cannot express.
        name: The name, if any.
    """

    tag: str
    compute: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    attributes: Mapping[str, Any]
    beyond: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True)
class OperationGraph:
    """CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR.

    Attributes:
        name: The name.
        tensors: uid to tensor.
        nodes: The operations in topological order.
        dynamic_shape: CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED.
    """

    name: str
    tensors: Mapping[int, Tensor]
    nodes: tuple[Node, ...]
    dynamic_shape: bool = False

    def produced(self) -> set[int]:
        """The uids of tensors that operations write."""
        return {uid for node in self.nodes for uid in node.outputs.values()}

    def inputs(self) -> list[Tensor]:
        """The tensors that the graph reads from its caller, in the order of their uids."""
        produced = self.produced()
        return [tensor for uid, tensor in sorted(self.tensors.items()) if uid not in produced]

    def outputs(self) -> list[Tensor]:
        """The tensors that the graph writes for its caller, in the order of their uids."""
        produced = self.produced()
        return [
            tensor
            for uid, tensor in sorted(self.tensors.items())
            if uid in produced and not tensor.virtual
        ]
