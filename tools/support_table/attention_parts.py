# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention composed of products, pointwise operations and reductions, e.g. with a bias or a causal
mask, which `cudnn.sdpa_forward` does not have."""

from __future__ import annotations

from itertools import product

from .graph_text import GraphText, Value, key_of
from .operations import OperationCase

__all__ = ["attention_parts_cases"]

_BATCH, _HEADS = 2, 16
#: Operations on the scores: a scale; a scale and a bias; a scale and a causal mask; a scale and a
#: softcap; a scale and a window of columns; all of these.
_SCORES = ("nothing", "scale", "bias", "causal", "softcap", "window", "all")
#: The logarithms of the sums of exponentials, for the gradient: a result of the graph, a virtual
#: value, or not computed.
_STATS = ("stored", "virtual", "none")


def _keep(graph: GraphText, scores: Value, dims: tuple[int, ...], window: int | None) -> Value:
    """Replaces the scores of columns after the row's index by minus infinity, or those of columns
    that are `window` or more before it."""
    row, column = (
        graph.apply("pointwise gen_index", [scores], f"type = i32 axis = {axis}", dims, "i32")
        for axis in (2, 3)
    )
    if window is None:
        kept = graph.apply("pointwise cmp_ge", [row, column], "type = i1", dims, "i1")
    else:
        width = graph.scalar(f"{float(window)}", "f32", 4)
        end = graph.apply("pointwise add", [column, width], "type = f32", dims, "f32")
        kept = graph.apply("pointwise cmp_gt", [end, row], "type = i1", dims, "i1")
    return graph.apply(
        "pointwise binary_select",
        [scores, graph.scalar("0xFF800000", "f32", 4), kept],
        "type = f32",
        dims,
        "f32",
    )


def _case(dtype: str, depth: int, rows: tuple[int, int], stats: str, scores: str) -> OperationCase:
    axes: dict[str, str | int] = {
        "dtypes": dtype, "stats": stats, "scores": scores,
        "depth_multiple_of": 8 if depth % 8 == 0 else 1,
        "depth_up_to": next(bound for bound in (128, 256, 1024) if depth <= bound),
    }  # fmt: skip
    graph = GraphText(key_of("attention_parts", *axes.values(), depth, *rows), "row_major")
    height, width = rows
    q, square, sums = ((_BATCH, _HEADS, height, size) for size in (depth, width, 1))
    k_strides = f"stride = [{_HEADS * width * depth}, {width * depth}, 1, {depth}]"
    operands = [
        graph.argument(q, dtype),
        graph.argument((_BATCH, _HEADS, depth, width), dtype, k_strides),
    ]
    v = graph.argument((_BATCH, _HEADS, width, depth), dtype)

    def apply(
        head: str, operands: list[Value], dims: tuple[int, ...], result: str = "f32"
    ) -> Value:
        return graph.apply(head, operands, "type = f32", dims, result)

    here = apply("matmul", operands, square)
    if scores != "nothing":
        here = apply("pointwise mul", [here, graph.scalar("0.125", "f32", 4)], square)
    if scores in ("softcap", "all"):
        here = apply("pointwise tanh_fwd", [here], square)
        here = apply("pointwise mul", [here, graph.scalar("50.0", "f32", 4)], square)
    if scores in ("bias", "all"):
        here = apply(
            "pointwise add", [here, graph.argument((1, _HEADS, height, width), dtype)], square
        )
    if scores in ("causal", "all"):
        here = _keep(graph, here, square, None)
    if scores in ("window", "all"):
        here = _keep(graph, here, square, 100)
    most = apply("reduction max", [here], sums)
    here = apply("pointwise exp", [apply("pointwise sub", [here, most], square)], square)
    total = apply("reduction add", [here], sums)
    stored = []
    if stats != "none":
        logarithm = apply("pointwise add", [most, apply("pointwise log", [total], sums)], sums)
        stored = [logarithm] if stats == "stored" else []
    here = apply("pointwise div", [here, total], square, dtype)
    return OperationCase(
        graph.key,
        "attention_parts",
        axes,
        graph.text(apply("matmul", [here, v], q, dtype), *stored),
    )


def attention_parts_cases() -> list[OperationCase]:
    """Returns every graph of this family once."""
    found = [
        _case(*each)
        for each in product(
            ("f16", "bf16", "f32"), (20, 64, 128, 256), ((1024, 1024),), _STATS, _SCORES
        )
    ]
    found += [
        _case(*each)
        for each in product(
            ("f16", "bf16"), (64,), ((1, 1024), (197, 197), (512, 512)), ("stored", "none"), _SCORES
        )
    ]
    return found
