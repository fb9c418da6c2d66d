# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of the operations of cuDNN's backend and their forms in cudnn-frontend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.graphs.attention_kinds import ATTENTION_KINDS
from convoy.graphs.foreign_kinds import FOREIGN_KINDS
from convoy.graphs.kind import Kind
from convoy.graphs.norm_kinds import NORM_KINDS
from convoy.graphs.structured_kinds import STRUCTURED_KINDS

__all__ = ["BY_TAG", "KINDS", "is_backward", "kind_of"]

_CONVOLUTION = {
    "convolution_conv_mode": "math_mode",
    "convolution_pre_paddings": "pre_padding",
    "convolution_post_paddings": "post_padding",
    "convolution_filter_strides": "stride",
    "convolution_dilations": "dilation",
}


def _convolution(
    tag: str,
    descriptor: str,
    prefix: str,
    ports: tuple[str, str, str],
    method: str,
    arguments: tuple[str, str],
) -> Kind:
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
        implied={"math_mode": "CROSS_CORRELATION"},
        method=method,
        arguments=dict(zip(ports[:2], arguments, strict=True)),
    )


_FORWARD = "operation_convolution_forward"
_POINTWISE = "operation_pointwise"

KINDS = (
    _convolution(
        "CONV_FPROP", _FORWARD, _FORWARD, ("X", "W", "Y"), "conv_fprop", ("image", "weight")
    ),
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
        parameters={"padding_value": "padding"},
    ),
    Kind(
        tag="POINTWISE",
        descriptor=_POINTWISE,
        # For gradients, the first operand is the gradient of the output (decode.py).
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
        fixed={
            f"{_POINTWISE}_alpha1": 1.0,
            f"{_POINTWISE}_alpha2": 1.0,
            "pointwise_nan_propagation": "PROPAGATE_NAN",
        },
        defaults=dict.fromkeys(
            (
                "axis",
                "relu_lower_clip",
                "relu_upper_clip",
                "relu_lower_clip_slope",
                "elu_alpha",
                "softplus_beta",
                "swish_beta",
            )
        ),
        implied={"elu_alpha": 1.0, "softplus_beta": 1.0},
        floats=frozenset(
            {
                "relu_lower_clip",
                "relu_upper_clip",
                "relu_lower_clip_slope",
                "elu_alpha",
                "softplus_beta",
                "swish_beta",
            }
        ),
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
        implied={"is_deterministic": False},
        enums={"mode": "reduction_mode"},
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
        fixed={
            "operation_resample_fwd_alpha": 1.0,
            "operation_resample_fwd_beta": 0.0,
            "resample_nan_propagation": "PROPAGATE_NAN",
        },
        present={"generate_index": "Index"},
        json_compute=False,
        json_flaw=(
            "cudnn-frontend 1.32 reads the windows, strides and paddings of a RESAMPLE in JSON "
            "as fractions with denominator 0"
        ),
    ),
    Kind(
        tag="CONCATENATE",
        descriptor="operation_concat",
        inputs={},
        listed="operation_concat_input_descs",
        outputs={"operation_concat_output_desc": "Y"},
        attributes={
            "operation_concat_axis": "axis",
            "operation_concat_inplace_index": "in_place_index",
        },
        defaults={"in_place_index": None},
        json_compute=False,
        method_compute=False,
        json_flaw="cudnn-frontend 1.32 drops a CONCATENATE when it reads JSON",
        method="concatenate",
    ),
    Kind(
        tag="RESHAPE",
        descriptor="operation_reshape",
        inputs={"operation_reshape_xdesc": "X"},
        outputs={"operation_reshape_ydesc": "Y"},
        # Dims and strides of the result are those of the tensor.
        defaults={"dim": [], "stride": [], "reshape_mode": "VIEW_ONLY"},
        implied={"dim": [], "stride": [], "reshape_mode": "VIEW_ONLY"},
        method_compute=False,
        json_flaw="cudnn-frontend 1.32 drops a RESHAPE when it reads JSON",
        method="reshape",
        arguments={"X": "input"},
    ),
    *NORM_KINDS,
    *ATTENTION_KINDS,
    *STRUCTURED_KINDS,
    *FOREIGN_KINDS,
)

BY_TAG: Mapping[str, Kind] = {kind.tag: kind for kind in KINDS}


def kind_of(descriptor: str, settings: Mapping[str, Any]) -> Kind | None:
    """The kind of an operation, or None if it is unknown.

    Args:
        descriptor: The kind of its descriptor.
        settings: Its attributes.
    """
    for kind in KINDS:
        if kind.descriptor == descriptor and all(
            settings.get(name) == value for name, value in kind.chosen_by.items()
        ):
            return kind
    return None


def is_backward(mode: str) -> bool:
    """Whether a pointwise mode is a gradient. Its operands are the gradient of the output and the
    input of the forward pass."""
    return mode.endswith("_BWD")
