# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints operations of the `cudnn` dialect with named operands, e.g.
`scale(%s : !cudnn.tensor_desc<...>)`: normalizations, attention, mixture-of-experts products, and
block scaling."""

from __future__ import annotations

from collections.abc import Mapping

from convoy.graphs.model import PEER_STATS, Node
from convoy.graphs.scalars import scalar_literal

__all__ = ["NAMED", "named_operation"]

#: Tag to mode. The tables below map port to operand name, in the order of the text.
_MODES: Mapping[str, str] = {
    "LAYER_NORM": "layer_norm",
    "INSTANCE_NORM": "instance_norm",
    "RMS_NORM": "rms_norm",
    "ADA_LAYER_NORM": "ada_layer_norm",
    "BATCHNORM": "batch_norm",
    "BATCHNORM_INFERENCE": "batch_norm",
    "LAYER_NORM_BPROP": "layer_norm",
    "INSTANCE_NORM_BPROP": "instance_norm",
    "RMS_NORM_BPROP": "rms_norm",
    "ADA_LAYER_NORM_BPROP": "ada_layer_norm",
    "DBN": "batch_norm",
}
_FORWARD = {
    "X": "x", "MEAN": "mean", "INV_VARIANCE": "inv_variance", "SCALE": "scale", "BIAS": "bias",
    "EPSILON": "epsilon",
    "MOMENTUM": "exp_avg_factor", "PREV_RUNNING_MEAN": "input_running_mean",
    "PREV_RUNNING_VAR": "input_running_var",
}  # fmt: skip
_FORWARD_RESULTS = {
    "Y": "y", "MEAN": "saved_mean", "INV_VARIANCE": "saved_inv_variance",
    "NEXT_RUNNING_MEAN": "output_running_mean",
    "NEXT_RUNNING_VAR": "output_running_var",
}  # fmt: skip
_BACKWARD = {
    "DY": "dy",
    "X": "x",
    "MEAN": "mean",
    "INV_VARIANCE": "inv_variance",
    "SCALE": "scale",
    "EPSILON": "epsilon",
}
_BACKWARD_RESULTS = {"DX": "dx", "DSCALE": "dscale", "DBIAS": "dbias"}


_ATTENTION = {
    "Q": "q", "K": "k", "V": "v", "Attn_scale": "scale", "Block_mask": "block_mask",
    "Page_table_K": "page_table_k",
    "Page_table_V": "page_table_v", "SEQ_LEN_Q": "seq_len_q", "SEQ_LEN_KV": "seq_len_kv",
}  # fmt: skip
_FINALIZE = {
    "SUM": "y_sum", "SQ_SUM": "y_sq_sum", "SCALE": "scale", "BIAS": "bias",
    "PREV_RUNNING_MEAN": "prev_running_mean",
    "PREV_RUNNING_VAR": "prev_running_var", "EPSILON": "epsilon", "MOMENTUM": "exp_average_factor",
    "ACCUM_COUNT": "accum_count",
}  # fmt: skip
_FINALIZE_RESULTS = {
    "EQ_SCALE": "eq_scale", "EQ_BIAS": "eq_bias", "MEAN": "saved_mean",
    "INV_VARIANCE": "saved_inv_std",
    "NEXT_RUNNING_MEAN": "updated_running_mean", "NEXT_RUNNING_VAR": "updated_running_var",
}  # fmt: skip
_WEIGHTS = {"X": "x", "DY": "dy", "MEAN": "mean", "INV_VARIANCE": "inv_std", "SCALE": "scale"}
_WEIGHTS_RESULTS = {
    "DSCALE": "dscale", "DBIAS": "dbias", "EQ_SCALE_DY": "eq_dy_scale", "EQ_SCALE_X": "eq_x_scale",
    "EQ_BIAS": "eq_bias",
}  # fmt: skip
_EXPERTS = {
    "Token": "token", "Weight": "weight", "FirstTokenOffset": "first_token_offset",
    "TokenIndex": "token_index", "TokenKs": "token_ks",
}  # fmt: skip
#: Tags that are not normalizations with a mode: the names of operands and results.
_OTHERS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "SDPA": (_ATTENTION, {"O": "o", "Stats": "stats"}),
    "BN_FINALIZE": (_FINALIZE, _FINALIZE_RESULTS),
    "DBN_WEIGHT": (_WEIGHTS, _WEIGHTS_RESULTS),
    "MOE_GROUPED_MATMUL": (_EXPERTS, {"Output": "y"}),
    "RNG": ({"Seed": "seed", "Offset": "offset"}, {"Y": "y"}),
    "BLOCK_SCALE_QUANTIZE": ({"X": "x"}, {"Y": "y", "scale": "scale"}),
    "BLOCK_SCALE_DEQUANTIZE": ({"X": "x", "scale": "scale"}, {"Y": "y"}),
}

#: Attributes of random numbers, in the order of the text.
_RANDOM = ("seed", "probability", "minimum", "maximum", "mean", "standard_deviation")

#: The tags of these operations.
NAMED = frozenset({*_MODES, *_OTHERS})


def named_operation(node: Node, types: Mapping[int, str], compute: str) -> str:
    """Prints a node.

    Args:
        node: A node with a tag in NAMED.
        types: uid to tensor type.
        compute: The text of the compute type.

    Returns:
        The line.
    """
    operands, results = _OTHERS.get(node.tag) or _norm(node)
    read = " ".join(
        f"{name}(%t{uid} : {types[uid]})"
        for port, name in operands.items()
        if (uid := node.inputs.get(port))
    )
    peers = [uid for port, uid in node.inputs.items() if port.startswith(PEER_STATS)]
    if peers:
        read += (
            f" peer_stats({', '.join(f'%t{uid}' for uid in peers)} : "
            f"{', '.join(types[uid] for uid in peers)})"
        )
    written = [(name, node.outputs[port]) for port, name in results.items() if port in node.outputs]
    values = ", ".join(f"%t{uid}" for _, uid in written)
    return (
        f"{values} = cudnn.{_head(node, compute)} {read} -> "
        f"{' '.join(f'{name}({types[uid]})' for name, uid in written)}"
    )


def _head(node: Node, compute: str) -> str:
    """The mnemonic and the attributes, which precede the tensors."""
    attributes = node.attributes
    if node.tag == "SDPA":
        return "sdpa_forward"
    if node.tag == "BN_FINALIZE":
        return f"bn_finalize training {compute}"
    if node.tag == "DBN_WEIGHT":
        return f"bn_bwd_weights {compute}"
    if node.tag == "MOE_GROUPED_MATMUL":
        return f"moe_grouped_matmul {str(attributes['mode']).lower()} {compute}" + (
            f" top_k = {attributes['top_k']}" if attributes["top_k"] else ""
        )
    if node.tag == "RNG":
        words = {("seed_value" if key == "seed" else key): attributes.get(key) for key in _RANDOM}
        said = "".join(
            f" {word} = {scalar_literal('DOUBLE', value) if isinstance(value, float) else value}"
            for word, value in words.items()
            if value is not None
        )
        return f"rng {str(attributes['mode']).lower()}{said}"
    if node.tag.startswith("BLOCK_SCALE"):
        negative = " neg_scale = true" if attributes.get("is_negative_scale") else ""
        return f"{node.tag.lower()} {compute} block_size = {attributes['block_size']}{negative}"
    if node.tag.endswith("_BPROP") or node.tag == "DBN":
        return f"norm_backward {_MODES[node.tag]}"
    return f"norm_forward {_MODES[node.tag]} {_phase(node)}"


def _norm(node: Node) -> tuple[Mapping[str, str], Mapping[str, str]]:
    if node.tag.endswith("_BPROP") or node.tag == "DBN":
        return _BACKWARD, _BACKWARD_RESULTS
    return _FORWARD, _FORWARD_RESULTS


def _phase(node: Node) -> str:
    if node.tag.startswith("BATCHNORM"):
        return "inference" if node.tag.endswith("INFERENCE") else "training"
    return str(node.attributes["forward_phase"]).lower()
