"""The calls of a builder, compared with the requirements of cuDNN's reference."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from payloads import (
    CONVOLUTION,
    CONVOLUTION_MODE,
    DATA_TYPE,
    FLAGS,
    GRAPH,
    NAN,
    OP_CONVOLUTION,
    OP_POINTWISE,
    POINTWISE,
    POINTWISE_MODE,
    TENSOR,
    boolean,
    enum,
    f32,
    f64,
    i64,
    refs,
    tensor,
)

_ROOT = Path(__file__).parents[3]


CONV_BIAS_RELU = """
module {
cudnn.graph @conv(%x: !cudnn.tensor_desc<8x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<128x64x3x3xf16, NHWC>,
                  %b: !cudnn.tensor_desc<1x128x1x1xf16, NHWC, alignment = 32>) -> !cudnn.tensor_desc<8x128x28x28xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 alpha = 0.5 spatial_stride = [2, 2] pre_padding = [1, 2] post_padding = [1, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x56x56xf16, NHWC>, !cudnn.tensor_desc<128x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x128x28x28xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32
      : !cudnn.tensor_desc<8x128x28x28xf32, NHWC>, !cudnn.tensor_desc<1x128x1x1xf16, NHWC, alignment = 32>
      -> !cudnn.tensor_desc<8x128x28x28xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32
      : !cudnn.tensor_desc<8x128x28x28xf32, NHWC> -> !cudnn.tensor_desc<8x128x28x28xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x128x28x28xf16, NHWC>
}
}
"""


@pytest.fixture(scope="module")
def conv(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    return build_library(CONV_BIAS_RELU, *FLAGS)


def test_conv_bias_relu(conv: ctypes.CDLL, recorder: type) -> None:
    record = recorder()
    assert record.build(conv, "conv_build") == 0
    assert record.errors == []
    half, single = 2, 0
    big, small = (200704, 1, 3584, 64), (100352, 1, 3584, 128)

    # Every tensor once: arguments, results, then the virtual ones. Exactly the intermediate tensors
    # are virtual.
    by_uid = {
        struct.unpack("<q", record.sets_of(number)[906][2])[0]: number
        for number in record.kind(TENSOR)
    }
    assert sorted(by_uid) == [1, 2, 3, 4, 5, 6]
    assert record.sets_of(by_uid[1]) == tensor(1, (8, 64, 56, 56), big, half, False)
    assert record.sets_of(by_uid[2]) == tensor(2, (128, 64, 3, 3), (576, 1, 192, 64), half, False)
    assert record.sets_of(by_uid[3]) == tensor(
        3, (1, 128, 1, 1), (128, 1, 128, 128), half, False, alignment=32
    )
    assert record.sets_of(by_uid[4]) == tensor(4, (8, 128, 28, 28), small, half, False)
    assert record.sets_of(by_uid[5]) == tensor(5, (8, 128, 28, 28), small, single, True)
    assert record.sets_of(by_uid[6]) == tensor(6, (8, 128, 28, 28), small, single, True)

    (convolution,) = record.kind(CONVOLUTION)
    assert record.sets_of(convolution) == {
        100: enum(DATA_TYPE, single),
        101: enum(CONVOLUTION_MODE, 1),
        106: i64(2),
        105: i64(1, 2),
        104: i64(1, 0),
        103: i64(2, 2),
        102: i64(1, 1),
    }
    (forward,) = record.kind(OP_CONVOLUTION)
    assert record.sets_of(forward) == {
        700: f32(0.5),
        701: f32(0.0),
        702: refs(convolution),
        704: refs(by_uid[1]),
        703: refs(by_uid[2]),
        705: refs(by_uid[5]),
    }
    add, relu = record.kind(POINTWISE)
    assert record.sets_of(add) == {0: enum(POINTWISE_MODE, 0), 1: enum(DATA_TYPE, single)}
    assert record.sets_of(relu) == {
        0: enum(POINTWISE_MODE, 100),
        1: enum(DATA_TYPE, single),
        2: enum(NAN, 1),
        3: f64(0.0),
    }
    op_add, op_relu = record.kind(OP_POINTWISE)
    # A chain passes tensors, never operations.
    assert record.sets_of(op_add) == {
        750: refs(add),
        751: refs(by_uid[5]),
        752: refs(by_uid[3]),
        753: refs(by_uid[6]),
    }
    assert record.sets_of(op_relu) == {750: refs(relu), 751: refs(by_uid[6]), 753: refs(by_uid[4])}
    (graph,) = record.kind(GRAPH)
    assert record.sets_of(graph) == {801: refs(forward, op_add, op_relu)}

    # All descriptors are finalized, the graph is the result, and everything else is destroyed.
    assert record.finalized == set(range(len(record.kinds)))
    assert record.result == graph
    assert record.alive == {graph}
    assert sorted(record.destroyed) == sorted(set(range(len(record.kinds))) - {graph})
    assert record.reports == []


def test_handle_is_set_when_there_is_one(conv: ctypes.CDLL, recorder: type) -> None:
    record = recorder()
    assert record.build(conv, "conv_build", handle=0x1234_5678_9ABC) == 0
    (graph,) = record.kind(GRAPH)
    assert record.sets_of(graph)[800] == (0, 1, struct.pack("<Q", 0x1234_5678_9ABC))


def test_report_names_the_line_of_the_op(conv: ctypes.CDLL, recorder: type) -> None:
    whole = recorder()
    whole.build(conv, "conv_build")
    number = next(
        i
        for i, (name, what) in enumerate(whole.calls)
        if name == "create" and what == OP_CONVOLUTION
    )
    record = recorder(fail_at=number)
    record.build(conv, "conv_build")
    line = 1 + CONV_BIAS_RELU[: CONV_BIAS_RELU.index("cudnn.convolution")].count("\n")
    assert record.reports == [
        (
            2003,
            "cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)",
            f"<stdin>:{line}",
        )
    ]


def test_five_dims_and_equal_operators(
    build_library: Callable[..., ctypes.CDLL], recorder: type
) -> None:
    x, w, y = (
        "!cudnn.tensor_desc<" + each + ">"
        for each in ("2x8x9x9x9xf32, NDHWC", "8x8x1x1x1xf32, NDHWC", "2x8x9x9x9xf32, NDHWC")
    )
    text = f"""
