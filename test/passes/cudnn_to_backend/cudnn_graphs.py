"""Graphs of every kind, as text and by name."""

from __future__ import annotations

FLOATS = ("f16", "bf16", "f32")


def desc(dims: str, dtype: str, layout: str = "") -> str:
    return f"!cudnn.tensor_desc<{dims}x{dtype}{', ' + layout if layout else ''}>"


def conv(
    dims: int,
    x: str,
    w: str,
    y: str,
    *,
    stride: int = 1,
    pad: int = 0,
    dilation: int = 1,
    mode: str = "",
) -> str:
    def each(number: int) -> str:
        return "[" + ", ".join([str(number)] * dims) + "]"

    return (
        f"{mode}type = f32 spatial_stride = {each(stride)} pre_padding = {each(pad)} "
        f"post_padding = {each(pad)} "
        f"dilation = {each(dilation)} : {x}, {w} -> {y}"
    )


def graph(name: str, arguments: dict[str, str], results: list[tuple[str, str]], *body: str) -> str:
    inputs = ", ".join(f"%{key}: {kind}" for key, kind in arguments.items())
    types = ", ".join(kind for _, kind in results)
    values = ", ".join(f"%{key}" for key, _ in results)
    return (
        f'cudnn.graph @"{name}"({inputs}) -> ({types}) {{\n  '
        + "\n  ".join(body)
        + f"\n  cudnn.return {values} : {types}\n}}\n"
    )


def conv_graphs(t: str) -> dict[str, str]:
    x, w, y = (
        desc("8x64x56x56", t, "NHWC"),
        desc("64x64x3x3", t, "NHWC"),
        desc("8x64x56x56", t, "NHWC"),
    )
    v, b = desc("8x64x56x56", "f32", "NHWC"), desc("1x64x1x1", t, "NHWC")
    x1, w1, y1 = desc("4x16x100", t, "NWC"), desc("32x16x5", t, "NWC"), desc("4x32x100", t, "NWC")
    x3, w3, y3 = (
        desc("2x16x8x12x12", t, "NDHWC"),
        desc("32x16x3x3x3", t, "NDHWC"),
        desc("2x32x8x12x12", t, "NDHWC"),
    )
    wg, wd, small = (
        desc("64x16x3x3", t, "NHWC"),
        desc("64x1x3x3", t, "NHWC"),
        desc("8x64x28x28", t, "NHWC"),
    )
    add = "cudnn.pointwise add"
    return {
        "conv": graph("conv", {"x": x, "w": w}, [("y", y)],
        f"%y = cudnn.convolution(%x, %w) {conv(2, x, w, y, pad=1)}"),
        "conv_bias_relu": graph(
            "conv_bias_relu", {"x": x, "w": w, "b": b}, [("y", y)],
            f"%0 = cudnn.convolution(%x, %w) {conv(2, x, w, v, pad=1)}",
            f"%1 = {add}(%0, %b) type = f32 : {v}, {b} -> {v}",
            f"%y = cudnn.pointwise relu_fwd(%1) type = f32 : {v} -> {y}",
        ),
        "conv_residual_bias_relu": graph(
            "conv_residual_bias_relu", {"x": x, "w": w, "z": y, "b": b}, [("y", y)],
            f"%0 = cudnn.convolution(%x, %w) {conv(2, x, w, v, pad=1)}",
            f"%1 = {add}(%0, %z) type = f32 : {v}, {y} -> {v}",
            f"%2 = {add}(%1, %b) type = f32 : {v}, {b} -> {v}",
            f"%y = cudnn.pointwise relu_fwd(%2) type = f32 upper_clip = 6.0 : {v} -> {y}",
        ),
        "relu_conv": graph(
            "relu_conv", {"x": x, "w": w}, [("y", y)],
            f"%0 = cudnn.pointwise relu_fwd(%x) type = f32 : {x} -> {x}",
            f"%y = cudnn.convolution(%0, %w) {conv(2, x, w, y, pad=1)}",
        ),
        "conv_two_results": graph(
            "conv_two_results", {"x": x, "w": w, "b": b}, [("1", y), ("y", y)],
            f"%0 = cudnn.convolution(%x, %w) {conv(2, x, w, v, pad=1)}",
            f"%1 = {add}(%0, %b) type = f32 : {v}, {b} -> {y}",
            f"%y = cudnn.pointwise relu_fwd(%1) type = f32 : {y} -> {y}",
        ),
        "conv_stride_dilation": graph(
            "conv_stride_dilation", {"x": x, "w": w}, [("y", small)],
            f"%y = cudnn.convolution(%x, %w) {conv(2, x, w, small, stride=2, pad=2, dilation=2)}",
        ),
        "conv_groups": graph("conv_groups", {"x": x, "w": wg}, [("y", y)],
        f"%y = cudnn.convolution(%x, %w) {conv(2, x, wg, y, pad=1)}"),
        "conv_depthwise": graph(
            "conv_depthwise", {"x": x, "w": wd}, [("y", y)],
            f"%y = cudnn.convolution(%x, %w) {conv(2, x, wd, y, pad=1)}"
        ),
        "conv_1d": graph("conv_1d", {"x": x1, "w": w1}, [("y", y1)],
        f"%y = cudnn.convolution(%x, %w) {conv(1, x1, w1, y1, pad=2)}"),
        "conv_3d": graph("conv_3d", {"x": x3, "w": w3}, [("y", y3)],
        f"%y = cudnn.convolution(%x, %w) {conv(3, x3, w3, y3, pad=1)}"),
        "dgrad": graph(
            "dgrad", {"dy": y, "w": w}, [("dx", x)],
            ("%dx = cudnn.convolution(%dy, %w) " f"{conv(2, y, w, x, pad=1, mode='mode = dgrad ')}")
        ),
        "wgrad": graph(
            "wgrad", {"x": x, "dy": y}, [("dw", w)],
            ("%dw = cudnn.convolution(%x, %dy) " f"{conv(2, x, y, w, pad=1, mode='mode = wgrad ')}")
        ),
    }  # fmt: skip


