# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints an OperationGraph in the `cudnn` dialect. The compiler's parser and verifiers check the
text."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from convoy.graphs.kinds import is_backward
from convoy.graphs.mlir_named import NAMED, named_operation
from convoy.graphs.model import DEFAULT_ALIGNMENT, GraphError, Node, OperationGraph, Tensor
from convoy.graphs.scalars import scalar_literal

__all__ = ["graph_mlir"]

_TYPES = {
    "DOUBLE": "f64", "FLOAT": "f32", "HALF": "f16", "BFLOAT16": "bf16", "FP8_E4M3": "f8E4M3FN",
    "FP8_E5M2": "f8E5M2",
    "FP8_E8M0": "f8E8M0FNU", "FP4_E2M1": "f4E2M1FN", "INT64": "i64", "INT32": "i32",
    "UINT32": "ui32", "INT8": "i8", "UINT8": "ui8",
    "INT4": "i4", "UINT4": "ui4", "BOOLEAN": "i1", "COMPLEX_FP32": "complex<f32>",
    "COMPLEX_FP64": "complex<f64>",
    "FAST_FLOAT_FOR_FP8": "!cudnn.fast_float_for_fp8",
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
    """Prints a `cudnn.graph`.

    Its arguments are the tensors that no operation writes, and its results the written tensors that
    are not virtual, in the order of uids. Tensors with a value are constants. Comments have the uid
    and the name of each tensor.

    Args:
        graph: The graph.

    Returns:
        The text.

    Raises:
        GraphError: The dialect cannot express the graph; lists all reasons.
    """
    problems: list[str] = []
    inputs, outputs = [each for each in graph.inputs() if each.value is None], graph.outputs()
    constants = {each.uid: each.value for each in graph.inputs() if each.value is not None}
    problems += [
        f"tensor {each.uid} is virtual, and no operation writes it"
        for each in inputs
        if each.virtual
    ]
    if not outputs:
        problems.append("no operation writes a tensor that is not virtual")
    types = {uid: _type(tensor, problems) for uid, tensor in graph.tensors.items()}
    lines = [_comment(f"%t{tensor.uid}", tensor) for tensor in [*inputs, *outputs]]
    places = {tensor.uid: place for place, tensor in enumerate(inputs)}
    # The compiler numbers arguments, then results; uids that differ are written.
    numbered = [tensor.uid for tensor in [*inputs, *outputs]] == list(
        range(1, len(inputs) + len(outputs) + 1)
    )
    words = {
        tensor.uid: _words(tensor, places, not numbered, problems) for tensor in [*inputs, *outputs]
    }
    arguments = ", ".join(
        f"%t{tensor.uid}: {types[tensor.uid]}{words[tensor.uid]}" for tensor in inputs
    )
    results = ", ".join(types[tensor.uid] + words[tensor.uid] for tensor in outputs)
    returned = ", ".join(types[tensor.uid] for tensor in outputs)
    flags = " attributes {dynamic_shape}" * graph.dynamic_shape
    lines.append(f"cudnn.graph @{_quoted(graph.name)}({arguments}) -> ({results}){flags} {{")
    lines += [
        f"  {_constant(graph.tensors[uid], value, types[uid])}" for uid, value in constants.items()
    ]
    lines += [f"  {_operation(node, types, problems)}" for node in graph.nodes]
    lines += [
        f"  cudnn.return {', '.join(f'%t{tensor.uid}' for tensor in outputs)} : {returned}",
        "}",
    ]
    if problems:
        raise GraphError(f"cudnn IR cannot express graph {graph.name}", problems)
    return "\n".join(lines) + "\n"


def _type(tensor: Tensor, problems: list[str]) -> str:
    if tensor.data_type not in _TYPES:
        problems.append(f"tensor {tensor.uid} has the data type {tensor.data_type}")
    words = ["x".join([*map(str, tensor.dims), _TYPES.get(tensor.data_type, "f32")])]
    rank = len(tensor.dims)
    if rank in _CHANNELS_LAST and tensor.strides == _packed(tensor.dims, [0, *range(2, rank), 1]):
        words.append(_CHANNELS_LAST[rank])
    elif tensor.strides != _packed(tensor.dims, list(range(rank))):
        words.append(f"stride = {list(tensor.strides)}")
    if tensor.alignment != DEFAULT_ALIGNMENT:
        words.append(f"alignment = {tensor.alignment}")
    if tensor.vector_count != 1:
        words.append(
            f"vector_count = {tensor.vector_count}, vectorized_dimension = "
            f"{tensor.vectorized_dimension}"
        )
    if tensor.reordering != "NONE":
        words.append(f"reordering = {tensor.reordering.lower()}")
    return f"!cudnn.tensor_desc<{', '.join(words)}>"


def _words(tensor: Tensor, places: Mapping[int, int], uid: bool, problems: list[str]) -> str:
    """The attributes of an argument or a result. `places` maps uid to the index of an argument."""
    words = [f"cudnn.uid = {tensor.uid} : i64"] * uid + ["cudnn.by_value"] * tensor.by_value
    if tensor.ragged_offset is not None:
        if tensor.ragged_offset not in places:
            problems.append(f"the ragged offset of tensor {tensor.uid} is not read from the caller")
        words.append(f"cudnn.ragged_offset = {places.get(tensor.ragged_offset)} : i64")
    return f" {{{', '.join(words)}}}" if words else ""


def _packed(dims: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    return tuple(
        prod(dims[each] for each in order[order.index(dim) + 1 :]) for dim in range(len(dims))
    )


def _constant(tensor: Tensor, value: float | int, type_text: str) -> str:
    return (
        f"%t{tensor.uid} = cudnn.constant {scalar_literal(tensor.data_type, value)} : "
        f"{_TYPES[tensor.data_type]} -> {type_text}"
    )


def _operation(node: Node, types: Mapping[int, str], problems: list[str]) -> str:
    if node.compute and node.compute not in _TYPES:
        problems.append(f"{node.name or node.tag} computes in {node.compute}")
    if node.tag in NAMED:
        return named_operation(node, types, f"type = {_TYPES.get(node.compute, 'f32')}")
    said = dict(node.attributes)
    families = {
        "POINTWISE": _pointwise, "REDUCTION": _reduction, "RESAMPLE": _resample, "MATMUL": _matmul,
        "CONCATENATE": _concat,
        "RESHAPE": _reshape, "GENSTATS": _gen_stats,
    }  # fmt: skip
    head = families.get(node.tag, _convolution if node.tag in _CONVOLUTIONS else None)
    if head is None:
        problems.append(f"{node.name or node.tag}: {node.tag} has no operation in cudnn IR")
        return ""
    name, words = head(node, said, f"type = {_TYPES.get(node.compute, 'f32')}", problems)
    overrides = [port for port in node.inputs if port.endswith("_override")]
    words += "".join(
        f" {port.lower()}(%t{node.inputs[port]} : {types[node.inputs[port]]})" for port in overrides
    )
    words += (
        f" padding_value = {_number(float(said['padding_value']))}"
        if said.get("padding_value")
        else ""
    )
    operands = [uid for port, uid in node.inputs.items() if port not in overrides]
    results = list(node.outputs.values())
    left, right = (", ".join(types[uid] for uid in uids) for uids in (operands, results))
    values = ", ".join(f"%t{uid}" for uid in operands)
    spaced = f" {words}" if words else ""
    return (
        f"{', '.join(f'%t{uid}' for uid in results)} = cudnn.{name}({values}){spaced} : "
        f"{left} -> {right}"
    )


def _convolution(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    kind = "kind = convolution " if said["math_mode"] == "CONVOLUTION" else ""
    words = {
        "spatial_stride": said["stride"],
        "pre_padding": said["pre_padding"],
        "post_padding": said["post_padding"],
    }
    words["dilation"] = said["dilation"]
    return "convolution", f"{_CONVOLUTIONS[node.tag]}{kind}{compute} {_assignments(words)}"


def _matmul(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    return "matmul", compute


def _concat(node: Node, said: dict[str, Any], compute: str, problems: list[str]) -> tuple[str, str]:
    words = {"axis": said["axis"], "inplace_index": said["in_place_index"]}
    return "concat", _assignments(
        {word: value for word, value in words.items() if value is not None}
    )


def _reshape(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    if said["reshape_mode"] != "VIEW_ONLY":
        problems.append(
            f"{node.name or node.tag} has the reshape mode {said['reshape_mode']}, which requires "
            "cuDNN 9.22; cudnn IR has the operations of cuDNN 9.19"
        )
    return "reshape", ""


def _gen_stats(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    return "gen_stats sum_sqsum", compute


def _pointwise(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    mode = str(said["mode"])
    if is_backward(mode) and list(node.inputs) != ["IN_0", "IN_1"]:
        problems.append(
            f"{node.name or node.tag}: expected two operands of {mode}, got "
            f"{', '.join(node.inputs)}"
        )
    words = {word: said[key] for key, word in _POINTWISE_WORDS.items() if said.get(key) is not None}
    if words.get("lower_clip") == 0.0:
        del words["lower_clip"]  # the default
    return f"pointwise {mode.lower()}", " ".join(
        [compute, *([_assignments(words)] if words else [])]
    )


def _reduction(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    return f"reduction {str(said['mode']).lower()}", compute + " is_deterministic = true" * said[
        "is_deterministic"
    ]


def _resample(
    node: Node, said: dict[str, Any], compute: str, problems: list[str]
) -> tuple[str, str]:
    words = {key: said[key] for key in ("window", "stride", "pre_padding", "post_padding")}
    return (
        f"resample {str(said['resample_mode']).lower()}",
        f"{compute} {_assignments(words)} padding_mode = {str(said['padding_mode']).lower()}",
    )


def _assignments(words: Mapping[str, Any]) -> str:
    return " ".join(f"{word} = {_number(value)}" for word, value in words.items())


def _number(value: Any) -> str:
    """A literal of MLIR."""
    return scalar_literal("DOUBLE", value) if isinstance(value, float) else str(value)


def _comment(value: str, tensor: Tensor) -> str:
    name = "".join(each if each.isprintable() else "?" for each in tensor.name)
    return f"// {value}: uid {tensor.uid}" + (f", {name}" if name else "")


def _quoted(name: str) -> str:
    """A quoted symbol name, with special characters as two hexadecimal digits."""
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.- ")
    return (
        '"'
        + "".join(chr(each) if each in plain else f"\\{each:02X}" for each in name.encode())
        + '"'
    )
