"""The part of the matrix that is not made from groups: `cudnn.graph`s of gradients, of narrow types, and of operations without an anchor.

Their rows in the support table are for whoever forms such graphs next; their anchors are the names of cudnn's operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from .matrix import Case, Cell

__all__ = ["graph_cases"]

_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i8": 1, "f8E4M3FN": 1, "f8E5M2": 1}
_SPATIAL = {1: (64,), 2: (16, 16), 3: (4, 8, 8)}
_LAYOUTS = {"channels_last": "NHWC", "channels_first": "NCHW"}
_WORDS = {3: {"NHWC": "NWC", "NCHW": "NCW"}, 4: {}, 5: {"NHWC": "NDHWC", "NCHW": "NCDHW"}}
_UNARY = ("identity", "sqrt", "rsqrt", "abs", "ceil", "floor", "exp", "log", "neg", "sin", "cos", "tan", "erf", "reciprocal", "relu_fwd",
          "tanh_fwd", "sigmoid_fwd", "elu_fwd", "gelu_fwd", "softplus_fwd", "swish_fwd", "gelu_approx_tanh_fwd")  # fmt: skip
_BINARY = ("add", "mul", "min", "max", "div", "sub", "pow", "mod", "add_square", "relu_bwd", "tanh_bwd", "sigmoid_bwd", "elu_bwd",
           "gelu_bwd", "softplus_bwd", "swish_bwd", "gelu_approx_tanh_bwd", "cmp_eq",
           "cmp_neq", "cmp_gt", "cmp_ge", "cmp_lt", "cmp_le")  # fmt: skip
#: Modes that are asked about in each layout and dtype.
_EVERYWHERE = ("identity", "add", "mul", "relu_fwd", "cmp_gt")
_REDUCTIONS = ("add", "mul", "min", "max", "amax")
#: Which dims a reduction of N x C x H x W keeps.
_KEPT = {"channels": (1,), "pixels": (0, 2, 3), "images_and_channels": (0, 1), "nothing": ()}


def _desc(dims: tuple[int, ...], dtype: str, layout: str) -> str:
    word = "" if layout == "row_major" else f", {_WORDS.get(len(dims), {}).get(_LAYOUTS[layout], _LAYOUTS[layout])}"
    return f"!cudnn.tensor_desc<{'x'.join(map(str, dims))}x{dtype}{word}>"


@dataclass
class _Graph:
    """The text of a graph, operation by operation."""

    key: str
    layout: str
    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def argument(self, dims: tuple[int, ...], dtype: str) -> tuple[str, str]:
        kind = _desc(dims, dtype, self.layout)
        self.arguments.append(f"%a{len(self.arguments)}: {kind}")
        return f"%a{len(self.arguments) - 1}", kind

    def apply(self, head: str, operands: list[tuple[str, str]], tail: str, dims: tuple[int, ...], dtype: str) -> tuple[str, str]:
        """One operation; returns its result and the result's type."""
        kind = _desc(dims, dtype, self.layout)
        name = f"%v{len(self.lines)}"
        values, kinds = ", ".join(value for value, _ in operands), ", ".join(kind for _, kind in operands)
        self.lines.append(f"  {name} = cudnn.{head}({values}) {tail} : {kinds} -> {kind}")
        return name, kind

    def text(self, result: tuple[str, str]) -> str:
        body = "\n".join(self.lines)
        head = f"cudnn.graph @{self.key}({', '.join(self.arguments)}) -> {result[1]}"
        return f"{head} {{\n{body}\n  cudnn.return {result[0]} : {result[1]}\n}}\n"


def _case(cell: Cell, pattern: str, graph: _Graph, result: tuple[str, str], channel_bytes: int = 1) -> Case:
    return Case(graph.key, pattern, (cell,), cell, channel_bytes, graph.text(result), is_group=False)


def _key(*parts: object) -> str:
    return re.sub(r"\W", "_", "__".join(str(part) for part in parts))