def other_graphs(t: str) -> dict[str, str]:
    a, b, c = desc("4x32x64", t), desc("4x64x48", t), desc("4x32x48", t)
    bias, c32 = desc("1x1x48", t), desc("4x32x48", "f32")
    a4, b4, c4 = desc("2x3x8x16", t), desc("2x3x16x8", t), desc("2x3x8x8", t)
    x, y, g, g32 = (
        desc("8x64x56x56", t, "NHWC"),
        desc("8x64x28x28", t, "NHWC"),
        desc("8x64x1x1", t, "NHWC"),
        desc("8x64x1x1", "f32", "NHWC"),
    )
    m, row = desc("6x10", t), desc("1x10", t)
    pool = "window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]"
    x3, y3 = desc("2x8x8x8x8", t, "NDHWC"), desc("2x8x4x4x4", t, "NDHWC")
    return {
        "matmul": graph("matmul", {"a": a, "b": b}, [("c", c)],
        f"%c = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c}"),
        "matmul_batches": graph(
            "matmul_batches", {"a": a4, "b": b4}, [("c", c4)],
            f"%c = cudnn.matmul(%a, %b) type = f32 : {a4}, {b4} -> {c4}"
        ),
        "matmul_bias_gelu": graph(
            "matmul_bias_gelu", {"a": a, "b": b, "bias": bias}, [("c", c)],
            f"%0 = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c32}",
            f"%1 = cudnn.pointwise add(%0, %bias) type = f32 : {c32}, {bias} -> {c32}",
            f"%c = cudnn.pointwise gelu_approx_tanh_fwd(%1) type = f32 : {c32} -> {c}",
        ),
        "reduce": graph("reduce", {"x": x}, [("y", g32)],
        f"%y = cudnn.reduction add(%x) type = f32 : {x} -> {g32}"),
        "maxpool": graph(
            "maxpool", {"x": x}, [("y", y)],
            (f"%y = cudnn.resample maxpool(%x) type = f32 {pool} padding_mode = " f"neg_inf_pad : {x} -> {y}"),
        ),
        "avgpool_include": graph(
            "avgpool_include", {"x": x}, [("y", y)],
            (f"%y = cudnn.resample avgpool_include_padding(%x) type = f32 {pool} " f"padding_mode = zero_pad : {x} -> {y}"),
        ),
        "avgpool_exclude": graph(
            "avgpool_exclude", {"x": x}, [("y", y)],
            (f"%y = cudnn.resample avgpool_exclude_padding(%x) type = f32 {pool} " f"padding_mode = zero_pad : {x} -> {y}"),
        ),
        "avgpool_3d": graph(
            "avgpool_3d", {"x": x3}, [("y", y3)],
            "%y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [2, 2, " "2] stride = [2, 2, 2] "
            "pre_padding = [0, 0, 0] post_padding = [0, 0, 0] padding_mode = zero_pad : " f"{x3} -> {y3}",
        ),
        "global_pool": graph(
            "global_pool", {"x": x}, [("y", g)],
            "%y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [56, " "56] stride = [1, 1] "
            f"pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : {x} -> {g}",
        ),
        "rank_two": graph("rank_two", {"a": m, "b": row}, [("c", m)],
        f"%c = cudnn.pointwise mul(%a, %b) type = f32 : {m}, {row} -> {m}"),
    }  # fmt: skip


