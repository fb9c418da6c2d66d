"""One test for each way in which a lowering of graphs to descriptors can be wrong without an
obvious symptom.

The names state what must not happen. Numbers are copied by hand from cudnn_graph.h.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from typing import Any

import pytest

(
    POINTWISE,
    CONVOLUTION,
    FORWARD,
    OP_POINTWISE,
    GRAPH,
    TENSOR,
    OP_MATMUL,
    OP_REDUCTION,
    OP_RESAMPLE,
) = 0, 1, 10, 13, 15, 17, 19, 22, 25
HANDLE_TYPE, FLOAT, INT64, DESCRIPTOR = 0, 4, 3, 15
DATA_TYPE_OF_A_TENSOR, DIMENSIONS, STRIDES, UID, IS_VIRTUAL = 901, 902, 903, 906, 907
FLAGS = (
    "--add-runtime-argument",
    "--convert-cudnn-execute-to-backend",
    "--convert-cudnn-graphs-to-backend",
)

#: A convolution over three dims with bias and relu: five dims, a chain of three operations, two
#: intermediate tensors.
CHAIN = """
!x = !cudnn.tensor_desc<2x8x9x10x11xf16, NDHWC>
!w = !cudnn.tensor_desc<16x8x1x1x1xf16, NDHWC>
!b = !cudnn.tensor_desc<1x16x1x1x1xf16, NDHWC>
!v = !cudnn.tensor_desc<2x16x9x10x11xf32, NDHWC>
!y = !cudnn.tensor_desc<2x16x9x10x11xf16, NDHWC>
cudnn.graph @chain(%x: !x, %w: !w, %b: !b) -> !y {
  %0 = cudnn.convolution(%x, %w) type = f32 alpha = 0.5 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0] post_padding = [0, 0, 0]
      dilation = [1, 1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !v -> !y
  cudnn.return %2 : !y
}
"""
UIDS = {"x": 1, "w": 2, "b": 3, "y": 4, "conv": 5, "add": 6}


@pytest.fixture(scope="module")
def chain(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    return build_library(CHAIN, *FLAGS)


@pytest.fixture
def built(chain: ctypes.CDLL, recorder: type) -> Any:
    record = recorder()
    assert record.build(chain, "chain_build", handle=0x1234_5678_9ABC) == 0
    return record


def _by_uid(record: Any) -> dict[int, int]:
    return {
        struct.unpack("<q", record.sets_of(number)[UID][2])[0]: number
        for number in record.kind(TENSOR)
    }


def test_no_operation_is_skipped(build_library: Callable[..., ctypes.CDLL], recorder: type) -> None:
    x, g, m = (
        "!cudnn.tensor_desc<2x8x8x8xf32, NHWC>",
        "!cudnn.tensor_desc<2x8x1x1xf32, NHWC>",
        "!cudnn.tensor_desc<2x8x8xf32>",
    )
    window = (
        "window = [8, 8] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] "
        "padding_mode = zero_pad"
    )
    kinds = {
        "conv": (FORWARD, x,
        "cudnn.convolution(%x, %x) type = f32 spatial_stride = [1, 1] pre_padding = [0, " "0] post_padding = [7, 7] "
                 f"dilation = [1, 1] : {x}, {x} -> !cudnn.tensor_desc<2x2x8x8xf32, NHWC>",
                 "!cudnn.tensor_desc<2x2x8x8xf32, NHWC>"),
        "matmul": (OP_MATMUL, m, f"cudnn.matmul(%x, %x) type = f32 : {m}, {m} -> {m}", m),
        "add": (OP_POINTWISE, x, f"cudnn.pointwise add(%x, %x) type = f32 : {x}, {x} -> {x}", x),
        "reduction": (OP_REDUCTION, x, f"cudnn.reduction add(%x) type = f32 : {x} -> {g}", g),
        "pool": (OP_RESAMPLE, x,
        f"cudnn.resample avgpool_include_padding(%x) type = f32 {window} : {x} -> {g}", g),
    }  # fmt: skip
    text = "".join(
        (
            f"cudnn.graph @{name}(%x: {argument}) -> {result} {{\n  %y = {op}\n  cudnn.return "
            f"%y : {result}\n}}\n"
        )
        for name, (_, argument, op, result) in kinds.items()
    )
    library = build_library(text, *FLAGS)
    for name, (kind, *_) in kinds.items():
        record = recorder()
        assert record.build(library, f"{name}_build") == 0
        (operation,) = record.kind(kind)
        assert record.sets_of(record.result)[801] == (DESCRIPTOR, 1, (operation,)), name


def test_virtual_is_not_inverted(built: Any) -> None:
    tensors = _by_uid(built)
    virtual = {name: built.sets_of(tensors[uid])[IS_VIRTUAL][2] for name, uid in UIDS.items()}
    assert virtual == {"x": b"\0", "w": b"\0", "b": b"\0", "y": b"\0", "conv": b"\1", "add": b"\1"}


def test_a_result_is_not_mapped_to_its_operation(built: Any) -> None:
    """An operation passes a tensor to the next one, not its own descriptor."""
    tensors = _by_uid(built)
    add, relu = built.kind(OP_POINTWISE)
    assert built.sets_of(add)[751] == (DESCRIPTOR, 1, (tensors[UIDS["conv"]],))
    assert built.sets_of(relu)[751] == (DESCRIPTOR, 1, (tensors[UIDS["add"]],))
    for number in built.kind(FORWARD) + built.kind(OP_POINTWISE):
        held = [
            each
            for _, _, elements in built.sets_of(number).values()
            if isinstance(elements, tuple)
            for each in elements
        ]
        assert {built.kinds[each] for each in held} <= {TENSOR, CONVOLUTION, POINTWISE}


def test_descriptors_and_the_handle_are_not_passed_by_value(built: Any) -> None:
    """The recorder dereferences each address once: a descriptor passed by value would be read as an
    address of an unknown descriptor."""
    assert built.errors == []
    assert built.sets_of(built.result)[800] == (HANDLE_TYPE, 1, struct.pack("<Q", 0x1234_5678_9ABC))
    assert all(
        isinstance(what.elements, tuple)
        for name, what in built.calls
        if name == "set" and what.type == DESCRIPTOR
    )


def test_no_descriptor_has_another_kind_s_attributes(built: Any) -> None:
    ranges = {
        TENSOR: (900, 999),
        CONVOLUTION: (100, 199),
        FORWARD: (700, 705),
        POINTWISE: (0, 99),
        OP_POINTWISE: (750, 769),
    }
    ranges[GRAPH] = (800, 899)
    for number, kind in enumerate(built.kinds):
        first, last = ranges[kind]
        assert all(first <= attribute <= last for attribute in built.sets_of(number)), kind


def test_elements_do_not_have_the_wrong_size(built: Any, convoy_opt: Callable[..., str]) -> None:
    tensors = _by_uid(built)
    # All five dims are set, and alpha is a float, as its type says.
    assert built.sets_of(tensors[1])[DIMENSIONS] == (INT64, 5, struct.pack("<5q", 2, 8, 9, 10, 11))
    assert built.sets_of(tensors[1])[STRIDES] == (INT64, 5, struct.pack("<5q", 7920, 1, 880, 88, 8))
    (forward,) = built.kind(FORWARD)
    assert built.sets_of(forward)[700] == (FLOAT, 1, struct.pack("<f", 0.5))
    # Enumerators take four bytes, booleans one, lists eight per number; the next text follows
    # directly.
    lowered = convoy_opt(CHAIN, *FLAGS, "--convert-cudnn-backend-to-llvm")
    (quoted,) = re.findall(r'constant @cudnn_call_data\("(.*?)"\)', lowered)
    data = re.sub(
        rb"\\([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), quoted.encode()
    )

    def stored(attribute: str) -> tuple[int, bytes]:
        begin = data.index(f"({attribute})\0".encode()) + len(attribute) + 3
        begin += -begin % 8
        (count,) = struct.unpack_from("<q", data, begin)
        return count, data[begin + 8 : data.index(b"cudnn", begin)]

    assert stored("CUDNN_ATTR_TENSOR_DATA_TYPE") == (1, struct.pack("<i", 2))
    assert stored("CUDNN_ATTR_TENSOR_DIMENSIONS") == (5, struct.pack("<5q", 2, 8, 9, 10, 11))
    assert stored("CUDNN_ATTR_TENSOR_IS_VIRTUAL") == (1, b"\0")
    assert stored("CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA") == (1, struct.pack("<f", 0.5))


def test_nothing_is_left_undestroyed(built: Any) -> None:
    assert len(built.kinds) == 6 + 1 + 2 + 3 + 1
    assert sorted(built.destroyed) == sorted(set(range(len(built.kinds))) - {built.result})
    assert built.alive == {built.result}


def test_no_status_goes_unchecked(chain: ctypes.CDLL, recorder: type) -> None:
    whole = recorder()
    whole.build(chain, "chain_build", handle=1)
    for number in range(len(whole.calls)):
        record = recorder(fail_at=number, status=3000)
        assert record.build(chain, "chain_build", handle=1) == 3000
        assert record.alive == set()


def test_no_data_type_is_unknown(build_library: Callable[..., ctypes.CDLL], recorder: type) -> None:
    numbers = {
        "f64": 1,
        "f32": 0,
        "f16": 2,
        "bf16": 9,
        "i8": 3,
        "ui8": 6,
        "i32": 4,
        "i64": 10,
        "i1": 11,
        "f8E4M3FN": 12,
        "f8E5M2": 13,
    }
    text = ""
    for element in numbers:
        x = f"!cudnn.tensor_desc<2x4x4x{element}>"
        text += (
            f"cudnn.graph @{element}(%x: {x}) -> {x} {{\n  %y = cudnn.pointwise abs(%x) type "
            f"= f32 : {x} -> {x}\n"
        )
        text += f"  cudnn.return %y : {x}\n}}\n"
    library = build_library(text, *FLAGS)
    for element, number in numbers.items():
        record = recorder()
        assert record.build(library, f"{element}_build") == 0
        assert len(record.kind(TENSOR)) == 2
        for tensor in record.kind(TENSOR):
            assert record.sets_of(tensor)[DATA_TYPE_OF_A_TENSOR] == (
                1,
                1,
                struct.pack("<i", number),
            ), element


def test_no_graph_call_remains(convoy_opt: Callable[..., str]) -> None:
    """The inline form, its handle and its execution all become calls; nothing remains for a pass
    that does not exist."""
    t = "!cudnn.tensor_desc<4x8x8xf32>"
    text = f"""
