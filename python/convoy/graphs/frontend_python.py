"""An OperationGraph as a Python program for cudnn-frontend 1.32
(`pip install nvidia-cudnn-frontend`), to run or to put into a bug report.

Graphs that `cudnn.pygraph`'s methods can say become calls of those; others, where the JSON says
what the methods cannot, load the JSON. Every name from outside goes into the program as a Python
literal, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from convoy.graphs.frontend_json import (
    compute_type_of,
    graph_json_text,
    intermediate_type_of,
    io_type_of,
    unsayable,
)
from convoy.graphs.kinds import BY_TAG
from convoy.graphs.model import DEFAULT_ALIGNMENT, GraphError, Node, OperationGraph, Tensor

__all__ = ["graph_python"]

#: The keys of a pointwise node and the parameters of the methods that take them, by method.
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
"""A cuDNN operation graph, written by convoy inspect. It needs nvidia-cudnn-frontend.

On a machine without a GPU, name a file with device properties as JSON as the first argument;
plans are not asked for there.
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
#: Attention asks for the architecture beside the properties, and build_operation_graph leaves it to
#: planning.
_ATTENTION = {
    "as the first argument;": "as the first argument, and 90 for sm_90 as the second;",
    "(file.read())\n": '(file.read())\n        options["sm_version"] = int(sys.argv[2])\n',
    "    graph.build_operation_graph()\n": "    graph.build_operation_graph()\n"
    "    graph.key()  # this says the graph to cuDNN\n",
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
        print(count, "execution plans, of which one at least is supported")
"""


def graph_python(graph: OperationGraph) -> str:
    """The program. Raises GraphError for what neither cudnn-frontend's Python methods nor its JSON
    can say."""
    problems = unsayable(graph)
    by_calls = list(_beyond_calls(graph))
    by_json = [flaw for node in graph.nodes if (flaw := BY_TAG[node.tag].json_flaw)]
    if problems or (by_calls and by_json):
        raise GraphError(
            f"graph {graph.name} cannot be said in cudnn-frontend's terms (--as dot shows it)",
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
    """The numbers of tensors by value, which `graph.execute` wants in host memory: the methods have
    no word for them."""
    values = {tensor.uid: tensor.value for tensor in graph.inputs() if tensor.value is not None}
    if not values:
        return ""
    said = ", ".join(f"{uid}: {_literal(value)}" for uid, value in values.items())
    head = "\n#: What to execute the graph with at the tensors by value, by uid.\n"
    return f"{head}VALUES = {{{said}}}\n"


def _beyond_calls(graph: OperationGraph) -> Iterator[str]:
    """What of a graph the methods of cudnn.pygraph have no parameter for."""
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
    """The graph's JSON as a constant of the program: a literal a line, so that nothing in it can
    end one."""
    yield "# As JSON, because the methods of cudnn.pygraph have no word for this:"
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
    yield "    **options,"
    yield ")"
    offsets = {tensor.ragged_offset for tensor in graph.tensors.values()}
    # A tensor's ragged offset is declared before it.
    for tensor in sorted(graph.inputs(), key=lambda each: (each.uid not in offsets, each.uid)):
        yield _declaration(tensor)
    for place, node in enumerate(graph.nodes):
        yield from _call(graph, node, place)
    yield "return graph"


def _declaration(tensor: Tensor) -> str:
    said = {
        "name": repr(tensor.name),
        "uid": tensor.uid,
        "dim": list(tensor.dims),
        "stride": list(tensor.strides),
    }
    said["data_type"] = f"cudnn.data_type.{tensor.data_type}"
    if tensor.by_value:
        said["is_pass_by_value"] = True
    if tensor.reordering != "NONE":
        said["reordering_type"] = f"cudnn.tensor_reordering.{tensor.reordering}"
    if tensor.ragged_offset is not None:
        said["ragged_offset"] = f"t{tensor.ragged_offset}"
    return (
        f"t{tensor.uid} = "
        f"graph.tensor({', '.join(f'{key}={value}' for key, value in said.items())})"
    )


def _call(graph: OperationGraph, node: Node, place: int) -> Iterator[str]:
    method, parameters = _method(node)
    kind = BY_TAG[node.tag]
    names = _arguments(node)
    if kind.listed:
        said = [f"inputs=[{', '.join(f't{uid}' for uid in node.inputs.values())}]"]
    else:
        said = [
            f"{names[port]}=t{uid}" if names[port] else f"t{uid}"
            for port, uid in node.inputs.items()
        ]
    for key, parameter in parameters.items():
        value = node.attributes.get(key)
        if value is not None:
            said.append(
                f"{parameter}=cudnn.{kind.enums[key]}.{value}"
                if key in kind.enums
                else f"{parameter}={_literal(value)}"
            )
    said += [f"{flag}={port in node.outputs}" for flag, port in kind.flags.items()]
    if node.tag == "SDPA":
        said.append("implementation=cudnn.attention_implementation.UNIFIED")
    if node.compute and kind.method_compute:
        said.append(f"compute_data_type=cudnn.data_type.{node.compute}")
    said.append(f"name={node.name or f'{node.tag.lower()}.{place}'!r}")
    results = [
        f"t{node.outputs[port]}" if port in node.outputs else "_"
        for port in kind.results or node.outputs
    ]
    yield f"{', '.join(results)} = graph.{method}({', '.join(said)})"
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
    """The method of cudnn.pygraph for an operation, or nothing, and its parameters by key."""
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
    """The parameter at each port; empty for one that is given by place."""
    return (
        {"IN_0": "", "IN_1": "", "IN_2": ""}
        if node.tag == "POINTWISE"
        else dict(BY_TAG[node.tag].arguments)
    )


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)
