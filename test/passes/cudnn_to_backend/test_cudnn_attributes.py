"""Every attribute of tensors and operations is set with its number, type and value, and no other
attribute is set."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

import pytest
from payloads import (
    BOOLEAN,
    CONVOLUTION,
    CONVOLUTION_MODE,
    DATA_TYPE,
    FLAGS,
    MATMUL,
    NAN,
    OP_CONVOLUTION,
    OP_MATMUL,
    OP_POINTWISE,
    OP_RESAMPLE,
    OP_RESAMPLE_BACKWARD,
    PADDING_MODE,
    POINTWISE,
    POINTWISE_MODE,
    REDUCTION,
    REDUCTION_OPERATOR,
    REORDERING,
    RESAMPLE,
    RESAMPLE_MODE,
    TENSOR,
    boolean,
    enum,
    f32,
    f64,
    fractions,
    i64,
    refs,
    tensor,
)

#: For attributes newer than kMinimumCudnn.
NEWEST = (*FLAGS[:2], "--convert-cudnn-graphs-to-backend=minimum-version=91900")


def desc(text: str) -> str:
    return f"!cudnn.tensor_desc<{text}>"


@pytest.fixture
def built(build_library: Callable[..., ctypes.CDLL], recorder: type) -> Callable[[str], object]:
    """Builds @g of a module for cuDNN 9.19, and returns the recorder."""

    def build(text: str) -> object:
        record = recorder()
        assert record.build(build_library(text, *NEWEST), "g_build") == 0
        assert record.errors == []
        return record

    return build


def by_uid(record) -> dict[int, int]:
    return {
        struct.unpack("<q", record.sets_of(number)[906][2])[0]: number
        for number in record.kind(TENSOR)
    }


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("f64", 1),
        ("f32", 0),
        ("f16", 2),
        ("bf16", 9),
        ("f8E4M3FN", 12),
        ("f8E5M2", 13),
        ("i64", 10),
        ("i32", 4),
        ("i8", 3),
        ("ui8", 6),
        ("i1", 11),
        ("f8E8M0FNU", 15),
        ("f4E2M1FN", 16),
        ("i4", 17),
        ("ui4", 18),
        ("ui32", 19),
        ("complex<f32>", 20),
        ("complex<f64>", 21),
    ],
)
def test_data_types(
    build_library: Callable[..., ctypes.CDLL], recorder: type, dtype: str, number: int
) -> None:
    text = f"""
cudnn.graph @g(%a: !cudnn.tensor_desc<2x4x6x{dtype}>) -> !cudnn.tensor_desc<2x4x6x{dtype}> {{
  %0 = cudnn.pointwise identity(%a) type = f32 : !cudnn.tensor_desc<2x4x6x{dtype}> -> !cudnn.tensor_desc<2x4x6x{dtype}>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x6x{dtype}>
}}"""
    record = recorder()
    assert record.build(build_library(text, *NEWEST), "g_build") == 0
    assert record.sets_of(record.kind(TENSOR)[0])[901] == enum(DATA_TYPE, number)


def test_grouped_convolution_of_the_cudnn_reference(built: Callable) -> None:
    """Groups as a dim, explicit uids, a flipped window, beta: section 9.3.1 of cuDNN 8's
    reference."""
    x, w, y = (
        desc("2x4x8x5x6x7xf32, alignment = 4"),
        desc("4x6x8x3x3x3xf32, alignment = 4"),
        desc("2x4x6x3x4x5xf32, alignment = 4"),
    )
    record = built(f"""
cudnn.graph @g(%x: {x} {{cudnn.uid = 120 : i64}}, %w: {w} {{cudnn.uid = 119 : i64}}) -> ({y} {{cudnn.uid = 121 : i64}}) {{
  %0 = cudnn.convolution(%x, %w) kind = convolution type = f32 beta = 0.5 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0]
      post_padding = [0, 0, 0] dilation = [1, 1, 1] : {x}, {w} -> {y}
  cudnn.return %0 : {y}
}}""")
    tensors = by_uid(record)
    strides = (4 * 8 * 5 * 6 * 7, 8 * 5 * 6 * 7, 5 * 6 * 7, 6 * 7, 7, 1)
    assert record.sets_of(tensors[ord("x")]) == tensor(
        120, (2, 4, 8, 5, 6, 7), strides, 0, False, alignment=4
    )
    assert sorted(tensors) == [ord("w"), ord("x"), ord("y")]
    (convolution,), (forward,) = record.kind(CONVOLUTION), record.kind(OP_CONVOLUTION)
    assert record.sets_of(convolution)[101] == enum(CONVOLUTION_MODE, 0)
    assert record.sets_of(convolution)[106] == i64(3)
    assert record.sets_of(forward)[701] == f32(0.5)


@pytest.mark.parametrize(
    ("compute", "alpha", "beta"),
    [("f64", f64(0.1), f64(0.7)), ("f32", f32(0.1), f32(0.7)), ("f16", f32(0.1), f32(0.7))],
)
def test_alpha_and_beta_are_floats_except_for_double(
    built: Callable, compute: str, alpha: object, beta: object
) -> None:
    t = desc("2x8x4x4xf64")
    record = built(f"""