UNARY = [
    "abs", "ceil", "cos", "exp", "floor", "log", "neg", "rsqrt", "sin", "sqrt", "tan", "erf",
    "identity", "reciprocal",
    "relu_fwd", "tanh_fwd", "sigmoid_fwd", "elu_fwd", "gelu_fwd", "softplus_fwd", "swish_fwd",
    "gelu_approx_tanh_fwd",
]  # fmt: skip
BINARY = [
    "add", "add_square", "div", "max", "min", "mod", "mul", "pow", "sub",
]  # fmt: skip
COMPARE = [
    "cmp_eq", "cmp_neq", "cmp_gt", "cmp_ge", "cmp_lt", "cmp_le",
]  # fmt: skip
GRADIENT = [
    "relu_bwd", "tanh_bwd", "sigmoid_bwd", "elu_bwd", "gelu_bwd", "softplus_bwd", "swish_bwd",
    "gelu_approx_tanh_bwd",
]  # fmt: skip


def pointwise_graphs() -> dict[str, str]:
    x, flags = desc("8x64x16x16", "f32", "NHWC"), desc("8x64x16x16", "i1", "NHWC")
    found = {}
    for mode in UNARY:
        found[mode] = graph(
            mode, {"x": x}, [("y", x)], f"%y = cudnn.pointwise {mode}(%x) type = f32 : {x} -> {x}"
        )
    for mode in BINARY + GRADIENT:
        found[mode] = graph(
            mode,
            {"a": x, "b": x},
            [("y", x)],
            f"%y = cudnn.pointwise {mode}(%a, %b) type = f32 : {x}, {x} -> {x}",
        )
    for mode in COMPARE:
        found[mode] = graph(
            mode,
            {"a": x, "b": x},
            [("y", flags)],
            f"%y = cudnn.pointwise {mode}(%a, %b) type = f32 : {x}, {x} -> {flags}",
        )
    for mode in ("logical_and", "logical_or"):
        found[mode] = graph(
            mode,
            {"a": flags, "b": flags},
            [("y", flags)],
            f"%y = cudnn.pointwise {mode}(%a, %b) type = i1 : {flags}, {flags} -> {flags}",
        )
    found["logical_not"] = graph(
        "logical_not",
        {"a": flags},
        [("y", flags)],
        f"%y = cudnn.pointwise logical_not(%a) type = i1 : {flags} -> {flags}",
    )
    found["binary_select"] = graph(
        "binary_select", {"a": x, "b": x, "c": flags}, [("y", x)],
        f"%y = cudnn.pointwise binary_select(%a, %b, %c) type = f32 : {x}, {x}, {flags} -> {x}",
    )  # fmt: skip
    found["gen_index"] = graph(
        "gen_index", {"a": x}, [("y", desc("8x64x16x16", "i32", "NHWC"))],
        (f"%y = cudnn.pointwise gen_index(%a) type = i32 axis = 1 : {x} -> " f"{desc('8x64x16x16', 'i32', 'NHWC')}"),
    )  # fmt: skip
    small = desc("1x64x1x1", "f32", "NHWC")
    for mode in ("add", "mul", "min", "max", "amax"):
        found[f"reduce_{mode}"] = graph(
            f"reduce_{mode}",
            {"x": x},
            [("y", small)],
            f"%y = cudnn.reduction {mode}(%x) type = f32 : {x} -> {small}",
        )
    return found


