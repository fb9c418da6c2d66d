# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The JSON that cudnn-frontend's Python package prints for a graph with attention between
`validate()` and `build_operation_graph()`. It has the arguments of the Python methods instead of
cudnn-frontend's own fields, and names instead of uids. It is converted to cudnn-frontend's own."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from convoy.graphs.frontend_json import JSON_VERSION

__all__ = ["from_inspection", "is_inspection"]

#: Type of a node to its tag, and argument to port.
_ATTENTION = {
    "q": "Q", "k": "K", "v": "V", "attn_scale": "Attn_scale", "bias": "Bias",
    "block_mask": "Block_mask", "seq_len_q": "SEQ_LEN_Q", "seq_len_kv": "SEQ_LEN_KV",
    "paged_attention_k_table": "Page_table_K", "paged_attention_v_table": "Page_table_V",
    "sink_token": "SINK_TOKEN",
}  # fmt: skip
_SCALES = {
    f"{prefix}_{tensor}": f"{prefix.capitalize()}_{tensor.upper()}"
    for prefix, tensors in (("descale", "qkvs"), ("scale", "so"))
    for tensor in tensors
}
_BACKWARD = {"o": "O", "dO": "dO", "stats": "Stats"}
_TYPES = {
    "SDPA": ("SDPA", _ATTENTION),
    "SDPA_FP8": ("SDPA_FP8_FWD", _ATTENTION | _SCALES),
    "SDPA_BWD": ("SDPA_BWD", _ATTENTION | _BACKWARD),
}
#: The ports of the tensors of dropout, by its number of arguments: mask and scale, or probability,
#: seed and offset.
_DROPOUT = {
    2: {"dropout_0": "Dropout_mask", "dropout_1": "Dropout_scale"},
    3: {"dropout_1": "Seed", "dropout_2": "Offset"},
}
#: The types of arguments in JSON.
_VALUES = (str, int, float, type(None))
#: Argument to field.
_FIELDS = {
    "generate_stats": "generate_stats",
    "use_padding_mask": "padding_mask",
    "use_alibi_mask": "alibi_mask",
    "diagonal_alignment": "diagonal_alignment",
    "diagonal_band_left_bound": "left_bound",
    "diagonal_band_right_bound": "right_bound",
    "paged_attention_max_seq_len_kv": "max_seq_len_kv",
    "implementation": "implementation",
}


def is_inspection(document: Mapping[str, Any]) -> bool:
    """Returns whether a document has this form: its tensors are an object, and nodes have types."""
    nodes = document.get("nodes")
    return (
        "json_version" not in document
        and isinstance(document.get("tensors"), dict)
        and isinstance(nodes, list)
        and all(isinstance(node, dict) and "type" in node for node in nodes)
    )


def from_inspection(document: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Converts a document.

    Args:
        document: The document, of which `is_inspection` is true.
        problems: Receives a message for each part without a counterpart.

    Returns:
        The document in the form of `str(graph)` after `build_operation_graph()`.
    """
    uids = {
        name: each.get("uid")
        for name, each in document["tensors"].items()
        if isinstance(each, dict)
    }
    tensors = [
        {
            "uid": each.get("uid"),
            "name": name,
            "dim": each.get("dim"),
            "stride": each.get("stride"),
            "data_type": _enumerator(each.get("dtype")),
            "is_virtual": each.get("is_virtual", False),
        }
        for name, each in document["tensors"].items()
        if isinstance(each, dict)
    ]
    given = document.get("context")
    context = {
        key: _enumerator(value) for key, value in (given.items() if isinstance(given, dict) else ())
    }
    return {
        "json_version": JSON_VERSION,
        "context": context,
        "nodes": [
            found
            for node in document["nodes"]
            if (found := _node(node, uids, context, problems)) is not None
        ],
        "tensors": tensors,
    }


def _node(
    node: Mapping[str, Any],
    uids: Mapping[str, Any],
    context: Mapping[str, Any],
    problems: list[str],
) -> dict[str, Any] | None:
    what = f"node {node.get('name')} ({node['type']})"
    if node["type"] not in _TYPES:
        problems.append(
            f"{what}: the arguments of its method are unknown here: call "
            "graph.build_operation_graph() and graph.key() before the graph is printed"
        )
        return None
    tag, ports = _TYPES[node["type"]]
    before = len(problems)
    sides = [node.get(side, {}) for side in ("inputs", "outputs", "params")]
    if not all(
        isinstance(side, dict) and all(isinstance(each, _VALUES) for each in side.values())
        for side in sides
    ):
        problems.append(f"{what}: expected objects as inputs, outputs and params, got {node!r}")
        return None
    params = sides[2]
    ports = ports | _DROPOUT.get(params.get("_dropout_n", 0), {})
    entry: dict[str, Any] = {
        "tag": tag,
        "name": node.get("name"),
        "compute_data_type": context.get("compute_data_type"),
        "inputs": {},
        "outputs": {port: uids.get(name) for port, name in node.get("outputs", {}).items()},
    }
    for argument, name in node.get("inputs", {}).items():
        if argument not in ports:
            problems.append(f"{what}: the tensor {argument!r} is unknown")
        else:
            entry["inputs"][ports[argument]] = uids.get(name)
    for key, value in params.items():
        if value is None or value is False or key == "_dropout_n":
            continue
        if key in ("attn_scale", "dropout_0"):
            if isinstance(value, str):
                problems.append(f"{what}: expected {key} to be a number, got {value!r}")
                continue
            field = "attn_scale_value" if key == "attn_scale" else "dropout_probability"
            entry[field] = struct.pack(">f", value).hex().upper()
        elif key == "use_causal_mask":
            entry["right_bound"] = 0
        elif key == "use_causal_mask_bottom_right":
            entry |= {"right_bound": 0, "diagonal_alignment": "BOTTOM_RIGHT"}
        elif key == "score_mod":
            problems.append(f"{what}: score_mod is a Python function, which the JSON does not have")
        elif key in _FIELDS:
            entry[_FIELDS[key]] = _enumerator(value)
        else:
            problems.append(f"{what}: the argument {key!r} is unknown")
    return entry if len(problems) == before else None


def _enumerator(value: Any) -> Any:
    """`HALF` for the text `data_type.HALF`; other values are returned as they are."""
    return value.rpartition(".")[2] if isinstance(value, str) else value