cudnn.graph @g(%x: {t}, %w: {desc("8x8x1x1xf64")}) -> {t} {{
  %0 = cudnn.convolution(%x, %w) type = {compute} alpha = 0.1 beta = 0.7 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0]
      dilation = [1, 1] : {t}, {desc("8x8x1x1xf64")} -> {t}
  %1 = cudnn.pointwise add(%0, %0) type = {compute} alpha1 = 0.1 alpha2 = 0.7 : {t}, {t} -> {t}
  cudnn.return %1 : {t}
}}""")
    (forward,), (add,) = record.kind(OP_CONVOLUTION), record.kind(OP_POINTWISE)
    assert (record.sets_of(forward)[700], record.sets_of(forward)[701]) == (alpha, beta)
    assert (record.sets_of(add)[754], record.sets_of(add)[755]) == (alpha, beta)


def test_vectors_and_reordering(built: Callable) -> None:
    x = desc("8x2x16x16xi8, vector_count = 32, vectorized_dimension = 1")
    w = desc("64x2x3x3xi8, vector_count = 32, vectorized_dimension = 1, reordering = int8x32")
    record = built(f"""
cudnn.graph @g(%x: {x}, %w: {w}) -> {x} {{
  %0 = cudnn.convolution(%x, %w) type = i32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1]
      dilation = [1, 1] : {x}, {w} -> {x}
  cudnn.return %0 : {x}
}}""")
    tensors = by_uid(record)
    vectors = {904: i64(32), 905: i64(1)}
    assert (
        record.sets_of(tensors[1])
        == tensor(1, (8, 2, 16, 16), (512, 256, 16, 1), 3, False) | vectors
    )
    assert record.sets_of(tensors[2]) == tensor(
        2, (64, 2, 3, 3), (18, 9, 3, 1), 3, False
    ) | vectors | {909: enum(REORDERING, 1)}


def test_by_value_and_derived_uids(built: Callable) -> None:
    """Tensors without a uid get the free numbers: arguments, results, then virtual tensors."""
    x, s = desc("2x8x4x4xf32"), desc("1x1x1x1xf32")
    record = built(f"""
cudnn.graph @g(%x: {x}, %s: {s} {{cudnn.by_value, cudnn.uid = 2 : i64}}) -> ({x}, {x} {{cudnn.uid = 4 : i64}}) {{
  %0 = cudnn.pointwise mul(%x, %s) type = f32 : {x}, {s} -> {x}
  %1 = cudnn.pointwise exp(%0) type = f32 : {x} -> {x}
  %2 = cudnn.pointwise log(%1) type = f32 : {x} -> {x}
  cudnn.return %1, %2 : {x}, {x}
}}""")
    tensors = by_uid(record)
    strides = (128, 16, 4, 1)
    assert {
        uid: record.sets_of(number)[907] == boolean(True) for uid, number in tensors.items()
    } == {
        1: False,
        2: False,
        3: False,
        4: False,
        5: True,
    }
    assert record.sets_of(tensors[2]) == tensor(2, (1, 1, 1, 1), (1, 1, 1, 1), 0, False) | {
        908: boolean(True)
    }
    assert record.sets_of(tensors[1]) == tensor(1, (2, 8, 4, 4), strides, 0, False)


def test_ragged_offset_comes_first(built: Callable) -> None:
    """A ragged tensor has the finalized descriptor of its offsets, which is not an operand of any
    operation."""
    a, b, c, o = desc("4x32x64xf16"), desc("4x64x48xf16"), desc("4x32x48xf16"), desc("5x1x1xi32")
    record = built(f"""
cudnn.graph @g(%a: {a} {{cudnn.ragged_offset = 2 : i64}}, %b: {b}, %o: {o}) -> ({c} {{cudnn.ragged_offset = 2 : i64}}) {{
  %0 = cudnn.matmul(%a, %b) type = f32 : {a}, {b} -> {c}
  cudnn.return %0 : {c}
}}""")
    tensors = by_uid(record)
    assert sorted(tensors) == [1, 2, 3, 4]
    assert record.sets_of(tensors[1])[913] == refs(tensors[3])
    assert record.sets_of(tensors[4])[913] == refs(tensors[3])
    assert 913 not in record.sets_of(tensors[2])
    finalized = [what for name, what in record.calls if name == "finalize"]
    assert finalized.index(tensors[3]) < finalized.index(tensors[1])


def test_alignment_is_at_least_the_element_size(built: Callable) -> None:
    x = desc("2x4x6xf32, alignment = 1")
    record = built(f"""
