"""The real libcudnn, on a machine with no GPU and with no handle, finalizes what the builders make: every kind of graph, every dtype."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from convoy_runtime._abi import BUILD_GRAPH, ConvoyCudnn
from convoy_runtime.cuda._cudnn import Cudnn, open_cudnn
from convoy_runtime.errors import DeviceError

FLAGS = ("--convert-cudnn-graphs-to-backend",)
FLOATS = ("f16", "bf16", "f32")


def desc(dims: str, dtype: str, layout: str = "") -> str:
    return f"!cudnn.tensor_desc<{dims}x{dtype}{', ' + layout if layout else ''}>"


def conv(dims: int, x: str, w: str, y: str, *, stride: int = 1, pad: int = 0, dilation: int = 1, mode: str = "") -> str:
    def each(number: int) -> str:
        return "[" + ", ".join([str(number)] * dims) + "]"

    return (
        f"{mode}type = f32 spatial_stride = {each(stride)} pre_padding = {each(pad)} post_padding = {each(pad)} "
        f"dilation = {each(dilation)} : {x}, {w} -> {y}"
    )


def graph(name: str, arguments: dict[str, str], results: list[tuple[str, str]], *body: str) -> str:
    inputs = ", ".join(f"%{key}: {kind}" for key, kind in arguments.items())
    types = ", ".join(kind for _, kind in results)
    values = ", ".join(f"%{key}" for key, _ in results)
    return f"cudnn.graph @{name}({inputs}) -> ({types}) {{\n  " + "\n  ".join(body) + f"\n  cudnn.return {values} : {types}\n}}\n"


def conv_graphs(t: str) -> dict[str, str]:
    x, w, y = desc("8x64x56x56", t, "NHWC"), desc("64x64x3x3", t, "NHWC"), desc("8x64x56x56", t, "NHWC")
    v, b = desc("8x64x56x56", "f32", "NHWC"), desc("1x64x1x1", t, "NHWC")
    x1, w1, y1 = desc("4x16x100", t, "NWC"), desc("32x16x5", t, "NWC"), desc("4x32x100", t, "NWC")
    x3, w3, y3 = desc("2x16x8x12x12", t, "NDHWC"), desc("32x16x3x3x3", t, "NDHWC"), desc("2x32x8x12x12", t, "NDHWC")
    wg, wd, small = desc("64x16x3x3", t, "NHWC"), desc("64x1x3x3", t, "NHWC"), desc("8x64x28x28", t, "NHWC")
    add = "cudnn.pointwise add"
    return {
        "conv": graph("conv", {"x": x, "w": w}, [("y", y)], f"%y = cudnn.convolution(%x, %w) {conv(2, x, w, y, pad=1)}"),
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
        "conv_groups": graph("conv_groups", {"x": x, "w": wg}, [("y", y)], f"%y = cudnn.convolution(%x, %w) {conv(2, x, wg, y, pad=1)}"),
        "conv_depthwise": graph(
            "conv_depthwise", {"x": x, "w": wd}, [("y", y)], f"%y = cudnn.convolution(%x, %w) {conv(2, x, wd, y, pad=1)}"
        ),
        "conv_1d": graph("conv_1d", {"x": x1, "w": w1}, [("y", y1)], f"%y = cudnn.convolution(%x, %w) {conv(1, x1, w1, y1, pad=2)}"),
        "conv_3d": graph("conv_3d", {"x": x3, "w": w3}, [("y", y3)], f"%y = cudnn.convolution(%x, %w) {conv(3, x3, w3, y3, pad=1)}"),
        "dgrad": graph(
            "dgrad", {"dy": y, "w": w}, [("dx", x)], f"%dx = cudnn.convolution(%dy, %w) {conv(2, y, w, x, pad=1, mode='mode = dgrad ')}"
        ),
        "wgrad": graph(
            "wgrad", {"x": x, "dy": y}, [("dw", w)], f"%dw = cudnn.convolution(%x, %dy) {conv(2, x, y, w, pad=1, mode='mode = wgrad ')}"
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
        "matmul": graph("matmul", {"a": a, "b": b}, [("c", c)], f"%c = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c}"),
        "matmul_batches": graph(
            "matmul_batches", {"a": a4, "b": b4}, [("c", c4)], f"%c = cudnn.matmul(%a, %b) type = f32 : {a4}, {b4} -> {c4}"
        ),
        "matmul_bias_gelu": graph(
            "matmul_bias_gelu", {"a": a, "b": b, "bias": bias}, [("c", c)],
            f"%0 = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c32}",
            f"%1 = cudnn.pointwise add(%0, %bias) type = f32 : {c32}, {bias} -> {c32}",
            f"%c = cudnn.pointwise gelu_approx_tanh_fwd(%1) type = f32 : {c32} -> {c}",
        ),
        "reduce": graph("reduce", {"x": x}, [("y", g32)], f"%y = cudnn.reduction add(%x) type = f32 : {x} -> {g32}"),
        "maxpool": graph(
            "maxpool", {"x": x}, [("y", y)],
            f"%y = cudnn.resample maxpool(%x) type = f32 {pool} padding_mode = neg_inf_pad : {x} -> {y}",
        ),
        "avgpool_include": graph(
            "avgpool_include", {"x": x}, [("y", y)],
            f"%y = cudnn.resample avgpool_include_padding(%x) type = f32 {pool} padding_mode = zero_pad : {x} -> {y}",
        ),
        "avgpool_exclude": graph(
            "avgpool_exclude", {"x": x}, [("y", y)],
            f"%y = cudnn.resample avgpool_exclude_padding(%x) type = f32 {pool} padding_mode = zero_pad : {x} -> {y}",
        ),
        "avgpool_3d": graph(
            "avgpool_3d", {"x": x3}, [("y", y3)],
            "%y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [2, 2, 2] stride = [2, 2, 2] "
            f"pre_padding = [0, 0, 0] post_padding = [0, 0, 0] padding_mode = zero_pad : {x3} -> {y3}",
        ),
        "global_pool": graph(
            "global_pool", {"x": x}, [("y", g)],
            "%y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [56, 56] stride = [1, 1] "
            f"pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : {x} -> {g}",
        ),
        "rank_two": graph("rank_two", {"a": m, "b": row}, [("c", m)], f"%c = cudnn.pointwise mul(%a, %b) type = f32 : {m}, {row} -> {m}"),
    }  # fmt: skip


UNARY = [
    "abs", "ceil", "cos", "exp", "floor", "log", "neg", "rsqrt", "sin", "sqrt", "tan", "erf", "identity", "reciprocal",
    "relu_fwd", "tanh_fwd", "sigmoid_fwd", "elu_fwd", "gelu_fwd", "softplus_fwd", "swish_fwd", "gelu_approx_tanh_fwd",
]  # fmt: skip
BINARY = [
    "add", "add_square", "div", "max", "min", "mod", "mul", "pow", "sub",
]  # fmt: skip
COMPARE = [
    "cmp_eq", "cmp_neq", "cmp_gt", "cmp_ge", "cmp_lt", "cmp_le",
]  # fmt: skip
GRADIENT = [
    "relu_bwd", "tanh_bwd", "sigmoid_bwd", "elu_bwd", "gelu_bwd", "softplus_bwd", "swish_bwd", "gelu_approx_tanh_bwd",
]  # fmt: skip


def pointwise_graphs() -> dict[str, str]:
    x, flags = desc("8x64x16x16", "f32", "NHWC"), desc("8x64x16x16", "i1", "NHWC")
    found = {}
    for mode in UNARY:
        found[mode] = graph(mode, {"x": x}, [("y", x)], f"%y = cudnn.pointwise {mode}(%x) type = f32 : {x} -> {x}")
    for mode in BINARY + GRADIENT:
        found[mode] = graph(mode, {"a": x, "b": x}, [("y", x)], f"%y = cudnn.pointwise {mode}(%a, %b) type = f32 : {x}, {x} -> {x}")
    for mode in COMPARE:
        found[mode] = graph(mode, {"a": x, "b": x}, [("y", flags)], f"%y = cudnn.pointwise {mode}(%a, %b) type = f32 : {x}, {x} -> {flags}")
    for mode in ("logical_and", "logical_or"):
        found[mode] = graph(
            mode, {"a": flags, "b": flags}, [("y", flags)], f"%y = cudnn.pointwise {mode}(%a, %b) type = i1 : {flags}, {flags} -> {flags}"
        )
    found["logical_not"] = graph(
        "logical_not", {"a": flags}, [("y", flags)], f"%y = cudnn.pointwise logical_not(%a) type = i1 : {flags} -> {flags}"
    )
    found["binary_select"] = graph(
        "binary_select", {"a": x, "b": x, "c": flags}, [("y", x)],
        f"%y = cudnn.pointwise binary_select(%a, %b, %c) type = f32 : {x}, {x}, {flags} -> {x}",
    )  # fmt: skip
    found["gen_index"] = graph(
        "gen_index", {"a": x}, [("y", desc("8x64x16x16", "i32", "NHWC"))],
        f"%y = cudnn.pointwise gen_index(%a) type = i32 axis = 1 : {x} -> {desc('8x64x16x16', 'i32', 'NHWC')}",
    )  # fmt: skip
    small = desc("1x64x1x1", "f32", "NHWC")
    for mode in ("add", "mul", "min", "max", "amax"):
        found[f"reduce_{mode}"] = graph(
            f"reduce_{mode}", {"x": x}, [("y", small)], f"%y = cudnn.reduction {mode}(%x) type = f32 : {x} -> {small}"
        )
    return found


ALL = {f"{name}-{t}": (name, text) for t in FLOATS for name, text in (conv_graphs(t) | other_graphs(t)).items()}
ALL |= {name: (name, text) for name, text in pointwise_graphs().items()}


@pytest.fixture(scope="session")
def cudnn() -> Cudnn:
    try:
        return open_cudnn()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def library(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    """One library of every graph."""
    text = "".join(body.replace(f"@{name}(", f'@"{key}"(') for key, (name, body) in ALL.items())
    return build_library(text, *FLAGS)


@pytest.mark.parametrize("key", ALL)
def test_cudnn_takes(cudnn: Cudnn, library: ctypes.CDLL, key: str) -> None:
    failures: list[str] = []

    @ConvoyCudnn.REPORT
    def report(status: int, call: bytes, location: bytes) -> None:
        failures.append(str(cudnn.error(status, call.decode(), location.decode())))

    table = cudnn.table(report)
    result = ctypes.c_void_p()
    status = BUILD_GRAPH((f"{key}_build", library))(ctypes.byref(table), None, ctypes.byref(result))
    assert status == 0, failures
    assert failures == []
    # The operations that the graph was made of are destroyed, and the graph still knows them.
    count, written = ctypes.c_int64(), ctypes.c_int64()
    engine_global_count, int64 = 802, 3
    cudnn.call("cudnnBackendGetAttribute", result, engine_global_count, int64, 1, ctypes.byref(written), ctypes.byref(count))
    assert count.value > 0
    cudnn.call("cudnnBackendDestroyDescriptor", result)


def test_refusal_is_reported(cudnn: Cudnn, build_library: Callable[..., ctypes.CDLL]) -> None:
    """What cuDNN itself refuses comes back as its status, its call and the line; nothing is handed out."""
    text = """
