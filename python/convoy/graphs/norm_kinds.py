# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of kinds: normalizations and batch statistics."""

from __future__ import annotations

from convoy.graphs.kind import Kind

__all__ = ["NORM_KINDS"]

_FORWARD, _BACKWARD = "operation_norm_fwd", "operation_norm_bwd"
_FINALIZE, _WEIGHTS = "operation_bn_finalize", "operation_bn_bwd_weights"
_ARGUMENTS = {
    "X": "input",
    "SCALE": "scale",
    "BIAS": "bias",
    "EPSILON": "epsilon",
    "MEAN": "mean",
    "INV_VARIANCE": "inv_variance",
    "DY": "grad",
    "PREV_RUNNING_MEAN": "in_running_mean",
    "PREV_RUNNING_VAR": "in_running_var",
    "MOMENTUM": "momentum",
}


_NO_GROUPS = "cudnn-frontend 1.32 has no normalization of groups"


def _flaw(tag: str) -> str:
    return f"cudnn-frontend 1.32 drops a {tag} when it reads JSON"


def _forward(
    tag: str, mode: str, method: str, *, statistics: tuple[str, ...] = ("MEAN",), foreign: str = ""
) -> Kind:
    """A normalization with two phases; its statistics are results in the training phase."""
    saved = {f"{_FORWARD}_mean_desc": "MEAN", f"{_FORWARD}_inv_variance_desc": "INV_VARIANCE"}
    results = (*statistics, "INV_VARIANCE")
    return Kind(
        tag=tag,
        descriptor="operation_norm_forward",
        chosen_by={f"{_FORWARD}_mode": mode},
        inputs={
            f"{_FORWARD}_xdesc": "X",
            f"{_FORWARD}_scale_desc": "SCALE",
            f"{_FORWARD}_bias_desc": "BIAS",
            f"{_FORWARD}_epsilon_desc": "EPSILON",
        },
        outputs={
            f"{_FORWARD}_ydesc": "Y",
            **{name: port for name, port in saved.items() if port in results},
        },
        attributes={f"{_FORWARD}_phase": "forward_phase"},
        json_flaw=_flaw(tag),
        method=method,
        arguments=_ARGUMENTS,
        parameters={"forward_phase": "norm_forward_phase"},
        enums={"forward_phase": "norm_forward_phase"},
        results=("Y", *results),
        foreign=foreign,
    )


def _backward(tag: str, mode: str, method: str, *, foreign: str = "") -> Kind:
    kept = {} if mode == "RMS_NORM" else {f"{_BACKWARD}_mean_desc": "MEAN"}
    return Kind(
        tag=tag,
        descriptor="operation_norm_backward",
        chosen_by={f"{_BACKWARD}_mode": mode},
        inputs={
            f"{_BACKWARD}_dydesc": "DY",
            f"{_BACKWARD}_xdesc": "X",
            f"{_BACKWARD}_scale_desc": "SCALE",
            **kept,
            f"{_BACKWARD}_inv_variance_desc": "INV_VARIANCE",
            f"{_BACKWARD}_epsilon_desc": "EPSILON",
        },
        outputs={
            f"{_BACKWARD}_dxdesc": "DX",
            f"{_BACKWARD}_dscale_desc": "DSCALE",
            f"{_BACKWARD}_dbias_desc": "DBIAS",
        },
        defaults={"peer_stats": []} if mode == "BATCH_NORM" else {},
        implied={"peer_stats": []},
        json_flaw=_flaw(tag),
        method=method,
        arguments={port: name for port, name in _ARGUMENTS.items() if port != "EPSILON"},
        results=("DX", "DSCALE", "DBIAS"),
        flags={"has_dbias": "DBIAS"} if mode == "RMS_NORM" else {},
        foreign=foreign,
    )


