"""An OperationGraph as text of the `cudnn` dialect. The compiler's own parser and verifiers have the last word on it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from convoy.graphs.kinds import is_backward
from convoy.graphs.model import DEFAULT_ALIGNMENT, GraphError, Node, OperationGraph, Tensor

__all__ = ["graph_mlir"]

_TYPES = {
    "DOUBLE": "f64", "FLOAT": "f32", "HALF": "f16", "BFLOAT16": "bf16", "FP8_E4M3": "f8E4M3FN", "FP8_E5M2": "f8E5M2",
    "INT64": "i64", "INT32": "i32", "INT8": "i8", "UINT8": "ui8", "BOOLEAN": "i1",
}  # fmt: skip
_CHANNELS_LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}
_CONVOLUTIONS = {"CONV_FPROP": "", "CONV_DGRAD": "mode = dgrad ", "CONV_WGRAD": "mode = wgrad "}
_POINTWISE_WORDS = {
    "relu_lower_clip": "lower_clip",
    "relu_upper_clip": "upper_clip",
    "relu_lower_clip_slope": "lower_clip_slope",
    "elu_alpha": "elu_alpha",
    "softplus_beta": "softplus_beta",
    "swish_beta": "swish_beta",
    "axis": "axis",
}


def graph_mlir(graph: OperationGraph) -> str:
    """A `cudnn.graph`: tensors that nobody writes are its arguments, written ones that are not virtual its results, in the order of uids.

    A comment says which uid and name each had, because the compiler numbers tensors anew. Raises GraphError for what the dialect lacks.
    """
    problems: list[str] = []
    inputs, outputs = graph.inputs(), graph.outputs()
    problems += [f"tensor {each.uid} is virtual, and no operation writes it" for each in inputs if each.virtual]
    if not outputs:
        problems.append("no operation writes a tensor that is not virtual")
    types = {uid: _type(tensor, problems) for uid, tensor in graph.tensors.items()}
    lines = [_comment(f"%t{tensor.uid}", tensor) for tensor in [*inputs, *outputs]]
    arguments = ", ".join(f"%t{tensor.uid}: {types[tensor.uid]}" for tensor in inputs)
    results = ", ".join(types[tensor.uid] for tensor in outputs)
    lines.append(f"cudnn.graph @{_quoted(graph.name)}({arguments}) -> ({results}) {{")
    lines += [f"  {_operation(node, types, problems)}" for node in graph.nodes]
    lines += [f"  cudnn.return {', '.join(f'%t{tensor.uid}' for tensor in outputs)} : {results}", "}"]
    if problems:
        raise GraphError(f"graph {graph.name} cannot be said in cudnn IR", problems)
    return "\n".join(lines) + "\n"


def _type(tensor: Tensor, problems: list[str]) -> str:
    if tensor.data_type not in _TYPES:
        problems.append(f"tensor {tensor.uid} has the data type {tensor.data_type}")
    for what, beyond in {"by value": tensor.by_value, f"reordered as {tensor.reordering}": tensor.reordering != "NONE"}.items():
        if beyond:
            problems.append(f"tensor {tensor.uid} is {what}")
    if tensor.ragged_offset is not None:
        problems.append(f"tensor {tensor.uid} has a ragged offset")
    words = ["x".join([*map(str, tensor.dims), _TYPES.get(tensor.data_type, "f32")])]
    rank = len(tensor.dims)
    if rank in _CHANNELS_LAST and tensor.strides == _packed(tensor.dims, [0, *range(2, rank), 1]):
        words.append(_CHANNELS_LAST[rank])
    elif tensor.strides != _packed(tensor.dims, list(range(rank))):
        words.append(f"stride = {list(tensor.strides)}")
    if tensor.alignment != DEFAULT_ALIGNMENT:
        words.append(f"alignment = {tensor.alignment}")
    return f"!cudnn.tensor_desc<{', '.join(words)}>"


def _packed(dims: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    return tuple(prod(dims[each] for each in order[order.index(dim) + 1 :]) for dim in range(len(dims)))


def _operation(node: Node, types: Mapping[int, str], problems: list[str]) -> str:
    if node.compute and node.compute not in _TYPES:
        problems.append(f"{node.name or node.tag} computes in {node.compute}")
    said = dict(node.attributes)
    families = {"POINTWISE": _pointwise, "REDUCTION": _reduction, "RESAMPLE": _resample, "MATMUL": _matmul}
    head = families.get(node.tag, _convolution if node.tag in _CONVOLUTIONS else None)
    if head is None:
        problems.append(f"{node.name or node.tag}: {node.tag} has no operation in cudnn IR")
        return ""
    name, words = head(node, said, f"type = {_TYPES.get(node.compute, 'f32')}", problems)
    operands = list(node.inputs.values())
    results = list(node.outputs.values())
    left, right = (", ".join(types[uid] for uid in uids) for uids in (operands, results))
    values = ", ".join(f"%t{uid}" for uid in operands)
    return f"{', '.join(f'%t{uid}' for uid in results)} = cudnn.{name}({values}) {words} : {left} -> {right}"


def _convolution(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    kind = "kind = convolution " if said["math_mode"] == "CONVOLUTION" else ""
    words = {"spatial_stride": said["stride"], "pre_padding": said["pre_padding"], "post_padding": said["post_padding"]}
    words["dilation"] = said["dilation"]
    return "convolution", f"{_CONVOLUTIONS[node.tag]}{kind}{compute} {_assignments(words)}"


def _matmul(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    if said["padding_value"]:
        problems.append(f"{node.name or node.tag} has the padding value {said['padding_value']}")
    problems += [f"{node.name or node.tag} has {port}" for port in node.inputs if port.endswith("_override")]
    return "matmul", compute


def _pointwise(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    mode = str(said["mode"])
    if is_backward(mode) and list(node.inputs) != ["IN_0", "IN_1"]:
        problems.append(f"{node.name or node.tag}: expected two operands of {mode}, got {', '.join(node.inputs)}")
    words = {word: said[key] for key, word in _POINTWISE_WORDS.items() if said.get(key) is not None}
    if words.get("lower_clip") == 0.0:
        del words["lower_clip"]  # what it is when nothing is said
    return f"pointwise {mode.lower()}", " ".join([compute, *([_assignments(words)] if words else [])])


def _reduction(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    if said["is_deterministic"]:
        problems.append(f"{node.name or node.tag} is deterministic")
    return f"reduction {str(said['mode']).lower()}", compute


def _resample(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    if "Index" in node.outputs:
        problems.append(f"{node.name or node.tag} has an index tensor")
    words = {key: said[key] for key in ("window", "stride", "pre_padding", "post_padding")}
    return (
        f"resample {str(said['resample_mode']).lower()}",
        f"{compute} {_assignments(words)} padding_mode = {str(said['padding_mode']).lower()}",
    )


def _assignments(words: Mapping[str, Any]) -> str:
    return " ".join(f"{word} = {_number(value)}" for word, value in words.items())


def _number(value: Any) -> str:
    """A literal of MLIR."""
    if isinstance(value, float):
        text = repr(value)
        # Every digit that tells it from its neighbours, and a point, which MLIR wants before an exponent too.
        return text if "." in text and "e" not in text else f"{value:.17e}"
    return str(value)


def _comment(value: str, tensor: Tensor) -> str:
    name = "".join(each if each.isprintable() else "?" for each in tensor.name)
    return f"// {value}: uid {tensor.uid}" + (f", {name}" if name else "")


def _quoted(name: str) -> str:
    """A symbol name in quotes; every byte beyond plain letters as two hexadecimal digits."""
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.- ")
    return '"' + "".join(chr(each) if each in plain else f"\\{each:02X}" for each in name.encode()) + '"'