def _gradients() -> Iterator[Case]:
    """Convolutions' gradients, and what may follow a dgrad, which is a transposed convolution."""
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
            graph = _Graph(_key(pattern, dtype, layout, kind, f"w{window}", f"s{stride}"), layout)
            given = (output, filters) if mode == "dgrad" else (image, output)
            operands = [graph.argument(dims, dtype) for dims in given]
            pads = f"[{', '.join([str(window // 2)] * rank)}]"
            numbers = f"spatial_stride = {[stride] * rank} pre_padding = {pads} post_padding = {pads} dilation = {[1] * rank}"
            dims = image if mode == "dgrad" else filters
            here = graph.apply("convolution", operands, f"mode = {mode} type = f32 {numbers}", dims, "f32" if after else dtype)
            for i, role in enumerate(after):
                narrow = dtype if i + 1 == len(after) else "f32"
                here = _follow(graph, role, here, dims, dtype, narrow)
            cell = Cell(f"{mode}{rank}d", after[-1] if after else "anchor", dtype, layout, rank + 2, kind)
            yield _case(cell, pattern, graph, here, 64 // groups * _BYTES[dtype])


def _follow(graph: _Graph, role: str, here: tuple[str, str], dims: tuple[int, ...], dtype: str, result: str) -> tuple[str, str]:
    """A bias, scale, residual or relu on the running value."""
    if role == "relu":
        return graph.apply("pointwise relu_fwd", [here], "type = f32", dims, result)
    vector = (1, dims[1], *[1] * (len(dims) - 2)) if graph.layout != "row_major" else (*[1] * (len(dims) - 1), dims[-1])
    other = graph.argument(dims if role == "residual" else vector, dtype)
    return graph.apply("pointwise mul" if role == "scale" else "pointwise add", [here, other], "type = f32", dims, result)


_DTYPES = ("f16", "bf16", "f32")


def _narrow() -> Iterator[Case]:
    """Convolutions and products of fp8 and int8, plain and with what brings the sum back to a narrow type; and mixed results."""
    ends = ((), ("scale",), ("scale", "bias", "relu"))
    for dtype, layout, after in product(("f8E4M3FN", "f8E5M2", "i8"), ("channels_last", "row_major"), ends):
        wide = "i32" if dtype == "i8" else "f32"
        for result in (wide, "f16", dtype) if after else (wide, "f16"):
            anchor = "conv2d" if layout == "channels_last" else "matmul"
            pattern = "+".join((anchor, *after))
            graph = _Graph(_key(pattern, dtype, result), layout)
            if anchor == "conv2d":
                dims, operands = (4, 64, 16, 16), [graph.argument((4, 64, 16, 16), dtype), graph.argument((64, 64, 3, 3), dtype)]
                tail = f"type = {wide} spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]"
                here = graph.apply("convolution", operands, tail, dims, wide if after else result)
            else:
                dims = (4, 32, 64)
                operands = [graph.argument((4, 32, 128), dtype), graph.argument((4, 128, 64), dtype)]
                here = graph.apply("matmul", operands, f"type = {wide}", dims, wide if after else result)
            for i, role in enumerate(after):
                here = _follow(graph, role, here, dims, "f32", result if i + 1 == len(after) else "f32")
            role = "_".join((*(after or ("plain",)), "to", result))
            kind = "none" if anchor == "conv2d" else ""
            yield _case(Cell("convolution" if anchor == "conv2d" else anchor, role, dtype, layout, len(dims), kind), pattern, graph, here)


def _orders() -> Iterator[Case]:
    """Bias before residual, and residual before bias, as graphs: groups are reordered when they become graphs."""
    for dtype, after in product(_DTYPES, (("bias", "residual", "relu"), ("residual", "bias", "relu"))):
        graph = _Graph(_key("order", *after, dtype), "channels_last")
        dims = (4, 64, 16, 16)
        operands = [graph.argument(dims, dtype), graph.argument((64, 64, 3, 3), dtype)]
        tail = "type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]"
        here = graph.apply("convolution", operands, tail, dims, "f32")
        for i, role in enumerate(after):
            here = _follow(graph, role, here, dims, dtype, dtype if i + 1 == len(after) else "f32")
        yield _case(Cell("convolution", "_then_".join(after), dtype, "channels_last", 4, "none"), "+".join(("conv2d", *after)), graph, here)


def _shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    for layout in _LAYOUTS:
        yield layout, (4, 64, 16, 16)
    yield "row_major", (4, 64, 256)


def _pointwise() -> Iterator[Case]:
    """One pointwise operation alone."""
    for (layout, dims), dtype, mode in product(_shapes(), _DTYPES, (*_UNARY, *_BINARY)):
        if mode not in _EVERYWHERE and (layout == "channels_first" or dtype == "bf16"):
            continue
        graph = _Graph(_key("pointwise", mode, dtype, layout), layout)
        operands = [graph.argument(dims, dtype) for _ in range(1 if mode in _UNARY else 2)]
        result = "i1" if mode.startswith("cmp") else dtype
        here = graph.apply(f"pointwise {mode}", operands, "type = f32", dims, result)
        yield _case(Cell("pointwise", mode, dtype, layout, len(dims), ""), mode, graph, here)


def _reductions() -> Iterator[Case]:
    """One reduction alone."""
    for layout, dtype, mode, (name, kept) in product(_LAYOUTS, ("f32", "f16"), _REDUCTIONS, _KEPT.items()):
        dims = (4, 64, 16, 16)
        graph = _Graph(_key("reduction", mode, name, dtype, layout), layout)
        small = tuple(size if i in kept else 1 for i, size in enumerate(dims))
        here = graph.apply(f"reduction {mode}", [graph.argument(dims, dtype)], "type = f32", small, "f32")
        yield _case(Cell(f"reduction_{mode}", f"keeps_{name}", dtype, layout, 4, ""), f"reduction_{mode}", graph, here)


def _resampling() -> Iterator[Case]:
    """What no pooling op of tcp says: int8, interpolation."""
    dims = (4, 64, 16, 16)
    for layout, dtype, mode in product(_LAYOUTS, ("i8", *_DTYPES), ("maxpool", "avgpool_include_padding", "avgpool_exclude_padding")):
        graph = _Graph(_key("resample", mode, dtype, layout), layout)
        pad = "neg_inf_pad" if mode == "maxpool" else "zero_pad"
        compute = "f32"
        tail = f"type = {compute} window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = {pad}"
        here = graph.apply(f"resample {mode}", [graph.argument(dims, dtype)], tail, (4, 64, 8, 8), dtype)
        yield _case(Cell(f"resample_{mode}", "anchor", dtype, layout, 4, ""), f"resample_{mode}", graph, here)


def graph_cases() -> list[Case]:
    """Every graph of this part."""
    parts = (_gradients(), _narrow(), _orders(), _pointwise(), _reductions(), _resampling())
    return [case for part in parts for case in part]
