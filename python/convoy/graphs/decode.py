# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Decodes recorded descriptor calls to an OperationGraph. Anything unknown is an error."""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Mapping
from typing import Any

from convoy.graphs.kind import Kind
from convoy.graphs.kinds import is_backward, kind_of
from convoy.graphs.model import GraphError, Node, OperationGraph, Tensor
from convoy_runtime.attribute_types import DESCRIPTOR
from convoy_runtime.recorder import RecordedDescriptor, Recording, Setting

__all__ = ["backend_names", "decode", "settings_by_name"]

#: Type to the struct format of an element, for types that are not enums.
_FORMATS = {
    "boolean": "?",
    "int64": "q",
    "float32": "f",
    "float64": "d",
    "int32": "i",
    "character": "c",
    "fraction": "qq",
}
#: Redundant attributes: they follow from the lengths of others, or from the tensor.
_IMPLIED = {"convolution_spatial_dims", "resample_spatial_dims"}
#: Attributes of an operation graph. The handle is that of the process.
_OF_GRAPH = {
    "operationgraph_handle",
    "operationgraph_ops",
    "operationgraph_is_dynamic_shape_enabled",
}


@functools.cache
def backend_names() -> Mapping[str, Mapping[int, str]]:
    """The names of cuDNN's backend API from the compiler's descriptor table: category and number to
    name."""
    from convoy import _convoy

    names: dict[str, dict[int, str]] = {}
    for category, name, number in _convoy.backend_names():
        names.setdefault(category, {})[number] = name
    return names


def settings_by_name(descriptor: RecordedDescriptor) -> dict[str, Any]:
    """Decodes the attributes of a descriptor.

    Args:
        descriptor: The descriptor.

    Returns:
        Attribute name to value, or to a tuple of several: numbers, enumerators in capitals, or
        indices of descriptors.

    Raises:
        GraphError: The descriptor table lacks a number.
    """
    return {
        _name("attribute", number): _value(setting)
        for number, setting in descriptor.settings.items()
    }


def decode(
    recording: Recording, name: str, values: Mapping[int, float | int] | None = None
) -> OperationGraph:
    """Decodes the graph of a build function.

    Args:
        recording: The recorded calls.
        name: The name of the graph.
        values: uid to value of constants, which cuDNN does not get when the graph is built.

    Returns:
        The graph.

    Raises:
        GraphError: Parts of the graph are unknown; lists all of them.
    """
    descriptors = recording.descriptors
    root = descriptors[recording.result]
    if _name("descriptor", root.kind) != "operationgraph":
        raise GraphError(
            f"graph {name}",
            [
                (
                    "expected an operation graph, got a descriptor of kind "
                    f"{_name('descriptor', root.kind)}"
                )
            ],
        )
    tensors: dict[int, Tensor] = {}
    uids = {
        place: _uid(each)
        for place, each in enumerate(descriptors)
        if _name("descriptor", each.kind) == "tensor"
    }
    nodes: list[Node] = []
    problems: list[str] = []
    of_graph = settings_by_name(root)
    problems += [
        f"the graph has an unknown attribute, {key} = {value}"
        for key, value in of_graph.items()
        if key not in _OF_GRAPH
    ]
    for place in _tuple(of_graph["operationgraph_ops"]):
        operation = _name("descriptor", descriptors[place].kind)
        kind = kind_of(operation, settings_by_name(descriptors[place]))
        if kind is None:
            problems.append(f"{operation} is unknown")
            continue
        nodes.append(_node(kind, place, descriptors, uids, problems))
    for place, uid in uids.items():
        tensors[uid] = _tensor(
            settings_by_name(descriptors[place]), (values or {}).get(uid), uids, problems
        )
    if problems:
        raise GraphError(f"graph {name}", problems)
    dynamic = bool(of_graph.get("operationgraph_is_dynamic_shape_enabled", False))
    return OperationGraph(name, tensors, tuple(nodes), dynamic)