def tensor_graphs() -> dict[str, str]:
    """Tensors with attributes in addition to shape, strides and a float type."""
    found = {}

    def identity(name: str, kind: str) -> None:
        found[name] = graph(
            name,
            {"x": kind},
            [("y", kind)],
            f"%y = cudnn.pointwise identity(%x) type = f32 : {kind} -> {kind}",
        )

    for t in (
        "f64",
        "f8E4M3FN",
        "f8E5M2",
        "f8E8M0FNU",
        "f4E2M1FN",
        "i64",
        "i32",
        "ui32",
        "i8",
        "ui8",
        "i4",
        "ui4",
        "complex<f32>",
        "complex<f64>",
    ):
        identity("tensor_" + t.replace("<", "_").rstrip(">"), desc("8x64x16x16", t, "NHWC"))
    identity("tensor_i1", desc("8x64x16x16", "i1", "NHWC"))
    identity(
        "tensor_ui8x4", desc("8x16x16x16", "ui8", "vector_count = 4, vectorized_dimension = 1")
    )
    for reordering, t in (("int8x32", "i8"), ("f16x16", "f16"), ("f8_128x4", "f8E8M0FNU")):
        identity(f"tensor_{reordering}", desc("1x128x64", t, f"reordering = {reordering}"))
    for count in (4, 32):
        layout = f"NCHW, vector_count = {count}, vectorized_dimension = 1"
        x, w = (
            desc(f"8x{64 // count}x16x16", "i8", layout),
            desc(
                f"64x{64 // count}x3x3",
                "i8",
                layout + (", reordering = int8x32" if count == 32 else ""),
            ),
        )
        name = f"conv_int8x{count}"
        text = f"%y = cudnn.convolution(%x, %w) {conv(2, x, w, x, pad=1)}".replace(
            "type = f32", "type = i32"
        )
        found[name] = graph(name, {"x": x, "w": w}, [("y", x)], text)
    x, s = desc("8x64x16x16", "f16", "NHWC"), desc("1x1x1x1", "f32")
    found["by_value"] = graph(
        "by_value",
        {"x": x, "s": s + " {cudnn.by_value}"},
        [("y", x)],
        f"%y = cudnn.pointwise mul(%x, %s) type = f32 : {x}, {s} -> {x}",
    )
    a, b, c, o = (
        desc("4x32x64", "f16"),
        desc("4x64x48", "f16"),
        desc("4x32x48", "f16"),
        desc("5x1x1", "i32"),
    )
    found["ragged"] = graph(
        "ragged",
        {"a": a + " {cudnn.ragged_offset = 2 : i64}", "b": b, "o": o},
        [("c", c)],
        f"%c = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c}",
    )
    return found


