# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table of kinds: attention as one operation.

cudnn-frontend's SDPA with the implementation UNIFIED is this operation. With COMPOSITE, and for
masks, dropout and a bias, it builds other operations, which are recorded and imported instead.
"""

from __future__ import annotations

from convoy.graphs.kind import Kind

__all__ = ["ATTENTION_KINDS"]

_PORTS = {
    "q": "Q",
    "k": "K",
    "v": "V",
    "scale": "Attn_scale",
    "block_mask_": "Block_mask",
    "page_table_k": "Page_table_K",
    "page_table_v": "Page_table_V",
    "seq_len_q": "SEQ_LEN_Q",
    "seq_len_kv": "SEQ_LEN_KV",
}

ATTENTION_KINDS = (
    Kind(
        tag="SDPA",
        descriptor="operation_sdpa_fwd",
        inputs={f"operation_sdpa_fwd_{name}desc": port for name, port in _PORTS.items()},
        outputs={"operation_sdpa_fwd_odesc": "O", "operation_sdpa_fwd_statsdesc": "Stats"},
        present={"generate_stats": "Stats", "padding_mask": "SEQ_LEN_KV"},
        only={
            "implementation": "UNIFIED",
            "mma_core_mode": "HALF",
            "alibi_mask": False,
            "diagonal_alignment": "TOP_LEFT",
            "dropout_probability": None,
            "is_mxfp8": False,
            "left_bound": None,
            "right_bound": None,
            "stats_use_log2": False,
            "unfuse_fma": False,
        },
        # A scale given as a number is also a by-value tensor in the built graph.
        hints=("attn_scale_value", "max_seq_len_kv", "max_total_seq_len_q", "max_total_seq_len_kv"),
        computes="FLOAT",
        method="sdpa",
        method_compute=False,
        arguments={
            "Q": "q",
            "K": "k",
            "V": "v",
            "Attn_scale": "attn_scale",
            "Block_mask": "block_mask",
            "Page_table_K": "paged_attention_k_table",
            "Page_table_V": "paged_attention_v_table",
            "SEQ_LEN_Q": "seq_len_q",
            "SEQ_LEN_KV": "seq_len_kv",
        },
        parameters={"padding_mask": "use_padding_mask"},
        results=("O", "Stats"),
    ),
)