def _node(
    kind: Kind,
    place: int,
    descriptors: tuple[RecordedDescriptor, ...],
    uids: Mapping[int, int],
    problems: list[str],
) -> Node:
    settings = settings_by_name(descriptors[place])
    held = {
        _name("attribute", number)
        for number, each in descriptors[place].settings.items()
        if each.type == DESCRIPTOR
    }
    if kind.operator:
        settings |= settings_by_name(descriptors[settings.pop(kind.operator)])
    inputs, outputs, attributes, beyond = {}, {}, dict(kind.defaults), {}
    compute = ""
    for name, value in settings.items():
        if name in kind.inputs and (name not in kind.attributes or name in held):
            port = kind.inputs[name]
            if name == "operation_pointwise_xdesc" and is_backward(settings["pointwise_mode"]):
                port = "IN_1"
            inputs[port] = uids[value]
        elif name == kind.listed:
            inputs = {str(number): uids[each] for number, each in enumerate(_tuple(value))}
        elif name in kind.outputs:
            outputs[kind.outputs[name]] = uids[value]
        elif name == kind.compute:
            compute = value
        elif name in kind.attributes and name not in kind.chosen_by:
            attributes[kind.attributes[name]] = list(_tuple(value)) if _is_list(name) else value
        elif name in kind.fixed:
            if value != kind.fixed[name]:
                beyond[name] = value
        elif name not in _IMPLIED and name not in kind.chosen_by:
            problems.append(f"{kind.descriptor} has an unknown attribute, {name} = {value}")
    attributes |= {key: port in inputs or port in outputs for key, port in kind.present.items()}
    order = list(dict.fromkeys([*kind.inputs.values(), *inputs]))
    inputs = {port: inputs[port] for port in order if port in inputs}
    outputs = {port: outputs[port] for port in kind.outputs.values() if port in outputs}
    return Node(kind.tag, compute, inputs, outputs, attributes, beyond)


def _tensor(
    settings: dict[str, Any],
    number: float | int | None,
    uids: Mapping[int, int],
    problems: list[str],
) -> Tensor:
    known = {
        "tensor_unique_id": "uid",
        "tensor_dimensions": "dims",
        "tensor_strides": "strides",
        "tensor_data_type": "data_type",
        "tensor_is_virtual": "virtual",
        "tensor_is_by_value": "by_value",
        "tensor_byte_alignment": "alignment",
        "tensor_vector_count": "vector_count",
        "tensor_vectorized_dimension": "vectorized_dimension",
        "tensor_reordering_mode": "reordering",
    }
    fields: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "tensor_ragged_offset_desc":
            fields["ragged_offset"] = uids[value]
        elif name in known:
            fields[known[name]] = (
                _tuple(value) if name in ("tensor_dimensions", "tensor_strides") else value
            )
        else:
            problems.append(
                f"tensor {settings['tensor_unique_id']} has an unknown attribute, {name} = {value}"
            )
    return Tensor(name=f"t{settings['tensor_unique_id']}", value=number, **fields)


def _uid(descriptor: RecordedDescriptor) -> int:
    return int(settings_by_name(descriptor)["tensor_unique_id"])


def _is_list(name: str) -> bool:
    return name.endswith(
        ("_paddings", "_strides", "_dilations", "_window_dims", "_dequantize_block_size")
    )


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _name(category: str, number: int) -> str:
    try:
        return backend_names()[category][number]
    except KeyError:
        raise GraphError(
            "the descriptor table", [f"has no {category} of number {number}"]
        ) from None


def _value(setting: Setting) -> Any:
    """The value, or a tuple if there are several or the attribute is a list."""
    kind = _name("type", setting.type)
    if setting.type == DESCRIPTOR:
        values: tuple[Any, ...] = tuple(setting.data)
    elif kind in _FORMATS:
        form = _FORMATS[kind]
        flat = struct.unpack(f"<{form * setting.count}", bytes(setting.data))
        # A fraction is a numerator and a denominator; integers are numbers.
        values = (
            flat
            if len(form) == 1
            else tuple(
                n if d == 1 else f"{n}/{d}" for n, d in zip(flat[::2], flat[1::2], strict=True)
            )
        )
    elif kind in backend_names():
        numbers = struct.unpack(f"<{setting.count}i", bytes(setting.data))
        # INT8x32 keeps its small x.
        values = tuple(
            re.sub(r"(?<=\d)X(?=\d)", "x", _name(kind, number).upper()) for number in numbers
        )
    else:
        raise GraphError(
            "the recording", [f"has elements of type {kind}, which are not known here"]
        )
    return values[0] if setting.count == 1 else values
