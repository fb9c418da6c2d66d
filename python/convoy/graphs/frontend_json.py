# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints an OperationGraph as the JSON, version 2.0, of cudnn-frontend 1.32 (`str(graph)` and
`graph.deserialize(text)`)."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

from convoy.graphs.kinds import BY_TAG
from convoy.graphs.model import DEFAULT_ALIGNMENT, GraphError, Node, OperationGraph, Tensor

__all__ = [
    "FLOAT_SCALARS",
    "JSON_VERSION",
    "SCALAR_TYPES",
    "compute_type_of",
    "graph_json",
    "graph_json_text",
    "inexpressible",
    "intermediate_type_of",
    "io_type_of",
    "scalar_json",
]

JSON_VERSION = "2.0"
#: The types of by-value tensors in cudnn-frontend, in the order of its variant; and those whose
#: values are written as floats.
SCALAR_TYPES = ("INT64", "INT32", "HALF", "FLOAT", "DOUBLE", "BFLOAT16")
FLOAT_SCALARS = frozenset({"HALF", "FLOAT", "BFLOAT16"})


def inexpressible(graph: OperationGraph) -> list[str]:
    """The parts of a graph that cudnn-frontend cannot express, one line each."""
    problems = []
    for place, node in enumerate(graph.nodes):
        what = f"operation {place} ({node.tag})"
        problems += [
            f"{what}: {name} = {value}; it always sets {BY_TAG[node.tag].fixed.get(name)}"
            for name, value in node.beyond.items()
        ]
        # Scalars are floats in cudnn-frontend, and doubles in the backend.
        problems += [
            f"{what}: {key} = {value}, which is not exact in float"
            for key, value in node.attributes.items()
            if key in BY_TAG[node.tag].floats and value is not None and not _is_float(value)
        ]
        problems += [
            f"{what}: {key} = {value}, a fraction"
            for key, value in node.attributes.items()
            if _has_fraction(value)
        ]
        kind = BY_TAG[node.tag]
        if kind.foreign:
            problems.append(f"{what}: {kind.foreign}")
        if kind.computes and node.compute not in ("", kind.computes):
            problems.append(f"{what}: compute type {node.compute}; it always sets {kind.computes}")
        problems += [
            f"{what}: no tensor at {port}, which it requires"
            for port in kind.needed
            if port not in node.inputs
        ]
        problems += [
            f"{what}: {port} is a result, and it requires a virtual tensor"
            for port in kind.virtual
            if port in node.outputs and not graph.tensors[node.outputs[port]].virtual
        ]
        if _of_graph(node) and node.compute != compute_type_of(graph):
            problems.append(
                f"{what}: compute type {node.compute}; it computes in the type of the "
                f"graph, {compute_type_of(graph)}"
            )
    for tensor in graph.tensors.values():
        if tensor.vector_count != 1 or tensor.vectorized_dimension != -1:
            problems.append(
                f"tensor {tensor.uid}: {tensor.vector_count} elements of dim "
                f"{tensor.vectorized_dimension} as a vector"
            )
        if (
            tensor.value is not None
            and not math.isfinite(tensor.value)
            and tensor.data_type == "DOUBLE"
        ):
            problems.append(
                f"tensor {tensor.uid}: the value {tensor.value}, which JSON cannot express"
            )
    return problems


def graph_json(graph: OperationGraph) -> dict[str, Any]:
    """The JSON document. Raises GraphError if cudnn-frontend cannot express the graph."""
    if problems := inexpressible(graph):
        raise GraphError(
            f"cudnn-frontend cannot express graph {graph.name} (--as dot shows it)",
            problems,
        )
    return {
        "context": {
            "compute_data_type": compute_type_of(graph),
            "intermediate_data_type": intermediate_type_of(graph),
            "io_data_type": io_type_of(graph),
            "is_dynamic_shape_enabled": graph.dynamic_shape,
            "is_override_shape_enabled": False,
            "name": graph.name,
            "sm_count": -1,
        },
        "gid": 0,
        "json_version": JSON_VERSION,
        "nodes": [
            _node(node, place, compute_type_of(graph)) for place, node in enumerate(graph.nodes)
        ],
        "tensors": [_tensor(tensor) for _, tensor in sorted(graph.tensors.items())],
    }


def graph_json_text(graph: OperationGraph) -> str:
    """The JSON document as indented text. Raises GraphError."""
    return json.dumps(graph_json(graph), indent=2, allow_nan=False)


def compute_type_of(graph: OperationGraph) -> str:
    """The compute type of the graph: that of operations without a compute type in the JSON, else of
    the first operation."""
    types = [
        node.compute
        for node in sorted(graph.nodes, key=lambda node: not _of_graph(node))
        if node.compute
    ]
    return types[0] if types else "FLOAT"


def intermediate_type_of(graph: OperationGraph) -> str:
    """The type of the first virtual tensor."""
    return next((tensor.data_type for tensor in graph.tensors.values() if tensor.virtual), "FLOAT")


def io_type_of(graph: OperationGraph) -> str:
    """The type of the first tensor that is not virtual."""
    return next(
        (tensor.data_type for tensor in graph.tensors.values() if not tensor.virtual), "FLOAT"
    )


def _of_graph(node: Node) -> bool:
    """Whether an operation uses the compute type of the graph in cudnn-frontend."""
    return bool(BY_TAG[node.tag].compute) and not BY_TAG[node.tag].json_compute


def _node(node: Node, place: int, graph_type: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "tag": node.tag,
        "name": node.name or f"{node.tag.lower()}.{place}",
        "inputs": dict(node.inputs),
        "outputs": dict(node.outputs),
    }
    floats = BY_TAG[node.tag].floats
    if BY_TAG[node.tag].json_compute:
        # An operation without a compute type has that of the graph.
        result["compute_data_type"] = node.compute or BY_TAG[node.tag].computes or graph_type
    result |= {**dict.fromkeys(BY_TAG[node.tag].hints), **BY_TAG[node.tag].only}
    return result | {
        key: _float_text(value) if key in floats else value
        for key, value in node.attributes.items()
    }


def _tensor(tensor: Tensor) -> dict[str, Any]:
    result: dict[str, Any] = {
        "data_type": tensor.data_type,
        "dim": list(tensor.dims),
        "is_pass_by_value": tensor.by_value,
        "is_virtual": tensor.virtual,
        "name": tensor.name,
        "pass_by_value": None
        if tensor.value is None
        else scalar_json(tensor.data_type, tensor.value),
        "reordering_type": tensor.reordering,
        "stride": list(tensor.strides),
        "uid": tensor.uid,
    }
    if tensor.ragged_offset is not None:
        result["ragged_offset_uid"] = tensor.ragged_offset
    if tensor.alignment != DEFAULT_ALIGNMENT:
        result["alignment"] = tensor.alignment
    return result


def scalar_json(data_type: str, value: float | int) -> dict[str, Any]:
    """The value of a by-value tensor: the index of its type in cudnn-frontend's variant, and the
    number, where floats are eight hexadecimal digits."""
    return {
        "index": SCALAR_TYPES.index(data_type),
        "value": _float_text(value) if data_type in FLOAT_SCALARS else value,
    }


def _is_float(value: float) -> bool:
    try:
        return bool(struct.unpack(">f", struct.pack(">f", value))[0] == value)
    except OverflowError:
        return False


def _float_text(value: float | None) -> str | None:
    return None if value is None else struct.pack(">f", value).hex().upper()


def _has_fraction(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, str) and "/" in each for each in value)
