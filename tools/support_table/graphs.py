# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`cudnn.graph`s of gradients and narrow types, which grouping does not form yet.

Their rows are in the section `unformed` of the support table. Their anchors are named after
operations of dialect `cudnn`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import BYTES, GraphText, Value, key_of
from .matrix import Case, Cell

__all__ = ["graph_cases"]

_SPATIAL = {1: (64,), 2: (16, 16), 3: (4, 8, 8)}
_LAYOUTS = ("channels_last", "channels_first")


def _case(
    cell: Cell, pattern: str, graph: GraphText, result: Value, channel_bytes: int = 1
) -> Case:
    return Case(
        graph.key, pattern, (cell,), cell, channel_bytes, graph.text(result), is_group=False
    )


def _gradients() -> Iterator[Case]:
    """Gradients of convolutions, and epilogues of dgrad, which is a transposed convolution."""
    kinds = {"none": 1, "grouped": 4, "depthwise": 64}
    axes = product(("dgrad", "wgrad"), _SPATIAL.items(), kinds.items(), _DTYPES, _LAYOUTS)
    for mode, (rank, spatial), (kind, groups), dtype, layout in axes:
        if layout == "channels_first" and kind != "none":
            continue
        windows = ((3, 1), (3, 2), (1, 1)) if layout == "channels_last" else ((3, 1),)
        followers: tuple[tuple[str, ...], ...] = ((),)
        if mode == "dgrad" and layout == "channels_last":
            followers = ((), ("bias",), ("relu",), ("bias", "relu"))
        for (window, stride), after in product(windows, followers):
            if after and window == 1:
                continue
            out = tuple((size + 2 * (window // 2) - window) // stride + 1 for size in spatial)
            image, output = (4, 64, *spatial), (4, 64, *out)
            filters = (64, 64 // groups, *[window] * rank)
            pattern = "+".join((f"{mode}{rank}d", *after))
            graph = GraphText(
                key_of(pattern, dtype, layout, kind, f"w{window}", f"s{stride}"), layout
            )
            given = (output, filters) if mode == "dgrad" else (image, output)
            operands = [graph.argument(dims, dtype) for dims in given]
            pads = f"[{', '.join([str(window // 2)] * rank)}]"
            numbers = (
                f"spatial_stride = {[stride] * rank} pre_padding = {pads} post_padding = "
                f"{pads} dilation = {[1] * rank}"
            )
            dims = image if mode == "dgrad" else filters
            here = graph.apply(
                "convolution",
                operands,
                f"mode = {mode} type = f32 {numbers}",
                dims,
                "f32" if after else dtype,
            )
            for i, role in enumerate(after):
                narrow = dtype if i + 1 == len(after) else "f32"
                here = _follow(graph, role, here, dims, dtype, narrow)
            cell = Cell(
                f"{mode}{rank}d", after[-1] if after else "anchor", dtype, layout, rank + 2, kind
            )
            yield _case(cell, pattern, graph, here, 64 // groups * BYTES[dtype])


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
    parts = (_gradients(), _narrow(), _orders())
    return [case for part in parts for case in part]