cudnn.graph @g(%x: {x}) -> {desc("2x4x6xcomplex<f64>, alignment = 1")} {{
  %0 = cudnn.pointwise identity(%x) type = f32 : {x} -> {desc("2x4x6xcomplex<f64>, alignment = 1")}
  cudnn.return %0 : {desc("2x4x6xcomplex<f64>, alignment = 1")}
}}""")
    tensors = by_uid(record)
    assert [record.sets_of(tensors[uid])[900] for uid in (1, 2)] == [i64(4), i64(16)]


def test_matmul_overrides(built: Callable) -> None:
    a, b, c, n = (
        desc("4x32x64xf8E4M3FN"),
        desc("4x64x48xf8E4M3FN"),
        desc("4x32x48xf16"),
        desc("4x1x1xi32"),
    )
    record = built(f"""
cudnn.graph @g(%a: {a}, %b: {b}, %m: {n}, %n: {n}, %k: {n}) -> {c} {{
  %0 = cudnn.matmul(%a, %b) type = !cudnn.fast_float_for_fp8 m_override(%m : {n}) n_override(%n : {n}) k_override(%k : {n})
      padding_value = -1.5 : {a}, {b} -> {c}
  cudnn.return %0 : {c}
}}""")
    tensors = by_uid(record)
    (matmul,), (op,) = record.kind(MATMUL), record.kind(OP_MATMUL)
    assert record.sets_of(matmul) == {1500: enum(DATA_TYPE, 14), 1503: f64(-1.5)}
    overrides = {1525: refs(tensors[3]), 1526: refs(tensors[4]), 1527: refs(tensors[5])}
    assert (
        record.sets_of(op)
        == {
            1523: refs(matmul),
            1520: refs(tensors[1]),
            1521: refs(tensors[2]),
            1522: refs(tensors[6]),
        }
        | overrides
    )


@pytest.mark.parametrize(
    ("text", "number", "attributes"),
    [
        (
            "relu_fwd(%x) type = f32 lower_clip = 0.5 upper_clip = 6.0 lower_clip_slope = 0.1",
            100,
            {3: f64(0.5), 4: f64(6), 5: f64(0.1), 2: enum(NAN, 1)},
        ),
        (
            "relu_fwd(%x) type = f32 nan_propagation = not_propagate_nan",
            100,
            {3: f64(0), 2: enum(NAN, 0)},
        ),
        ("relu_bwd(%x, %x) type = f32", 200, {3: f64(0), 2: enum(NAN, 1)}),
        ("max(%x, %x) type = f32", 3, {}),
        ("max(%x, %x) type = f32 nan_propagation = propagate_nan", 3, {2: enum(NAN, 1)}),
        ("elu_fwd(%x) type = f32 elu_alpha = 0.3", 103, {6: f64(0.3)}),
        ("elu_bwd(%x, %x) type = f32 elu_alpha = 0.3", 203, {6: f64(0.3)}),
        ("softplus_fwd(%x) type = f32 softplus_beta = 2.0", 105, {7: f64(2)}),
        ("swish_bwd(%x, %x) type = f32 swish_beta = 1.5", 206, {8: f64(1.5)}),
        ("gen_index(%x) type = f32 axis = 2", 501, {9: i64(2)}),
        ("atan2(%x, %x) type = f32", 23, {}),
    ],
)
def test_pointwise_attributes(built: Callable, text: str, number: int, attributes: dict) -> None:
    x = desc("2x8x4x4xf32")
    types = ", ".join([x] * text.count("%x"))
    record = built(
        f"cudnn.graph @g(%x: {x}) -> {x} {{\n  %0 = cudnn.pointwise {text} : {types} -> "
        f"{x}\n  cudnn.return %0 : {x}\n}}"
    )
    (pointwise,) = record.kind(POINTWISE)
    assert (
        record.sets_of(pointwise)
        == {0: enum(POINTWISE_MODE, number), 1: enum(DATA_TYPE, 0)} | attributes
    )


def test_reduction_is_deterministic(built: Callable) -> None:
    x, y = desc("2x8x4x4xf32"), desc("1x8x1x1xf32")
    record = built(f"""
cudnn.graph @g(%x: {x}) -> ({y}, {y}) {{
  %0 = cudnn.reduction amax(%x) type = f32 is_deterministic = true : {x} -> {y}
  %1 = cudnn.reduction amax(%x) type = f32 : {x} -> {y}
  cudnn.return %0, %1 : {y}, {y}
}}""")
    fixed, free = record.kind(REDUCTION)
    common = {1600: enum(REDUCTION_OPERATOR, 4), 1601: enum(DATA_TYPE, 0)}
    assert record.sets_of(fixed) == common | {1602: (BOOLEAN, 1, b"\x01")}
    assert record.sets_of(free) == common


def test_resample_index_and_fractions(built: Callable) -> None:
    x, y, i, z = (
        desc("2x8x6x6xf16, NHWC"),
        desc("2x8x3x3xf16, NHWC"),
        desc("2x8x3x3xi8, NHWC"),
        desc("2x8x12x12xf16, NHWC"),
    )
    record = built(f"""