func.func @main(%x: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> attributes {{tcp.target = "cuda"}} {{
  %h = cudnn.get_current_handle !cudnn.handle
  %y = cudnn.build_and_exec_graph %h %x {{
  ^bb0(%a: {t}):
    %0 = cudnn.pointwise_relu(%a) type = f32 : {t} -> {t}
    cudnn.build_graph(%0) : {t}
  }} : tensor<4x8x8xf32> -> tensor<4x8x8xf32>
  return %y : tensor<4x8x8xf32>
}}"""
    outlined = convoy_opt(text, "--cudnn-outline-graphs")
    assert "build_and_exec_graph" not in outlined
    assert "get_current_handle" not in outlined
    flags = (
        "--cudnn-outline-graphs",
        "--plan-bufferize",
        "--plan-out-params",
        *FLAGS,
        "--convert-cudnn-backend-to-llvm",
    )
    lowered = convoy_opt(text, *flags)
    assert not re.search(r"\bcudnn(_backend)?\.\w+[ (%]", lowered)
    assert "llvm.func @main" in lowered


def test_passes_are_those_of_this_lowering(convoy_opt: Callable[..., str]) -> None:
    """Each pass is found by its name and does its part of the lowering."""
    backend = convoy_opt(CHAIN, "--convert-cudnn-graphs-to-backend")
    assert "cudnn_backend.func @chain_build(" in backend
    assert "cudnn.graph" not in backend
    assert "llvm.func @chain_build(" in convoy_opt(backend, "--convert-cudnn-backend-to-llvm")
