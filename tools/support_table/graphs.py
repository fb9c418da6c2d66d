# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`cudnn.graph`s of narrow types and other orders, which grouping does not form.

Their rows are in the section `unformed` of the support table. Their anchors are named after
operations of dialect `cudnn`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import GraphText, Value, key_of
from .matrix import Case, Cell

__all__ = ["graph_cases"]


def _case(
    cell: Cell, pattern: str, graph: GraphText, result: Value, channel_bytes: int = 1
) -> Case:
    return Case(
        graph.key, pattern, (cell,), cell, channel_bytes, graph.text(result), is_group=False
    )


def _follow(
    graph: GraphText, role: str, here: Value, dims: tuple[int, ...], dtype: str, result: str
) -> Value:
    """Applies a bias, scale, residual or relu to the running value."""
    if role == "relu":
        return graph.apply("pointwise relu_fwd", [here], "type = f32", dims, result)
    vector = (
        (1, dims[1], *[1] * (len(dims) - 2))
        if graph.layout != "row_major"
        else (*[1] * (len(dims) - 1), dims[-1])
    )
    other = graph.argument(dims if role == "residual" else vector, dtype)
    return graph.apply(
        "pointwise mul" if role == "scale" else "pointwise add",
        [here, other],
        "type = f32",
        dims,
        result,
    )


_DTYPES = ("f16", "bf16", "f32")


def _narrow() -> Iterator[Case]:
    """Convolutions and products of fp8 and int8, plain and with a scale, bias and relu. Results
    have several types."""
    ends = ((), ("scale",), ("scale", "bias", "relu"))
    for dtype, layout, after in product(
        ("f8E4M3FN", "f8E5M2", "i8"), ("channels_last", "row_major"), ends
    ):
        wide = "i32" if dtype == "i8" else "f32"
        for result in (wide, "f16", dtype) if after else (wide, "f16"):
            anchor = "conv2d" if layout == "channels_last" else "matmul"
            pattern = "+".join((anchor, *after))
            graph = GraphText(key_of(pattern, dtype, result), layout)
            if anchor == "conv2d":
                dims: tuple[int, ...] = (4, 64, 16, 16)
                operands = [
                    graph.argument((4, 64, 16, 16), dtype),
                    graph.argument((64, 64, 3, 3), dtype),
                ]
                tail = (
                    f"type = {wide} spatial_stride = [1, 1] pre_padding = [1, 1] post_padding "
                    "= [1, 1] dilation = [1, 1]"
                )
                here = graph.apply("convolution", operands, tail, dims, wide if after else result)
            else:
                dims = (4, 32, 64)
                operands = [
                    graph.argument((4, 32, 128), dtype),
                    graph.argument((4, 128, 64), dtype),
                ]
                here = graph.apply(
                    "matmul", operands, f"type = {wide}", dims, wide if after else result
                )
            for i, role in enumerate(after):
                here = _follow(
                    graph, role, here, dims, "f32", result if i + 1 == len(after) else "f32"
                )
            role = "_".join((*(after or ("plain",)), "to", result))
            kind = "none" if anchor == "conv2d" else ""
            yield _case(
                Cell(
                    "convolution" if anchor == "conv2d" else anchor,
                    role,
                    dtype,
                    layout,
                    len(dims),
                    kind,
                ),
                pattern,
                graph,
                here,
            )


def _orders() -> Iterator[Case]:
    """Bias before residual, and residual before bias, as graphs, because the conversion of groups
    reorders them."""
    for dtype, after in product(
        _DTYPES, (("bias", "residual", "relu"), ("residual", "bias", "relu"))
    ):
        graph = GraphText(key_of("order", *after, dtype), "channels_last")
        dims = (4, 64, 16, 16)
        operands = [graph.argument(dims, dtype), graph.argument((64, 64, 3, 3), dtype)]
        tail = (
            "type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] "
            "dilation = [1, 1]"
        )
        here = graph.apply("convolution", operands, tail, dims, "f32")
        for i, role in enumerate(after):
            here = _follow(graph, role, here, dims, dtype, dtype if i + 1 == len(after) else "f32")
        yield _case(
            Cell("convolution", "_then_".join(after), dtype, "channels_last", 4, "none"),
            "+".join(("conv2d", *after)),
            graph,
            here,
        )


def graph_cases() -> list[Case]:
    """Returns every graph of this file."""
    parts = (_narrow(), _orders())
    return [case for part in parts for case in part]