def operation_graphs() -> dict[str, str]:
    """Operations with their optional attributes and operands."""
    found = {}
    for dims, (x, w, y) in {
        1: ("8x4x16x16", "4x32x16x3", "8x4x32x16"),
        2: ("8x4x16x16x16", "4x32x16x3x3", "8x4x32x16x16"),
        3: ("8x4x16x8x8x8", "4x32x16x3x3x3", "8x4x32x8x8x8"),
    }.items():
        kinds = {"x": desc(x, "f16"), "w": desc(w, "f16"), "y": desc(y, "f16")}
        for mode, first, second, result in (
            ("fprop", "x", "w", "y"),
            ("dgrad", "y", "w", "x"),
            ("wgrad", "x", "y", "w"),
        ):
            name = f"groups_{mode}_{dims}d"
            text = conv(
                dims, kinds[first], kinds[second], kinds[result], pad=1, mode=f"mode = {mode} "
            )
            found[name] = graph(
                name,
                {"a": kinds[first], "b": kinds[second]},
                [("c", kinds[result])],
                f"%c = cudnn.convolution(%a, %b) {text}",
            )
    x, w = desc("8x64x16x16", "f64", "NHWC"), desc("64x64x3x3", "f64", "NHWC")
    text = conv(2, x, w, x, pad=1, mode="kind = convolution ").replace(
        "type = f32", "type = f64 alpha = 0.1 beta = 0.5"
    )
    found["conv_double"] = graph(
        "conv_double", {"x": x, "w": w}, [("y", x)], f"%y = cudnn.convolution(%x, %w) {text}"
    )
    fast = "!cudnn.fast_float_for_fp8"
    x, w, y = (
        desc("8x64x16x16", "f8E4M3FN", "NHWC"),
        desc("64x64x3x3", "f8E4M3FN", "NHWC"),
        desc("8x64x16x16", "f32", "NHWC"),
    )
    text = conv(2, x, w, y, pad=1).replace("type = f32", f"type = {fast}")
    found["conv_fp8"] = graph(
        "conv_fp8", {"x": x, "w": w}, [("y", y)], f"%y = cudnn.convolution(%x, %w) {text}"
    )
    a, b, c, n = (
        desc("8x32x64", "f16"),
        desc("2x64x48", "f16"),
        desc("8x32x48", "f16"),
        desc("8x1x1", "i32"),
    )
    found["matmul_shared_batch"] = graph(
        "matmul_shared_batch",
        {"a": a, "b": b},
        [("c", c)],
        f"%c = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c}",
    )
    b = desc("8x64x48", "f16")
    overrides = (
        f"m_override(%m : {n}) n_override(%n : {n}) k_override(%k : {n}) padding_value = 1.0"
    )
    found["matmul_overrides"] = graph(
        "matmul_overrides",
        {"a": a, "b": b, "m": n, "n": n, "k": n},
        [("c", c)],
        f"%c = cudnn.matmul(%a, %b) type = f32 {overrides} : {a}, {b} -> {c}",
    )
    x, y, i, z = (
        desc("8x64x56x56", "f16", "NHWC"),
        desc("8x64x28x28", "f16", "NHWC"),
        desc("8x64x28x28", "i8", "NHWC"),
        desc("8x64x112x112", "f16", "NHWC"),
    )
    pool = "window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]"
    found["maxpool_index"] = graph(
        "maxpool_index", {"x": x}, [("y", y), ("i", i)],
        (f"%y, %i = cudnn.resample maxpool(%x) type = f32 {pool} padding_mode = " f"neg_inf_pad alpha = 2.0 beta = 0.5 : {x} -> {y}, {i}"),
    )  # fmt: skip
    for mode in ("nearest", "bilinear"):
        for padding in ("zero_pad", "edge_val_pad"):
            up = (
                "window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] "
                "denominator = 2"
            )
            down = "window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0]"
            for suffix, window, result in (("up", up, z), ("down", down, y)):
                name = f"{mode}_{padding}_{suffix}"
                found[name] = graph(
                    name,
                    {"x": x},
                    [("y", result)],
                    (
                        f"%y = cudnn.resample {mode}(%x) type = f32 {window} padding_mode = "
                        f"{padding} : {x} -> {result}"
                    ),
                )
    x, y = desc("8x64x16x16", "f32", "NHWC"), desc("1x64x1x1", "f32", "NHWC")
    found["reduce_deterministic"] = graph(
        "reduce_deterministic",
        {"x": x},
        [("y", y)],
        f"%y = cudnn.reduction add(%x) type = f32 is_deterministic = true : {x} -> {y}",
    )
    for mode, extra in {
        "relu_fwd": (
            "lower_clip = -1.0 upper_clip = 6.0 lower_clip_slope = 0.1 nan_propagation = "
            "not_propagate_nan"
        ),
        "elu_fwd": "elu_alpha = 0.5",
        "softplus_fwd": "softplus_beta = 2.0",
        "swish_fwd": "swish_beta = 2.0",
    }.items():
        name = f"{mode}_parameters"
        found[name] = graph(
            name,
            {"x": x},
            [("y", x)],
            f"%y = cudnn.pointwise {mode}(%x) type = f32 {extra} : {x} -> {x}",
        )
    text = (
        f"%y = cudnn.pointwise atan2(%x, %z) type = f32 alpha1 = 2.0 alpha2 = 3.0 : {x}, {x} -> {x}"
    )
    found["atan2_factors"] = graph("atan2_factors", {"x": x, "z": x}, [("y", x)], text)
    return found


def all_graphs() -> dict[str, tuple[str, str]]:
    """Every graph: a unique key, the graph's name in its text, and the text."""
    found = {
        f"{name}-{t}": (name, text)
        for t in FLOATS
        for name, text in (conv_graphs(t) | other_graphs(t)).items()
    }
    return found | {
        name: (name, text)
        for name, text in (pointwise_graphs() | tensor_graphs() | operation_graphs()).items()
    }
