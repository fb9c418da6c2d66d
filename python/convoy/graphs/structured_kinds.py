# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of kinds: mixture-of-experts products and block scaling."""

from __future__ import annotations

from convoy.graphs.kind import Kind

__all__ = ["STRUCTURED_KINDS"]

_MOE, _QUANTIZE, _DEQUANTIZE = (
    "operation_moe_grouped_matmul",
    "operation_block_scale_quantize",
    "operation_block_scale_dequantize",
)

STRUCTURED_KINDS = (
    Kind(
        tag="MOE_GROUPED_MATMUL",
        descriptor=_MOE,
        inputs={
            f"{_MOE}_token_desc": "Token",
            f"{_MOE}_weight_desc": "Weight",
            f"{_MOE}_first_token_offset_desc": "FirstTokenOffset",
            f"{_MOE}_token_index_desc": "TokenIndex",
            f"{_MOE}_token_ks_desc": "TokenKs",
        },
        outputs={f"{_MOE}_output_desc": "Output"},
        compute=f"{_MOE}_math_prec",
        attributes={f"{_MOE}_mode": "mode", f"{_MOE}_top_k": "top_k"},
        defaults={"top_k": 0},
        enums={"mode": "moe_grouped_matmul_mode"},
        json_compute=False,
        method="moe_grouped_matmul",
        arguments={
            "Token": "token",
            "Weight": "weight",
            "FirstTokenOffset": "first_token_offset",
            "TokenIndex": "token_index",
            "TokenKs": "token_ks",
        },
    ),
    Kind(
        tag="BLOCK_SCALE_QUANTIZE",
        descriptor=_QUANTIZE,
        inputs={f"{_QUANTIZE}_xdesc": "X"},
        outputs={f"{_QUANTIZE}_ydesc": "Y", f"{_QUANTIZE}_scale_desc": "scale"},
        compute=f"{_QUANTIZE}_math_prec",
        attributes={f"{_QUANTIZE}_block_size": "block_size"},
        # The axis of the blocks follows from the dims of the scale.
        hints=("axis",),
        json_flaw="cudnn-frontend 1.32 drops a BLOCK_SCALE_QUANTIZE when it reads JSON",
        method="block_scale_quantize",
        arguments={"X": "input"},
        results=("Y", "scale"),
    ),
    Kind(
        tag="BLOCK_SCALE_DEQUANTIZE",
        descriptor=_DEQUANTIZE,
        inputs={f"{_DEQUANTIZE}_xdesc": "X", f"{_DEQUANTIZE}_scale_desc": "scale"},
        outputs={f"{_DEQUANTIZE}_ydesc": "Y"},
        compute=f"{_DEQUANTIZE}_math_prec",
        attributes={
            f"{_DEQUANTIZE}_block_size": "block_size",
            f"{_DEQUANTIZE}_neg_scale": "is_negative_scale",
        },
        defaults={"is_negative_scale": False},
        virtual=("Y",),
        json_flaw="cudnn-frontend 1.32 drops a BLOCK_SCALE_DEQUANTIZE when it reads JSON",
        method="block_scale_dequantize",
        arguments={"X": "input", "scale": "descale"},
    ),
)
