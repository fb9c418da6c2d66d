# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints an OperationGraph as a Python program for cudnn-frontend 1.32
(`pip install nvidia-cudnn-frontend`), to run or for a bug report.

The program calls the methods of `cudnn.pygraph`, or loads the JSON of a graph that the methods
cannot express. Names from the graph are only in Python literals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from convoy.graphs.frontend_json import (
    compute_type_of,
    graph_json_text,
    inexpressible,
    intermediate_type_of,
    io_type_of,
)
from convoy.graphs.kinds import BY_TAG
from convoy.graphs.model import DEFAULT_ALIGNMENT, GraphError, Node, OperationGraph, Tensor

__all__ = ["graph_python"]

#: Method to the keys of a pointwise node and the parameters for them.
_SCALARS = {
    "relu": {
        "relu_lower_clip": "lower_clip",
        "relu_upper_clip": "upper_clip",
        "relu_lower_clip_slope": "negative_slope",
    },
    "relu_backward": {
        "relu_lower_clip": "lower_clip",
        "relu_upper_clip": "upper_clip",
        "relu_lower_clip_slope": "negative_slope",
    },
    "swish": {"swish_beta": "swish_beta"},
    "swish_backward": {"swish_beta": "swish_beta"},
    "gen_index": {"axis": "axis"},
}
_HEAD = '''\
"""A cuDNN operation graph, written by convoy inspect. It requires nvidia-cudnn-frontend.

On a machine without a GPU, pass a JSON file of device properties as the first argument;
no execution plans are created then.
"""

import sys

import cudnn
'''
_BUILD = """

def build(**options):
"""
_LOAD = """    graph = cudnn.pygraph(**options)
    graph.deserialize(GRAPH)
    return graph
"""
#: Attention also requires the architecture, and is built by planning and not by
#: build_operation_graph.
_ATTENTION = {
    "as the first argument;": "as the first argument, and e.g. 90 for sm_90 as the second;",
    "(file.read())\n": '(file.read())\n        options["sm_version"] = int(sys.argv[2])\n',
    "    graph.build_operation_graph()\n": "    graph.build_operation_graph()\n"
    "    graph.key()  # passes the graph to cuDNN\n",
}
_TAIL = """

if __name__ == "__main__":
    options = {}
    if len(sys.argv) > 1:
        with open(sys.argv[1]) as file:
            options["device_property"] = cudnn.create_device_properties(file.read())
    graph = build(**options)
    graph.build_operation_graph()
    print("cuDNN", cudnn.backend_version_string(), "accepts the operation graph")
    if not options:
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        count = graph.get_execution_plan_count()
        print(count, "execution plans, at least one of which is supported")
"""


def graph_python(graph: OperationGraph) -> str:
    """The program. Raises GraphError if neither the methods nor the JSON of cudnn-frontend can
    express the graph."""
    problems = inexpressible(graph)
    by_calls = list(_beyond_calls(graph))
    by_json = [flaw for node in graph.nodes if (flaw := BY_TAG[node.tag].json_flaw)]
    if problems or (by_calls and by_json):
        raise GraphError(
            f"cudnn-frontend cannot express graph {graph.name} (--as dot shows it)",
            problems or by_calls + by_json,
        )
    head, tail = _HEAD, _TAIL
    if any(node.tag == "SDPA" for node in graph.nodes):
        for text, other in _ATTENTION.items():
            head, tail = head.replace(text, other), tail.replace(text, other)
    if by_calls:
        return (
            head + "\n" + "\n".join(_json_literal(graph, by_calls)) + "\n" + _BUILD + _LOAD + tail
        )
    return (
        head + _values(graph) + _BUILD + "".join(f"    {line}\n" for line in _calls(graph)) + tail
    )


def _values(graph: OperationGraph) -> str:
    """The values of by-value tensors, which `graph.execute` expects in host memory, because the
    methods have no parameter for them."""
    values = {tensor.uid: tensor.value for tensor in graph.inputs() if tensor.value is not None}
    if not values:
        return ""
    items = ", ".join(f"{uid}: {_literal(value)}" for uid, value in values.items())
    head = "\n#: uid to value of by-value tensors, for graph.execute.\n"
    return f"{head}VALUES = {{{items}}}\n"


def _beyond_calls(graph: OperationGraph) -> Iterator[str]:
    """The parts of a graph that the methods of cudnn.pygraph cannot express."""
    for tensor in graph.tensors.values():
        if tensor.alignment != DEFAULT_ALIGNMENT:
            yield f"tensor {tensor.uid} has the alignment {tensor.alignment}"
        if tensor.ragged_offset is not None and tensor.uid in graph.produced():
            yield f"tensor {tensor.uid} is a result with a ragged offset"
    for node in graph.nodes:
        method, parameters = _method(node)
        if not method:
            yield f"{node.tag} {node.attributes.get('mode', '')}".rstrip() + " has no method"
            continue
        if BY_TAG[node.tag].method_flaw:
            yield BY_TAG[node.tag].method_flaw
        if not BY_TAG[node.tag].listed and any(
            port not in _arguments(node) for port in node.inputs
        ):
            yield f"{node.tag} has the operands {', '.join(node.inputs)}"
        for key, value in node.attributes.items():
            if (
                value is not None
                and key not in parameters
                and key != "mode"
                and value != BY_TAG[node.tag].implied.get(key)
            ):
                yield f"{node.tag} has {key} = {value}"


