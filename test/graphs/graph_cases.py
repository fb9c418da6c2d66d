"""The graphs that are compared with cudnn-frontend, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graph_pairs import Pair

__all__ = ["PAIRS"]

UNARY = (
    "abs", "ceil", "cos", "erf", "exp", "floor", "identity", "log", "logical_not", "neg",
    "reciprocal", "rsqrt", "sin", "sqrt", "tan",
    "elu_fwd", "gelu_approx_tanh_fwd", "gelu_fwd", "relu_fwd", "sigmoid_fwd", "softplus_fwd",
    "swish_fwd", "tanh_fwd",
)  # fmt: skip
BINARY = (
    "add", "add_square", "div", "max", "min", "mod", "mul", "pow", "sub", "cmp_eq", "cmp_ge",
    "cmp_gt", "cmp_le", "cmp_lt", "cmp_neq",
    "logical_and", "logical_or",
)  # fmt: skip
BACKWARD = ("elu", "gelu_approx_tanh", "gelu", "relu", "sigmoid", "softplus", "swish", "tanh")
REDUCTIONS = ("add", "amax", "max", "min", "mul")


def _convolutions() -> Iterator[Pair]:
    for dtype in ("f16", "bf16", "f32", "f64"):
        g = Pair(f"conv_{dtype}", compute="f64" if dtype == "f64" else "f32")
        x, w = g.tensor(8, 64, 56, 56, dtype=dtype), g.tensor(64, 64, 3, 3, dtype=dtype)
        g.output(g.conv(x, w, 8, 64, 56, 56, pre=(1, 1), dtype=dtype))
        yield g
    g = Pair("conv_int8", compute="i32")
    x, w = g.tensor(8, 64, 56, 56, dtype="i8"), g.tensor(64, 64, 1, 1, dtype="i8")
    g.output(g.conv(x, w, 8, 64, 56, 56, dtype="i32"))
    yield g
    g = Pair("conv_1d", layout="NWC")
    g.output(
        g.conv(
            g.tensor(4, 16, 100), g.tensor(32, 16, 5), 4, 32, 50, stride=(2,), pre=(2,), dtype="f16"
        )
    )
    yield g
    g = Pair("conv_3d", layout="NDHWC")
    x, w = g.tensor(2, 16, 8, 12, 12), g.tensor(32, 16, 3, 3, 3)
    g.output(g.conv(x, w, 2, 32, 8, 6, 12, stride=(1, 2, 1), pre=(1, 1, 1), dtype="f16"))
    yield g
    g = Pair("conv_asymmetric")
    x, w = g.tensor(8, 64, 56, 56), g.tensor(128, 64, 3, 3)
    g.output(g.conv(x, w, 8, 128, 28, 28, stride=(2, 2), pre=(1, 2), post=(1, 0), dtype="f16"))
    yield g
    g = Pair("conv_dilated")
    g.output(
        g.conv(
            g.tensor(8, 64, 56, 56),
            g.tensor(64, 64, 3, 3),
            8,
            64,
            56,
            56,
            pre=(2, 3),
            dilation=(2, 3),
            dtype="f16",
        )
    )
    yield g
    for name, channels in (("conv_groups", 16), ("conv_depthwise", 1)):
        g = Pair(name)
        g.output(
            g.conv(
                g.tensor(8, 64, 56, 56),
                g.tensor(64, channels, 3, 3),
                8,
                64,
                56,
                56,
                pre=(1, 1),
                dtype="f16",
            )
        )
        yield g
    g = Pair("conv_nchw", layout="NCHW")
    g.output(
        g.conv(
            g.tensor(8, 64, 56, 56), g.tensor(64, 64, 3, 3), 8, 64, 56, 56, pre=(1, 1), dtype="f16"
        )
    )
    yield g
    g = Pair("dgrad")
    g.output(
        g.conv(
            g.tensor(8, 128, 28, 28),
            g.tensor(128, 64, 3, 3),
            8,
            64,
            56,
            56,
            mode="dgrad",
            stride=(2, 2),
            pre=(1, 1),
            dtype="f16",
        )
    )
    yield g
    g = Pair("wgrad")
    x, dy = g.tensor(8, 64, 56, 56), g.tensor(8, 128, 28, 28)
    g.output(
        g.conv(
            x, dy, 128, 64, 3, 3, mode="wgrad", stride=(2, 2), pre=(1, 1), post=(0, 0), dtype="f32"
        )
    )
    yield g
    g = Pair("dgrad_3d", layout="NDHWC")
    g.output(
        g.conv(
            g.tensor(2, 32, 8, 12, 12),
            g.tensor(32, 16, 3, 3, 3),
            2,
            16,
            8,
            12,
            12,
            mode="dgrad",
            pre=(1, 1, 1),
            dtype="f16",
        )
    )
    yield g


def _fusions() -> Iterator[Pair]:
    g = Pair("conv_bias_residual_relu")
    x, w, b, z = (
        g.tensor(8, 64, 56, 56),
        g.tensor(64, 64, 3, 3),
        g.tensor(1, 64, 1, 1),
        g.tensor(8, 64, 56, 56),
    )
    y = g.pointwise("add", g.pointwise("add", g.conv(x, w, 8, 64, 56, 56, pre=(1, 1)), z), b)
    g.output(g.pointwise("relu_fwd", y, method="relu", dtype="f16"))
    yield g
    g = Pair("relu_conv_two_results")
    x, w = g.tensor(8, 64, 56, 56), g.tensor(64, 64, 1, 1)
    first = g.conv(
        g.pointwise("relu_fwd", x, method="relu", dtype="f16"), w, 8, 64, 56, 56, dtype="f16"
    )
    g.output(first, g.pointwise("tanh_fwd", first, method="tanh", dtype="f16"))
    yield g
    g = Pair("relu6")
    x = g.tensor(8, 64, 56, 56)
    attributes, keywords = "lower_clip = 0.5 upper_clip = 6.0", "lower_clip=0.5, upper_clip=6.0"
    g.output(
        g.pointwise(
            "relu_fwd", x, method="relu", dtype="f16", attributes=attributes, keywords=keywords
        )
    )
    yield g
    g = Pair("leaky_relu")
    x = g.tensor(8, 64, 56, 56)
    g.output(
        g.pointwise(
            "relu_fwd",
            x,
            method="relu",
            dtype="f16",
            attributes="lower_clip_slope = 0.125",
            keywords="negative_slope=0.125",
        )
    )
    yield g
    g = Pair("relu_backward_clipped")
    dy, x = g.tensor(8, 64, 56, 56), g.tensor(8, 64, 56, 56)
    g.output(
        g.pointwise(
            "relu_bwd",
            dy,
            x,
            method="relu_backward",
            dtype="f16",
            attributes="upper_clip = 6.0",
            keywords="upper_clip=6.0",
        )
    )
    yield g
    for mode, method, operands in (("swish_fwd", "swish", 1), ("swish_bwd", "swish_backward", 2)):
        g = Pair(f"{mode}_beta")
        values = [g.tensor(8, 64, 56, 56) for _ in range(operands)]
        g.output(
            g.pointwise(
                mode,
                *values,
                method=method,
                dtype="f16",
                attributes="swish_beta = 2.0",
                keywords="swish_beta=2.0",
            )
        )
        yield g
    g = Pair("gen_index", layout="NCHW")
    g.output(
        g.pointwise(
            "gen_index",
            g.tensor(8, 64, 56, 56),
            dtype="i32",
            attributes="axis = 2",
            keywords="axis=2",
        )
    )
    yield g
    g = Pair("binary_select")
    x, y, mask = (
        g.tensor(8, 64, 56, 56),
        g.tensor(8, 64, 56, 56),
        g.tensor(8, 64, 56, 56, dtype="i1"),
    )
    g.output(g.pointwise("binary_select", x, y, mask, dtype="f16"))
    yield g


def _pointwise() -> Iterator[Pair]:
    for mode in UNARY:
        g = Pair(mode)
        dtype = "i1" if mode == "logical_not" else "f16"
        g.output(
            g.pointwise(
                mode,
                g.tensor(8, 64, 56, 56, dtype=dtype),
                method=mode.removesuffix("_fwd"),
                dtype=dtype,
            )
        )
        yield g
    for mode in BINARY:
        g = Pair(mode)
        dtype = "i1" if mode.startswith("logical") else "f16"
        x, y = g.tensor(8, 64, 56, 56, dtype=dtype), g.tensor(1, 64, 1, 1, dtype=dtype)
        g.output(
            g.pointwise(mode, x, y, dtype="i1" if mode.startswith(("cmp", "logical")) else dtype)
        )
        yield g
    for mode in BACKWARD:
        g = Pair(f"{mode}_bwd")
        dy, x = g.tensor(8, 64, 56, 56), g.tensor(8, 64, 56, 56)
        g.output(g.pointwise(f"{mode}_bwd", dy, x, method=f"{mode}_backward", dtype="f16"))
        yield g


def _products() -> Iterator[Pair]:
    g = Pair("matmul", layout="")
    g.output(g.matmul(g.tensor(4, 32, 64), g.tensor(4, 64, 48), dtype="f16"))
    yield g
    g = Pair("matmul_broadcast", layout="")
    g.output(g.matmul(g.tensor(2, 3, 8, 16), g.tensor(1, 3, 16, 8), dtype="f16"))
    yield g
    g = Pair("matmul_bias_gelu", layout="")
    product = g.matmul(g.tensor(4, 32, 64), g.tensor(4, 64, 48))
    g.output(
        g.pointwise(
            "gelu_fwd", g.pointwise("add", product, g.tensor(1, 1, 48)), method="gelu", dtype="f16"
        )
    )
    yield g


def _reductions() -> Iterator[Pair]:
    for mode in REDUCTIONS:
        g = Pair(f"reduce_{mode}")
        g.output(g.reduction(mode, g.tensor(8, 64, 7, 7, dtype="f32"), 1, 64, 1, 1))
        yield g
    g = Pair("conv_reduce_add")
    x, w = g.tensor(8, 64, 56, 56), g.tensor(64, 64, 1, 1)
    g.output(g.reduction("add", g.conv(x, w, 8, 64, 56, 56), 1, 64, 1, 1))
    yield g


_FAMILIES: tuple[Callable[[], Iterator[Pair]], ...] = (
    _convolutions,
    _fusions,
    _pointwise,
    _products,
    _reductions,
)
PAIRS = {pair.name: pair for family in _FAMILIES for pair in family()}