cudnn.graph @g(%x: {x}, %w: {w}, %z: {y}) -> ({y}, {y}) {{
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0] post_padding = [0, 0, 0]
      dilation = [1, 1, 1] : {x}, {w} -> {y}
  %1 = cudnn.pointwise add(%0, %z) type = f32 alpha2 = 2.0 : {y}, {y} -> {y}
  %2 = cudnn.pointwise add(%1, %z) type = f32 : {y}, {y} -> {y}
  cudnn.return %1, %2 : {y}, {y}
}}"""
    record = recorder()
    assert record.build(build_library(text, *FLAGS), "g_build") == 0
    assert record.errors == []
    by_uid = {
        struct.unpack("<q", record.sets_of(number)[906][2])[0]: number
        for number in record.kind(TENSOR)
    }
    assert record.sets_of(by_uid[1]) == tensor(1, (2, 8, 9, 9, 9), (5832, 1, 648, 72, 8), 0, False)
    # %1 is used inside the graph and is a result, so it is not virtual.
    assert [record.sets_of(by_uid[uid])[907] for uid in (4, 5, 6)] == [
        boolean(False),
        boolean(False),
        boolean(True),
    ]
    assert len(record.kind(POINTWISE)) == 1
    first, second = record.kind(OP_POINTWISE)
    assert record.sets_of(first)[755] == f32(2.0)
    assert 755 not in record.sets_of(second)


def test_low_ranks_and_double(build_library: Callable[..., ctypes.CDLL], recorder: type) -> None:
    text = """
cudnn.graph @g(%a: !cudnn.tensor_desc<4x6xf64>, %b: !cudnn.tensor_desc<1x6xf64>) -> !cudnn.tensor_desc<4x6xf64> {
  %0 = cudnn.pointwise mul(%a, %b) type = f64 alpha1 = 3.0
      : !cudnn.tensor_desc<4x6xf64>, !cudnn.tensor_desc<1x6xf64> -> !cudnn.tensor_desc<4x6xf64>
  cudnn.return %0 : !cudnn.tensor_desc<4x6xf64>
}"""
    record = recorder()
    assert record.build(build_library(text, *FLAGS), "g_build") == 0
    tensors = [record.sets_of(number) for number in record.kind(TENSOR)]
    assert tensors[0] == tensor(1, (1, 4, 6), (24, 6, 1), 1, False)
    assert tensors[1] == tensor(2, (1, 1, 6), (6, 6, 1), 1, False)
    (op,) = record.kind(OP_POINTWISE)
    assert record.sets_of(op)[754] == f64(3.0)


def test_gradients_use_their_own_attributes(
    build_library: Callable[..., ctypes.CDLL], recorder: type
) -> None:
    t = "!cudnn.tensor_desc<2x8x4x4xf32, NHWC>"
    text = f"""
cudnn.graph @g(%dy: {t}, %x: {t}) -> {t} {{
  %0 = cudnn.pointwise relu_bwd(%dy, %x) type = f32 upper_clip = 6.0 : {t}, {t} -> {t}
  cudnn.return %0 : {t}
}}"""
    record = recorder()
    assert record.build(build_library(text, *FLAGS), "g_build") == 0
    (op,) = record.kind(OP_POINTWISE)
    dy, x, dx = record.kind(TENSOR)
    (relu,) = record.kind(POINTWISE)
    assert record.sets_of(op) == {750: refs(relu), 757: refs(dy), 751: refs(x), 756: refs(dx)}
    assert record.sets_of(relu)[4] == f64(6.0)


def test_runtime_table_equals_the_header(convoy_opt: Callable[..., str]) -> None:
    """The struct of the lowering equals that of convoy_abi.h field by field, and each function is
    loaded from its field."""
    header = (_ROOT / "runtime/abi/convoy_abi.h").read_text()

    def fields(struct_name: str) -> list[tuple[str, str]]:
        body = re.search(
            rf"typedef struct {struct_name} {{(.*?)}} {struct_name};", header, re.DOTALL
        )
        assert body
        text = re.sub(r"//[^\n]*", "", body[1])
        found = []
        for line in (each.strip() for each in text.split(";")):
            if line:
                pointer = re.search(r"\(\*(\w+)\)", line)
                found.append(
                    (pointer[1], "ptr")
                    if pointer
                    else (line.split()[-1].lstrip("*"), "ptr" if "*" in line else "i32")
                )
        return found

    calls = convoy_opt(
        """
func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  cudnn_backend.execute_graph %runtime, call = 0 (%x) : memref<4xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [1, 1, 1] shared 0 (%x) : memref<4xf32>
  cudnn_backend.copy %runtime, %x, %x : memref<4xf32>, memref<4xf32>
  return %zero : i32
}""",
        "--convert-cudnn-backend-to-llvm",
    )
    tables = re.findall(r"getelementptr %arg0\[0, (\d+)\] : .*!llvm.struct<\((.*)\)>", calls)
    runtime = fields("ConvoyRuntime")
    assert {types for _, types in tables} == {", ".join(kind for _, kind in runtime)}
    assert [runtime[int(index)][0] for index, _ in tables] == [
        "execute_graph",
        "context",
        "launch_kernel",
        "context",
        "copy",
        "context",
    ]
