"""Operations of the `cudnn` dialect whose tensors stand after their names, as `scale(%s : !cudnn.tensor_desc<...>)`: normalizations."""

from __future__ import annotations

from collections.abc import Mapping

from convoy.graphs.model import Node

__all__ = ["NAMED", "named_operation"]

#: Of each tag: the mode, then the name at each port in the order of the text.
NAMED: Mapping[str, str] = {
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
    "X": "x", "MEAN": "mean", "INV_VARIANCE": "inv_variance", "SCALE": "scale", "BIAS": "bias", "EPSILON": "epsilon",
    "MOMENTUM": "exp_avg_factor", "PREV_RUNNING_MEAN": "input_running_mean", "PREV_RUNNING_VAR": "input_running_var",
}  # fmt: skip
_FORWARD_RESULTS = {
    "Y": "y", "MEAN": "saved_mean", "INV_VARIANCE": "saved_inv_variance", "NEXT_RUNNING_MEAN": "output_running_mean",
    "NEXT_RUNNING_VAR": "output_running_var",
}  # fmt: skip
_BACKWARD = {"DY": "dy", "X": "x", "MEAN": "mean", "INV_VARIANCE": "inv_variance", "SCALE": "scale", "EPSILON": "epsilon"}
_BACKWARD_RESULTS = {"DX": "dx", "DSCALE": "dscale", "DBIAS": "dbias"}


def named_operation(node: Node, types: Mapping[int, str]) -> str:
    """The line of a node whose tag NAMED has; `types` are the tensors' by uid."""
    backward = node.tag.endswith("_BPROP") or node.tag == "DBN"
    operands, results = (_BACKWARD, _BACKWARD_RESULTS) if backward else (_FORWARD, _FORWARD_RESULTS)
    words = f"norm_backward {NAMED[node.tag]}" if backward else f"norm_forward {NAMED[node.tag]} {_phase(node)}"
    read = " ".join(f"{name}(%t{uid} : {types[uid]})" for port, name in operands.items() if (uid := node.inputs.get(port)))
    written = [(name, node.outputs[port]) for port, name in results.items() if port in node.outputs]
    values = ", ".join(f"%t{uid}" for _, uid in written)
    return f"{values} = cudnn.{words} {read} -> {' '.join(f'{name}({types[uid]})' for name, uid in written)}"


def _phase(node: Node) -> str:
    if node.tag.startswith("BATCHNORM"):
        return "inference" if node.tag.endswith("INFERENCE") else "training"
    return str(node.attributes["forward_phase"]).lower()
