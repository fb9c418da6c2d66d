# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of kinds: operations that cudnn-frontend does not have. They can be printed as dot
only."""

from __future__ import annotations

from convoy.graphs.kind import Kind

__all__ = ["FOREIGN_KINDS"]

_NONE = "cudnn-frontend 1.32 has no operation for it"
_RESAMPLE, _PAGED, _SIGNAL = (
    "operation_resample_bwd",
    "operation_paged_cache_load",
    "operation_signal",
)
_FINALIZE = "operation_bn_finalize"


def _band(tag: str, attributes: tuple[str, ...], tensors: dict[str, str]) -> Kind:
    prefix = f"operation_{tag.lower()}"
    return Kind(
        tag=tag,
        descriptor=prefix,
        inputs={f"{prefix}_xdesc": "X"}
        | {f"{prefix}_{name}": port for name, port in tensors.items()},
        outputs={f"{prefix}_ydesc": "Y"},
        attributes={f"{prefix}_{name}": name for name in attributes}
        | {"operation_contract_band_max_token_value": "max_token_value"},
        foreign=_NONE,
    )


FOREIGN_KINDS = (
    Kind(
        tag="RESAMPLE_BWD",
        descriptor=_RESAMPLE,
        inputs={
            f"{_RESAMPLE}_dydesc": "DY",
            f"{_RESAMPLE}_idxdesc": "Index",
            f"{_RESAMPLE}_xdesc": "X",
            f"{_RESAMPLE}_ydesc": "Y",
        },
        outputs={f"{_RESAMPLE}_dxdesc": "DX"},
        operator=f"{_RESAMPLE}_desc",
        compute="resample_comp_type",
        attributes={
            "resample_mode": "mode",
            "resample_padding_mode": "padding_mode",
            "resample_nan_propagation": "nan_propagation",
            "resample_window_dims": "window",
            "resample_pre_paddings": "pre_padding",
            "resample_post_paddings": "post_padding",
            "resample_strides": "stride",
            f"{_RESAMPLE}_alpha": "alpha",
            f"{_RESAMPLE}_beta": "beta",
        },
        foreign=_NONE,
    ),
    Kind(
        tag="RNG",
        descriptor="operation_rng",
        # A seed that is a number is an attribute.
        inputs={"operation_rng_seed": "Seed", "operation_rng_offset_desc": "Offset"},
        outputs={"operation_rng_ydesc": "Y"},
        operator="operation_rng_desc",
        attributes={
            "rng_distribution": "mode",
            "operation_rng_seed": "seed",
            "rng_bernoulli_dist_probability": "probability",
            "rng_uniform_dist_minimum": "minimum",
            "rng_uniform_dist_maximum": "maximum",
            "rng_normal_dist_mean": "mean",
            "rng_normal_dist_standard_deviation": "standard_deviation",
        },
        foreign=(
            "cudnn-frontend 1.32 has no method for random numbers, and drops an RNG when it reads "
            "JSON"
        ),
    ),
    Kind(
        tag="PAGED_CACHE_LOAD",
        descriptor=_PAGED,
        inputs={
            f"{_PAGED}_container_desc": "Container",
            f"{_PAGED}_page_table_desc": "Page_table",
            f"{_PAGED}_sequence_desc": "SEQ_LEN",
        },
        outputs={f"{_PAGED}_ydesc": "Y"},
        foreign=_NONE,
    ),
    _band(
        "EXPAND_BAND_MATRIX",
        ("lower_bandwidth", "upper_bandwidth", "axis", "pad_value"),
        {"kv_token_offset_desc": "KV_token_offset", "speculative_mask_desc": "Speculative_mask"},
    ),
    _band("CONTRACT_BAND_MATRIX", ("lower_bandwidth", "upper_bandwidth", "axis", "pad_value"), {}),
    Kind(
        tag="SIGNAL",
        descriptor=_SIGNAL,
        inputs={f"{_SIGNAL}_flagdesc": "Flag", f"{_SIGNAL}_xdesc": "X"},
        outputs={f"{_SIGNAL}_ydesc": "Y"},
        attributes={f"{_SIGNAL}_mode": "mode", f"{_SIGNAL}_value": "value"},
        foreign=_NONE,
    ),
    Kind(
        tag="BN_FINALIZE_INFERENCE",
        descriptor="operation_bn_finalize_statistics",
        chosen_by={"operation_bn_finalize_stats_mode": "INFERENCE"},
        inputs={
            f"{_FINALIZE}_scale_desc": "SCALE",
            f"{_FINALIZE}_bias_desc": "BIAS",
            f"{_FINALIZE}_epsilon_desc": "EPSILON",
            f"{_FINALIZE}_prev_running_mean_desc": "PREV_RUNNING_MEAN",
            f"{_FINALIZE}_prev_running_var_desc": "PREV_RUNNING_VAR",
        },
        outputs={f"{_FINALIZE}_eq_scale_desc": "EQ_SCALE", f"{_FINALIZE}_eq_bias_desc": "EQ_BIAS"},
        compute=f"{_FINALIZE}_math_prec",
        foreign="bn_finalize of cudnn-frontend 1.32 always has the mode training",
    ),
)