cudnn_backend.func @bad_build(%handle) {
  %t = cudnn_backend.create <tensor>
  cudnn_backend.set %t, <tensor_data_type>, float : <tensor>
  cudnn_backend.set %t, <tensor_dimensions>, [1, 2, 0] : <tensor>
  cudnn_backend.set %t, <tensor_strides>, [2, 1, 1] : <tensor>
  cudnn_backend.set %t, <tensor_unique_id>, [1] : <tensor>
  cudnn_backend.set %t, <tensor_byte_alignment>, [16] : <tensor>
  cudnn_backend.finalize %t : <tensor>
  %matmul = cudnn_backend.create <matmul>
  cudnn_backend.set %matmul, <matmul_comp_type>, float : <matmul>
  cudnn_backend.finalize %matmul : <matmul>
  %op = cudnn_backend.create <operation_matmul>
  cudnn_backend.set %op, <operation_matmul_desc>, %matmul : <operation_matmul>, !cudnn_backend.descriptor<matmul>
  cudnn_backend.set %op, <operation_matmul_adesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_bdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.set %op, <operation_matmul_cdesc>, %t : <operation_matmul>, !cudnn_backend.descriptor<tensor>
  cudnn_backend.finalize %op : <operation_matmul>
  %graph = cudnn_backend.create <operationgraph>
  cudnn_backend.set %graph, <operationgraph_ops>, %op : <operationgraph>, !cudnn_backend.descriptor<operation_matmul>
  cudnn_backend.finalize %graph : <operationgraph>
  cudnn_backend.destroy %op : <operation_matmul>
  cudnn_backend.destroy %matmul : <matmul>
  cudnn_backend.destroy %t : <tensor>
  cudnn_backend.return %graph : <operationgraph>
}"""
    reports: list[tuple[int, str, str]] = []
    report = ConvoyCudnn.REPORT(lambda status, call, location: reports.append((status, call.decode(), location.decode())))
    table = cudnn.table(report)
    result = ctypes.c_void_p(1)
    status = BUILD_GRAPH(("bad_build", build_library(text)))(ctypes.byref(table), None, ctypes.byref(result))
    assert 2000 <= status < 3000, "CUDNN_STATUS_BAD_PARAM and its kinds"
    assert result.value is None
    ((reported, call, location),) = reports
    assert reported == status
    assert call.startswith("cudnnBackend")
    assert location.startswith("<stdin>:")
