"""An operation graph as plain data, in the terms of cudnn-frontend: what every form of a graph is
read into and printed from.

Ports and attributes of a node have the names of cudnn-frontend's JSON (`X`, `pre_padding`); data
types and enumerators are cuDNN's, in capitals and without prefix (`HALF` for CUDNN_DATA_HALF,
`RELU_FWD`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convoy.errors import ConvoyError

__all__ = ["DEFAULT_ALIGNMENT", "GraphError", "Node", "OperationGraph", "Tensor"]

#: Bytes; of a tensor whose alignment nobody chose, in cudnn-frontend and in the cudnn dialect.
DEFAULT_ALIGNMENT = 16


class GraphError(ConvoyError):
    """A graph cannot be read or cannot be said in the form asked for. `problems` lists every
    reason."""

    def __init__(self, subject: str, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n  ".join([f"{subject}:", *problems]))


@dataclass(frozen=True, slots=True)
class Tensor:
    """CUDNN_BACKEND_TENSOR_DESCRIPTOR. `dims` and `strides` are in elements, `alignment` in bytes;
    `ragged_offset` is the uid of another tensor; `value` is what a by-value tensor holds, where the
    form it was read from says it."""

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
    """An operation. `tag` is cudnn-frontend's name of its kind (`CONV_FPROP`), `inputs` and
    `outputs` give the uid at each port, `compute` is the type of its arithmetic (empty where it has
    none), `beyond` what cudnn-frontend has no word for, by attribute of the backend."""

    tag: str
    compute: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    attributes: Mapping[str, Any]
    beyond: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True)
class OperationGraph:
    """CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: tensors by uid, and operations in an order in which
    each comes after what it reads."""

    name: str
    tensors: Mapping[int, Tensor]
    nodes: tuple[Node, ...]

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
