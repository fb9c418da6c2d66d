"""The kinds of operation that both cuDNN's backend and cudnn-frontend have, as data: one row says what each part is called on either side.

Attributes are named as in the descriptor table, without CUDNN_ATTR_; ports, keys and methods as in cudnn-frontend 1.32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BY_DESCRIPTOR", "BY_TAG", "KINDS", "Kind", "is_backward"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of operation.

    `inputs` and `outputs` map an attribute of the operation's descriptor to a port, `attributes` one of either descriptor to a key of the
    JSON, `operator` is the attribute that holds the operator's descriptor, `compute` the one with its arithmetic's type. `fixed` are
    attributes with the only value that cudnn-frontend ever sends, which is also cuDNN's default. `defaults` are the keys' values when
    nothing is said. `method` and `arguments` (port to parameter) are those of `cudnn.pygraph`; a kind without has no method there.
    """

    tag: str
    descriptor: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    operator: str = ""
    compute: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    #: Why cudnn-frontend cannot read back what it prints as JSON; empty where it can.
    json_flaw: str = ""
    #: Keys that the JSON has as the eight hexadecimal digits of a float.
    floats: frozenset[str] = frozenset()


_CONVOLUTION = {
    "convolution_conv_mode": "math_mode",
    "convolution_pre_paddings": "pre_padding",
    "convolution_post_paddings": "post_padding",
    "convolution_filter_strides": "stride",
    "convolution_dilations": "dilation",
}


def _convolution(tag: str, descriptor: str, prefix: str, ports: tuple[str, str, str], method: str, arguments: tuple[str, str]) -> Kind:
    names = {port: f"{prefix}_{port.lower()}" for port in ports}
    return Kind(
        tag=tag,
        descriptor=descriptor,
        inputs={names[port]: port for port in ports[:2]},
        outputs={names[ports[2]]: ports[2]},
        operator=f"{prefix}_conv_desc",
        compute="convolution_comp_type",
        attributes=_CONVOLUTION,
        fixed={f"{prefix}_alpha": 1.0, f"{prefix}_beta": 0.0},
        method=method,
        arguments=dict(zip(ports[:2], arguments, strict=True)),
    )


_FORWARD = "operation_convolution_forward"
_POINTWISE = "operation_pointwise"

KINDS = (
    _convolution("CONV_FPROP", _FORWARD, _FORWARD, ("X", "W", "Y"), "conv_fprop", ("image", "weight")),
    _convolution(
        "CONV_DGRAD",
        "operation_convolution_backward_data",
        "operation_convolution_bwd_data",
        ("DY", "W", "DX"),
        "conv_dgrad",
        ("loss", "filter"),
    ),
    _convolution(
        "CONV_WGRAD",
        "operation_convolution_backward_filter",
        "operation_convolution_bwd_filter",
        ("X", "DY", "DW"),
        "conv_wgrad",
        ("image", "loss"),
    ),
    Kind(
        tag="MATMUL",
        descriptor="operation_matmul",
        inputs={
            "operation_matmul_adesc": "A",
            "operation_matmul_bdesc": "B",
            "operation_matmul_gemm_m_override_desc": "M_override",
            "operation_matmul_gemm_n_override_desc": "N_override",
            "operation_matmul_gemm_k_override_desc": "K_override",
        },
        outputs={"operation_matmul_cdesc": "C"},
        operator="operation_matmul_desc",
        compute="matmul_comp_type",
        attributes={"matmul_padding_value": "padding_value"},
        defaults={"padding_value": 0.0},
        method="matmul",
        arguments={"A": "A", "B": "B"},
    ),
    Kind(
        tag="POINTWISE",
        descriptor=_POINTWISE,
        # Of a gradient, the output's gradient comes first (decode.py).
        inputs={
            f"{_POINTWISE}_xdesc": "IN_0",
            f"{_POINTWISE}_dydesc": "IN_0",
            f"{_POINTWISE}_bdesc": "IN_1",
            f"{_POINTWISE}_tdesc": "IN_2",
        },
        outputs={f"{_POINTWISE}_ydesc": "OUT_0", f"{_POINTWISE}_dxdesc": "OUT_0"},
        operator=f"{_POINTWISE}_pw_descriptor",
        compute="pointwise_math_prec",
        attributes={
            "pointwise_mode": "mode",
            "pointwise_axis": "axis",
            "pointwise_relu_lower_clip": "relu_lower_clip",
            "pointwise_relu_upper_clip": "relu_upper_clip",
            "pointwise_relu_lower_clip_slope": "relu_lower_clip_slope",
            "pointwise_elu_alpha": "elu_alpha",
            "pointwise_softplus_beta": "softplus_beta",
            "pointwise_swish_beta": "swish_beta",
        },
        fixed={f"{_POINTWISE}_alpha1": 1.0, f"{_POINTWISE}_alpha2": 1.0, "pointwise_nan_propagation": "PROPAGATE_NAN"},
        defaults=dict.fromkeys(
            ("axis", "relu_lower_clip", "relu_upper_clip", "relu_lower_clip_slope", "elu_alpha", "softplus_beta", "swish_beta")
        ),
        floats=frozenset({"relu_lower_clip", "relu_upper_clip", "relu_lower_clip_slope", "elu_alpha", "softplus_beta", "swish_beta"}),
    ),
    Kind(
        tag="REDUCTION",
        descriptor="operation_reduction",
        inputs={"operation_reduction_xdesc": "X"},
        outputs={"operation_reduction_ydesc": "Y"},
        operator="operation_reduction_desc",
        compute="reduction_comp_type",
        attributes={"reduction_operator": "mode", "reduction_is_deterministic": "is_deterministic"},
        defaults={"is_deterministic": False},
        method="reduction",
        arguments={"X": "input"},
    ),
    Kind(
        tag="RESAMPLE",
        descriptor="operation_resample_fwd",
        inputs={"operation_resample_fwd_xdesc": "X"},
        outputs={"operation_resample_fwd_ydesc": "Y", "operation_resample_fwd_idxdesc": "Index"},
        operator="operation_resample_fwd_desc",
        compute="resample_comp_type",
        attributes={
            "resample_mode": "resample_mode",
            "resample_padding_mode": "padding_mode",
            "resample_window_dims": "window",
            "resample_pre_paddings": "pre_padding",
            "resample_post_paddings": "post_padding",
            "resample_strides": "stride",
        },
        fixed={"operation_resample_fwd_alpha": 1.0, "operation_resample_fwd_beta": 0.0, "resample_nan_propagation": "PROPAGATE_NAN"},
        json_flaw="cudnn-frontend 1.32 reads the windows, strides and paddings in a RESAMPLE's JSON as fractions over 0",
    ),
)

BY_TAG: Mapping[str, Kind] = {kind.tag: kind for kind in KINDS}
BY_DESCRIPTOR: Mapping[str, Kind] = {kind.descriptor: kind for kind in KINDS}


def is_backward(mode: str) -> bool:
    """Whether a pointwise mode is a gradient, whose operands are the output's gradient and the forward pass's input."""
    return mode.endswith("_BWD")
