# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Expands attention of cudnn-frontend's implementation COMPOSITE to the operations that
cudnn-frontend builds for it. A test compares them with what cudnn-frontend passes to cuDNN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.graphs.attention_backward import AttentionBackward
from convoy.graphs.attention_forward import AttentionForward
from convoy.graphs.frontend_checks import is_int, read_float
from convoy.graphs.model import Node, Tensor

__all__ = ["ATTENTION", "expand_attention", "is_composite", "scale_tensor"]

#: Fields that have another value only for features that are not expanded, and that value.
_PLAIN: Mapping[str, Any] = {
    "alibi_mask": False,
    "is_mxfp8": False,
    "stats_use_log2": False,
    "unfuse_fma": False,
}
#: Fields that choose between the two implementations: one of them with another value, or a port
#: below, needs COMPOSITE.
_BANDS = {
    "dropout_probability": None,
    "left_bound": None,
    "right_bound": None,
    "diagonal_alignment": "TOP_LEFT",
}
_PORTS = {"Bias", "Dropout_mask", "Dropout_scale", "SINK_TOKEN"}
_RANK = 4
#: The tags of attention in one node.
ATTENTION = ("SDPA", "SDPA_FP8_FWD", "SDPA_BWD")
#: Fields of an entry that are read here or have no effect on the operations.
_FIELDS = {
    *_PLAIN, *_BANDS, "tag", "name", "compute_data_type", "inputs", "outputs", "attn_scale_value",
    "generate_stats", "implementation", "padding_mask", "mma_core_mode", "max_seq_len_kv",
    "max_total_seq_len_q", "max_total_seq_len_kv", "is_deterministic_algorithm",
}  # fmt: skip
_COMMON = {"Q", "K", "V", "Attn_scale", "SEQ_LEN_Q", "SEQ_LEN_KV", "Bias"}
_INPUTS = {
    "SDPA": _COMMON | _PORTS | {"Seed", "Offset"},
    "SDPA_FP8_FWD": _COMMON
    | {"SINK_TOKEN", "Descale_Q", "Descale_K", "Descale_V", "Descale_S", "Scale_S", "Scale_O"},
    "SDPA_BWD": _COMMON | {"O", "dO", "Stats"},
}
_OUTPUTS = {
    "SDPA": {"O", "Stats"},
    "SDPA_FP8_FWD": {"O", "Stats", "Amax_S", "Amax_O"},
    "SDPA_BWD": {"dQ", "dK", "dV"},
}
#: The ports that are required.
_NEEDED = {
    "SDPA": ("Q", "K", "V", "O"),
    "SDPA_FP8_FWD": ("Q", "K", "V", "O"),
    "SDPA_BWD": ("Q", "K", "V", "O", "dO", "Stats", "dQ", "dK", "dV"),
}


def is_composite(entry: Mapping[str, Any]) -> bool:
    """Returns whether cudnn-frontend builds several operations for a node of its JSON. Without a
    choice (AUTO), it does so if one operation cannot express the node."""
    if entry.get("tag") != "SDPA":
        return entry.get("tag") in ATTENTION
    implementation = entry.get("implementation")
    if implementation in ("UNIFIED", "COMPOSITE"):
        return bool(implementation == "COMPOSITE")
    differs = any(
        entry.get(key) not in (None, value) for key, value in {**_PLAIN, **_BANDS}.items()
    )
    return differs or bool(_PORTS & set(entry.get("inputs") or ()))


def scale_tensor(
    entry: Mapping[str, Any], tensors: dict[int, Tensor], problems: list[str]
) -> dict[str, Any]:
    """Returns a node whose scale is a tensor. cudnn-frontend makes it one when it builds the
    operation graph; until then the JSON has the number only.

    Args:
        entry: The node.
        tensors: Receives the tensor.
        problems: Receives the message for an invalid number.
    """
    ports = dict(entry["inputs"])
    value = read_float(entry.get("attn_scale_value"), "attn_scale_value", problems)
    if value is not None and "Attn_scale" not in ports:
        dims = (1, 1, 1, 1) if is_composite(entry) else (1,)
        uid = max(tensors) + 1
        tensors[uid] = Tensor(uid, dims, dims, "FLOAT", by_value=True, value=value, name="scale")
        ports["Attn_scale"] = uid
    return {**entry, "inputs": ports}


def expand_attention(
    entry: Mapping[str, Any],
    what: str,
    context: Mapping[str, Any],
    tensors: dict[int, Tensor],
    problems: list[str],
) -> list[Node]:
    """Expands a node.

    Args:
        entry: The node; a scale is a tensor.
        what: Its name, for messages.
        context: The graph's context, with the compute type of a node without one.
        tensors: uid to tensor. Receives the tensors between the operations, and the transposed key.
        problems: Receives a message for each part that cannot be expanded.

    Returns:
        The operations in order; empty if there are problems.
    """
    tag = entry["tag"]
    before = len(problems)
    problems += [f"{what}: the field {key!r} is unknown" for key in entry if key not in _FIELDS]
    problems += [
        f"{what}: expected {key} = {value!r}, got {entry[key]!r}, whose operations are unknown here"
        for key, value in _PLAIN.items()
        if entry.get(key) not in (None, value)
    ]
    for side, known in (("inputs", _INPUTS[tag]), ("outputs", _OUTPUTS[tag])):
        for port, uid in entry[side].items():
            if port not in known:
                problems.append(f"{what}: {side}: the operations of port {port!r} are unknown here")
            elif not is_int(uid) or uid not in tensors:
                problems.append(
                    f"{what}: {side}: expected the uid of a tensor at {port}, got {uid!r}"
                )
    problems += [
        f"{what}: expected a tensor at {port}"
        for port in _NEEDED[tag]
        if port not in {**entry["inputs"], **entry["outputs"]}
    ]
    for key in ("left_bound", "right_bound"):
        if entry.get(key) is not None and not is_int(entry[key]):
            problems.append(f"{what}: expected {key} to be an integer, got {entry[key]!r}")
    chance = read_float(entry.get("dropout_probability"), f"{what}: dropout_probability", problems)
    if chance and not {"Seed", "Offset"} <= entry["inputs"].keys():
        problems.append(f"{what}: expected tensors at Seed and Offset, for dropout")
    if entry.get("padding_mask") and not {"SEQ_LEN_Q", "SEQ_LEN_KV"} <= entry["inputs"].keys():
        problems.append(f"{what}: expected tensors at SEQ_LEN_Q and SEQ_LEN_KV, for padding_mask")
    problems += [
        f"{what}: expected a tensor of rank 4 at {port}, got dims {list(tensors[uid].dims)}"
        for port in _NEEDED[tag]
        if is_int(uid := {**entry["inputs"], **entry["outputs"]}.get(port))
        and uid in tensors
        and len(tensors[uid].dims) != _RANK
    ]
    if len(problems) != before:
        return []
    steps = AttentionBackward if tag == "SDPA_BWD" else AttentionForward
    compute = str(entry.get("compute_data_type") or context.get("compute_data_type") or "FLOAT")
    expansion = steps({**entry, "dropout_probability": chance}, tensors, compute)
    expansion.run()
    return expansion.nodes