def _json_literal(graph: OperationGraph, reasons: list[str]) -> Iterator[str]:
    """The graph's JSON as a constant of the program, with a literal per line so that quotes are
    escaped."""
    yield "# As JSON, because the methods of cudnn.pygraph cannot express this:"
    yield from (f"#   {reason}" for reason in reasons)
    yield "GRAPH = ("
    yield from (f"    {line!r}" for line in graph_json_text(graph).splitlines(keepends=True))
    yield ")"


def _calls(graph: OperationGraph) -> Iterator[str]:
    types = {
        "io": io_type_of(graph),
        "intermediate": intermediate_type_of(graph),
        "compute": compute_type_of(graph),
    }
    yield "graph = cudnn.pygraph("
    yield f"    name={graph.name!r},"
    yield from (
        f"    {role}_data_type=cudnn.data_type.{data_type}," for role, data_type in types.items()
    )
    if graph.dynamic_shape:
        yield "    is_dynamic_shape_enabled=True,"
    yield "    **options,"
    yield ")"
    offsets = {tensor.ragged_offset for tensor in graph.tensors.values()}
    # Ragged offsets are declared before the tensors that use them.
    for tensor in sorted(graph.inputs(), key=lambda each: (each.uid not in offsets, each.uid)):
        yield _declaration(tensor)
    for place, node in enumerate(graph.nodes):
        yield from _call(graph, node, place)
    yield "return graph"


def _declaration(tensor: Tensor) -> str:
    arguments = {
        "name": repr(tensor.name),
        "uid": tensor.uid,
        "dim": list(tensor.dims),
        "stride": list(tensor.strides),
    }
    arguments["data_type"] = f"cudnn.data_type.{tensor.data_type}"
    if tensor.by_value:
        arguments["is_pass_by_value"] = True
    if tensor.reordering != "NONE":
        arguments["reordering_type"] = f"cudnn.tensor_reordering.{tensor.reordering}"
    if tensor.ragged_offset is not None:
        arguments["ragged_offset"] = f"t{tensor.ragged_offset}"
    return (
        f"t{tensor.uid} = "
        f"graph.tensor({', '.join(f'{key}={value}' for key, value in arguments.items())})"
    )


def _call(graph: OperationGraph, node: Node, place: int) -> Iterator[str]:
    method, parameters = _method(node)
    kind = BY_TAG[node.tag]
    names = _arguments(node)
    if kind.listed:
        arguments = [f"inputs=[{', '.join(f't{uid}' for uid in node.inputs.values())}]"]
    else:
        arguments = [
            f"{names[port]}=t{uid}" if names[port] else f"t{uid}"
            for port, uid in node.inputs.items()
        ]
    for key, parameter in parameters.items():
        value = node.attributes.get(key)
        if value is not None:
            arguments.append(
                f"{parameter}=cudnn.{kind.enums[key]}.{value}"
                if key in kind.enums
                else f"{parameter}={_literal(value)}"
            )
    arguments += [f"{flag}={port in node.outputs}" for flag, port in kind.flags.items()]
    if node.tag == "SDPA":
        arguments.append("implementation=cudnn.attention_implementation.UNIFIED")
    if node.compute and kind.method_compute:
        arguments.append(f"compute_data_type=cudnn.data_type.{node.compute}")
    arguments.append(f"name={node.name or f'{node.tag.lower()}.{place}'!r}")
    results = [
        f"t{node.outputs[port]}" if port in node.outputs else "_"
        for port in kind.results or node.outputs
    ]
    yield f"{', '.join(results)} = graph.{method}({', '.join(arguments)})"
    for uid in node.outputs.values():
        tensor = graph.tensors[uid]
        setters = [
            f"set_uid({uid})",
            f"set_name({tensor.name!r})",
            f"set_dim({list(tensor.dims)})",
            f"set_stride({list(tensor.strides)})",
        ]
        setters.append(f"set_data_type(cudnn.data_type.{tensor.data_type})")
        setters += ["set_output(True)"] * (not tensor.virtual)
        setters += [f"set_reordering_type(cudnn.tensor_reordering.{tensor.reordering})"] * (
            tensor.reordering != "NONE"
        )
        yield f"t{uid}.{'.'.join(setters)}"


def _method(node: Node) -> tuple[str, dict[str, str]]:
    """The method of cudnn.pygraph for an operation, or an empty string, and key to parameter."""
    if node.tag == "POINTWISE":
        mode = node.attributes["mode"]
        if mode == "ATAN2":
            return "", {}
        method = mode.lower().removesuffix("_fwd")
        if method.endswith("_bwd"):
            method = method.removesuffix("_bwd") + "_backward"
        return method, _SCALARS.get(method, {})
    kind = BY_TAG[node.tag]
    keys = [key for key in node.attributes if key not in kind.implied]
    return kind.method, {key: kind.parameters.get(key, key) for key in keys}


def _arguments(node: Node) -> dict[str, str]:
    """Port to parameter; empty for a positional one."""
    return (
        {"IN_0": "", "IN_1": "", "IN_2": ""}
        if node.tag == "POINTWISE"
        else dict(BY_TAG[node.tag].arguments)
    )


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)