cudnn.graph @g(%x: {x}) -> ({y}, {i}, {z}) {{
  %0, %1 = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 0] post_padding = [1, 2]
      padding_mode = neg_inf_pad nan_propagation = not_propagate_nan alpha = 2.0 beta = 0.5 : {x} -> {y}, {i}
  %2 = cudnn.resample bilinear(%x) type = f32 window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] denominator = 2
      padding_mode = edge_val_pad : {x} -> {z}
  cudnn.return %0, %1, %2 : {y}, {i}, {z}
}}""")
    tensors = by_uid(record)
    pool, bilinear = record.kind(RESAMPLE)
    assert record.sets_of(pool) == {
        1700: enum(RESAMPLE_MODE, 3),
        1701: enum(DATA_TYPE, 0),
        1707: enum(NAN, 0),
        1708: enum(PADDING_MODE, 1),
        1702: i64(2),
        1706: i64(3, 3),
        1704: i64(1, 0),
        1703: i64(1, 2),
        1705: i64(2, 2),
    }
    assert record.sets_of(bilinear) == {
        1700: enum(RESAMPLE_MODE, 1),
        1701: enum(DATA_TYPE, 0),
        1707: enum(NAN, 1),
        1708: enum(PADDING_MODE, 2),
        1702: i64(2),
        1706: fractions((2, 1), (2, 1)),
        1704: fractions((1, 2), (1, 2)),
        1703: fractions((1, 1), (1, 1)),
        1705: fractions((1, 2), (1, 2)),
    }
    first, second = record.kind(OP_RESAMPLE)
    assert record.sets_of(first) == {
        1716: refs(pool),
        1710: refs(tensors[1]),
        1711: refs(tensors[2]),
        1712: refs(tensors[3]),
        1713: f64(2.0),
        1714: f64(0.5),
    }
    assert record.sets_of(second) == {
        1716: refs(bilinear),
        1710: refs(tensors[1]),
        1711: refs(tensors[4]),
    }


def test_resample_backward(built: Callable) -> None:
    x, y, i = desc("2x8x6x6xf16, NHWC"), desc("2x8x3x3xf16, NHWC"), desc("2x8x3x3xi8, NHWC")
    window = "type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 0] post_padding = [1, 2]"
    record = built(f"""
cudnn.graph @g(%dy: {y}, %i: {i}, %x: {x}, %y: {y}) -> ({x}, {x}, {x}) {{
  %0 = cudnn.resample_backward maxpool {window} padding_mode = neg_inf_pad alpha = 2.0 beta = 0.5 dy(%dy : {y}) index(%i : {i}) -> dx({x})
  %1 = cudnn.resample_backward maxpool {window} padding_mode = neg_inf_pad dy(%dy : {y}) x(%x : {x}) y(%y : {y}) -> dx({x})
  %2 = cudnn.resample_backward avgpool_exclude_padding {window} padding_mode = zero_pad dy(%dy : {y}) -> dx({x})
  cudnn.return %0, %1, %2 : {x}, {x}, {x}
}}""")
    tensors = by_uid(record)
    pool, average = record.kind(RESAMPLE)
    sizes = {1702: i64(2), 1706: i64(3, 3), 1704: i64(1, 0), 1703: i64(1, 2), 1705: i64(2, 2)}
    common = sizes | {1701: enum(DATA_TYPE, 0), 1707: enum(NAN, 1)}
    assert record.sets_of(pool) == common | {
        1700: enum(RESAMPLE_MODE, 3),
        1708: enum(PADDING_MODE, 1),
    }
    assert record.sets_of(average) == common | {
        1700: enum(RESAMPLE_MODE, 4),
        1708: enum(PADDING_MODE, 0),
    }
    assert [record.sets_of(each) for each in record.kind(OP_RESAMPLE_BACKWARD)] == [
        {
            1725: refs(pool), 1720: refs(tensors[5]), 1721: refs(tensors[1]),
            1722: refs(tensors[2]), 1723: f64(2.0), 1724: f64(0.5),
        },
        {1725: refs(pool), 1720: refs(tensors[6]), 1721: refs(tensors[1]), 1726: refs(tensors[3]),
        1727: refs(tensors[4])},
        {1725: refs(average), 1720: refs(tensors[7]), 1721: refs(tensors[1])},
    ]  # fmt: skip
