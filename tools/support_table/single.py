# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise operations, reductions and resampling, each alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["single_cases"]

_DTYPES = ("f16", "bf16", "f32")
_LAYOUTS = ("channels_last", "channels_first")
#: Modes that are queried in each layout.
_EVERYWHERE = ("identity", "add", "mul", "relu_fwd", "cmp_gt")
_UNARY = ("identity", "sqrt", "rsqrt", "abs", "ceil", "floor", "exp", "log", "neg", "sin", "cos",
"tan", "erf", "reciprocal", "relu_fwd",
          "tanh_fwd", "sigmoid_fwd", "elu_fwd", "gelu_fwd", "softplus_fwd", "swish_fwd",
          "gelu_approx_tanh_fwd")  # fmt: skip
_BINARY = ("add", "mul", "min", "max", "div", "sub", "pow", "mod", "add_square", "relu_bwd",
"tanh_bwd", "sigmoid_bwd", "elu_bwd",
           "gelu_bwd", "softplus_bwd", "swish_bwd", "gelu_approx_tanh_bwd", "cmp_eq",
           "cmp_neq", "cmp_gt", "cmp_ge", "cmp_lt", "cmp_le")  # fmt: skip
_REDUCTIONS = ("add", "mul", "min", "max", "amax")
#: Operators of the legacy API, with their numbers in cudnnReduceTensorOp_t. Dialect `cudnn_backend`
#: does not have them.
_LEGACY = {"avg": 5, "norm1": 6, "norm2": 7, "mul_no_zeros": 8}
#: The last one has no gradient.
_RESAMPLING = (
    "maxpool",
    "avgpool_include_padding",
    "avgpool_exclude_padding",
    "bilinear",
    "nearest",
)
#: The dims of N x C x H x W that a reduction keeps.
_KEPT = {
    "channels": (1,),
    "pixels": (0, 2, 3),
    "images_and_channels": (0, 1),
    "columns": (0, 1, 2),
    "nothing": (),
}


def _shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    for layout in _LAYOUTS:
        yield layout, (4, 64, 16, 16)
    yield "row_major", (4, 64, 256)


def _pointwise() -> Iterator[OperationCase]:
    for (layout, dims), dtype, mode in product(_shapes(), _DTYPES, (*_UNARY, *_BINARY)):
        if mode not in _EVERYWHERE and layout == "channels_first":
            continue
        axes: dict[str, str | int] = {"modes": mode, "dtypes": dtype, "layouts": layout}
        graph = GraphText(key_of("pointwise", mode, dtype, layout), layout)
        operands = [graph.argument(dims, dtype) for _ in range(1 if mode in _UNARY else 2)]
        y = graph.apply(
            f"pointwise {mode}",
            operands,
            "type = f32",
            dims,
            "i1" if mode.startswith("cmp") else dtype,
        )
        yield OperationCase(graph.key, "pointwise", axes, graph.text(y))


def _reductions() -> Iterator[OperationCase]:
    """Reductions from and to each dtype. Deterministic ones are further evidence, not an axis."""
    types = [
        (dtype, result)
        for dtype in (*_DTYPES, "f64", "i32", "i8")
        for result in dict.fromkeys(("f32", dtype))
    ]
    for layout, (dtype, result), mode, (name, kept) in product(
        _LAYOUTS, types, _REDUCTIONS, _KEPT.items()
    ):
        if name not in ("channels", "nothing") and (layout == "channels_first" or result != "f32"):
            continue
        axes: dict[str, str | int] = {
            "modes": mode,
            "dtypes": dtype,
            "result_dtypes": result,
            "layouts": layout,
            "keeps": name,
        }
        for fixed in ("", " is_deterministic = true") if name == "channels" else ("",):
            graph = GraphText(
                key_of("reduction", *axes.values(), *(["fixed"] if fixed else [])), layout
            )
            dims = (4, 64, 16, 16)
            small = tuple(size if i in kept else 1 for i, size in enumerate(dims))
            compute = dtype if dtype in ("i32", "f64") else "f32"
            y = graph.apply(
                f"reduction {mode}",
                [graph.argument(dims, dtype)],
                f"type = {compute}{fixed}",
                small,
                result,
            )
            yield OperationCase(graph.key, "reduction", axes, graph.text(y))
    for mode, number in _LEGACY.items():
        yield OperationCase(
            key_of("reduction", mode), "reduction", {"modes": mode}, reduction=number
        )


def _window(mode: str) -> tuple[str, int]:
    """Returns the attributes of a resampling, and the size of the result for size 16."""
    if mode in ("nearest", "bilinear"):
        # In units of half an element: a window of two elements with a stride of half an element.
        return (
            (
                "window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] "
                "denominator = 2 padding_mode = edge_val_pad"
            ),
            32,
        )
    pad = "neg_inf_pad" if mode == "maxpool" else "zero_pad"
    return (
        (
            "window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] "
            f"padding_mode = {pad}"
        ),
        8,
    )


def _resampling() -> Iterator[OperationCase]:
    """Pooling to half the size, also with the indices of maxima, and interpolation to twice the
    size."""
    for layout, dtype, mode in product(_LAYOUTS, ("i8", *_DTYPES), (*_RESAMPLING, "maxpool_index")):
        axes: dict[str, str | int] = {"modes": mode, "dtypes": dtype, "layouts": layout}
        graph = GraphText(key_of("resample", mode, dtype, layout), layout)
        base_mode = mode.removesuffix("_index")
        tail, size = _window(base_mode)
        results = [
            desc((4, 64, size, size), each, layout)
            for each in ([dtype] if base_mode == mode else [dtype, "i8"])
        ]
        outputs = graph.apply_many(
            f"resample {base_mode}",
            [graph.argument((4, 64, 16, 16), dtype)],
            f"type = f32 {tail}",
            results,
        )
        yield OperationCase(graph.key, "resample", axes, graph.text(*outputs))


def _resampling_gradients() -> Iterator[OperationCase]:
    """Gradients of resampling; of max pooling from the indices or from the values."""
    modes = [(mode, "nothing") for mode in _RESAMPLING[1:-1]] + [
        ("maxpool", "index"),
        ("maxpool", "values"),
    ]
    for layout, dtype, (mode, given) in product(_LAYOUTS, _DTYPES, modes):
        axes: dict[str, str | int] = {
            "modes": mode,
            "dtypes": dtype,
            "layouts": layout,
            "given": given,
        }
        graph = GraphText(key_of("resample_backward", *axes.values()), layout)
        tail, size = _window(mode)
        image, result = (4, 64, 16, 16), (4, 64, size, size)
        operands: dict[str, Value | None] = {"dy": graph.argument(result, dtype)}
        if given == "index":
            operands["index"] = graph.argument(result, "i8")
        elif given == "values":
            operands |= {"x": graph.argument(image, dtype), "y": graph.argument(result, dtype)}
        (dx,) = graph.named(
            f"resample_backward {mode} type = f32 {tail}",
            operands,
            {"dx": desc(image, dtype, layout)},
        )
        yield OperationCase(graph.key, "resample_backward", axes, graph.text(dx))


def single_cases() -> list[OperationCase]:
    """Returns every graph of this family."""
    return [
        case
        for cases in (_pointwise(), _reductions(), _resampling(), _resampling_gradients())
        for case in cases
    ]