NORM_KINDS = (
    _forward("LAYER_NORM", "LAYER_NORM", "layernorm"),
    _forward("INSTANCE_NORM", "INSTANCE_NORM", "instancenorm"),
    _forward("RMS_NORM", "RMS_NORM", "rmsnorm", statistics=()),
    _forward("ADA_LAYER_NORM", "ADA_LAYER_NORM", "adalayernorm"),
    _forward("GROUP_NORM", "GROUP_NORM", "", foreign=_NO_GROUPS),
    _backward("GROUP_NORM_BPROP", "GROUP_NORM", "", foreign=_NO_GROUPS),
    Kind(
        tag="BATCHNORM",
        descriptor="operation_norm_forward",
        chosen_by={f"{_FORWARD}_mode": "BATCH_NORM", f"{_FORWARD}_phase": "TRAINING"},
        inputs={
            f"{_FORWARD}_xdesc": "X",
            f"{_FORWARD}_scale_desc": "SCALE",
            f"{_FORWARD}_bias_desc": "BIAS",
            f"{_FORWARD}_epsilon_desc": "EPSILON",
            f"{_FORWARD}_input_running_mean_desc": "PREV_RUNNING_MEAN",
            f"{_FORWARD}_input_running_var_desc": "PREV_RUNNING_VAR",
            f"{_FORWARD}_exp_avg_factor_desc": "MOMENTUM",
        },
        outputs={
            f"{_FORWARD}_ydesc": "Y",
            f"{_FORWARD}_mean_desc": "MEAN",
            f"{_FORWARD}_inv_variance_desc": "INV_VARIANCE",
            f"{_FORWARD}_output_running_mean_desc": "NEXT_RUNNING_MEAN",
            f"{_FORWARD}_output_running_var_desc": "NEXT_RUNNING_VAR",
        },
        defaults={"peer_stats": []},
        implied={"peer_stats": []},
        json_flaw=_flaw("BATCHNORM"),
        method="batchnorm",
        arguments=_ARGUMENTS,
        results=("Y", "MEAN", "INV_VARIANCE", "NEXT_RUNNING_MEAN", "NEXT_RUNNING_VAR"),
    ),
    Kind(
        tag="BATCHNORM_INFERENCE",
        descriptor="operation_norm_forward",
        chosen_by={f"{_FORWARD}_mode": "BATCH_NORM", f"{_FORWARD}_phase": "INFERENCE"},
        inputs={
            f"{_FORWARD}_xdesc": "X",
            f"{_FORWARD}_mean_desc": "MEAN",
            f"{_FORWARD}_inv_variance_desc": "INV_VARIANCE",
            f"{_FORWARD}_scale_desc": "SCALE",
            f"{_FORWARD}_bias_desc": "BIAS",
        },
        outputs={f"{_FORWARD}_ydesc": "Y"},
        json_flaw=_flaw("BATCHNORM_INFERENCE"),
        method="batchnorm_inference",
        arguments=_ARGUMENTS,
    ),
    _backward("LAYER_NORM_BPROP", "LAYER_NORM", "layernorm_backward"),
    _backward("INSTANCE_NORM_BPROP", "INSTANCE_NORM", "instancenorm_backward"),
    _backward("RMS_NORM_BPROP", "RMS_NORM", "rmsnorm_backward"),
    _backward("ADA_LAYER_NORM_BPROP", "ADA_LAYER_NORM", "adalayernorm_backward"),
    _backward("DBN", "BATCH_NORM", "batchnorm_backward"),
    Kind(
        tag="GENSTATS",
        descriptor="operation_gen_stats",
        chosen_by={"operation_genstats_mode": "SUM_SQSUM"},
        inputs={"operation_genstats_xdesc": "X"},
        outputs={"operation_genstats_sumdesc": "SUM", "operation_genstats_sqsumdesc": "SQ_SUM"},
        compute="operation_genstats_math_prec",
        json_flaw=_flaw("GENSTATS"),
        method_flaw=(
            "genstats of cudnn-frontend 1.32 passes the number of the operand's type in its own "
            "enum as the compute type: INT8 for HALF"
        ),
        method="genstats",
        arguments={"X": "input"},
        results=("SUM", "SQ_SUM"),
    ),
    Kind(
        tag="BN_FINALIZE",
        descriptor="operation_bn_finalize_statistics",
        chosen_by={"operation_bn_finalize_stats_mode": "TRAINING"},
        inputs={
            f"{_FINALIZE}_y_sum_desc": "SUM",
            f"{_FINALIZE}_y_sq_sum_desc": "SQ_SUM",
            f"{_FINALIZE}_scale_desc": "SCALE",
            f"{_FINALIZE}_bias_desc": "BIAS",
            f"{_FINALIZE}_epsilon_desc": "EPSILON",
            f"{_FINALIZE}_accum_count_desc": "ACCUM_COUNT",
            f"{_FINALIZE}_prev_running_mean_desc": "PREV_RUNNING_MEAN",
            f"{_FINALIZE}_prev_running_var_desc": "PREV_RUNNING_VAR",
            f"{_FINALIZE}_exp_averate_factor_desc": "MOMENTUM",
        },
        outputs={
            f"{_FINALIZE}_eq_scale_desc": "EQ_SCALE",
            f"{_FINALIZE}_eq_bias_desc": "EQ_BIAS",
            f"{_FINALIZE}_saved_mean_desc": "MEAN",
            f"{_FINALIZE}_saved_inv_std_desc": "INV_VARIANCE",
            f"{_FINALIZE}_updated_running_mean_desc": "NEXT_RUNNING_MEAN",
            f"{_FINALIZE}_updated_running_var_desc": "NEXT_RUNNING_VAR",
        },
        compute=f"{_FINALIZE}_math_prec",
        computes="FLOAT",
        needed=("PREV_RUNNING_MEAN", "PREV_RUNNING_VAR"),
        json_flaw=_flaw("BN_FINALIZE"),
    ),
    Kind(
        tag="DBN_WEIGHT",
        descriptor="operation_bn_bwd_weights",
        inputs={
            f"{_WEIGHTS}_dy_desc": "DY",
            f"{_WEIGHTS}_x_desc": "X",
            f"{_WEIGHTS}_bn_scale_desc": "SCALE",
            f"{_WEIGHTS}_mean_desc": "MEAN",
            f"{_WEIGHTS}_invstd_desc": "INV_VARIANCE",
        },
        outputs={
            f"{_WEIGHTS}_dbn_scale_desc": "DSCALE",
            f"{_WEIGHTS}_dbn_bias_desc": "DBIAS",
            f"{_WEIGHTS}_eq_bias": "EQ_BIAS",
            f"{_WEIGHTS}_eq_dy_scale_desc": "EQ_SCALE_DY",
            f"{_WEIGHTS}_eq_x_scale_desc": "EQ_SCALE_X",
        },
        compute=f"{_WEIGHTS}_math_prec",
        computes="FLOAT",
        json_flaw=_flaw("DBN_WEIGHT"),
    ),
)
