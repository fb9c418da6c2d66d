# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Block scaling of narrow types (MXFP8, MXFP4, NVFP4), and signals to other devices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["scale_cases"]

_DTYPES = ("f16", "bf16", "f32")
#: The narrow type, the number of elements that share a scale, and the scale's type.
_FORMATS = (
    ("f8E4M3FN", 32, "f8E8M0FNU"),
    ("f8E5M2", 32, "f8E8M0FNU"),
    ("f4E2M1FN", 32, "f8E8M0FNU"),
    ("f4E2M1FN", 16, "f8E4M3FN"),
)
#: cuDNN's layout of scales: tiles of 128 rows and 4 columns.
_TILES = "reordering = f8_128x4"
_B, _M, _K, _N = 8, 128, 256, 128


def _kind(dims: tuple[int, ...], dtype: str, layout: str) -> str:
    """Returns the type of a tensor of scales, which `desc` does not support."""
    return desc(dims, dtype, "row_major").removesuffix(">") + f", {layout}>"


def _given(graph: GraphText, kind: str) -> Value:
    graph.arguments.append(f"%a{len(graph.arguments)}: {kind}")
    return f"%a{len(graph.arguments) - 1}", kind


def _quantized() -> Iterator[OperationCase]:
    for dtype, (narrow, block, scale), beside in product(_DTYPES, _FORMATS, ("nothing", "relu")):
        axes: dict[str, str | int] = {
            "dtypes": dtype,
            "result_dtypes": narrow,
            "block_sizes": block,
            "beside": beside,
        }
        graph = GraphText(key_of("block_scale_quantize", *axes.values()), "row_major")
        x = graph.argument((_B, _M, _K), dtype)
        if beside == "relu":
            x = graph.apply("pointwise relu_fwd", [x], "type = f32", (_B, _M, _K), dtype)
        types = {
            "y": desc((_B, _M, _K), narrow, "row_major"),
            "scale": _kind((_B, _M, _K // block), scale, _TILES),
        }
        results = graph.named(
            f"block_scale_quantize type = f32 block_size = {block}", {"x": x}, types
        )
        yield OperationCase(graph.key, "block_scale_quantize", axes, graph.text(*results))


def _dequantized() -> Iterator[OperationCase]:
    """Dequantization alone, and of both operands of a product, as in the tensor cores of later
    devices."""
    for (narrow, block, scale), wide, beside in product(_FORMATS, _DTYPES, ("nothing", "matmul")):
        axes: dict[str, str | int] = {
            "dtypes": narrow,
            "result_dtypes": wide,
            "block_sizes": block,
            "beside": beside,
        }
        graph = GraphText(key_of("block_scale_dequantize", *axes.values()), "row_major")
        head = f"block_scale_dequantize type = f32 block_size = [{block}]"
        given: dict[str, Value | None] = {
            "x": graph.argument((_B, _M, _K), narrow),
            "scale": _given(graph, _kind((_B, _M, _K // block), scale, _TILES)),
        }
        (y,) = graph.named(head, given, {"y": desc((_B, _M, _K), wide, "row_major")})
        if beside == "matmul":
            rows, scales = (
                f"stride = [{_K * _N}, 1, {_K}]",
                f"stride = [{_K // block * _N}, 1, {_K // block}]",
            )
            given = {
                "x": graph.argument((_B, _K, _N), narrow, rows),
                "scale": _given(graph, _kind((_B, _K // block, _N), scale, f"{_TILES}, {scales}")),
            }
            (other,) = graph.named(head, given, {"y": desc((_B, _K, _N), wide, rows)})
            y = graph.apply("matmul", [y, other], "type = f32", (_B, _M, _N), wide)
        yield OperationCase(graph.key, "block_scale_dequantize", axes, graph.text(y))


def _signals() -> Iterator[OperationCase]:
    """Waiting before an operation, and setting after it."""
    for mode, dtype in product(("wait", "set"), _DTYPES):
        axes: dict[str, str | int] = {"modes": mode, "dtypes": dtype}
        graph = GraphText(key_of("signal", *axes.values()), "channels_last")
        dims = (8, 64, 16, 16)
        x, flag = graph.argument(dims, dtype), graph.argument((1, 1, 1, 1), "i32", "row_major")
        if mode == "set":
            x = graph.apply("pointwise exp", [x], "type = f32", dims, dtype)
        (y,) = graph.named(
            f"signal {mode} value = 1",
            {"flag": flag, "x": x},
            {"y": desc(dims, dtype, "channels_last")},
        )
        if mode == "wait":
            y = graph.apply("pointwise exp", [y], "type = f32", dims, dtype)
        yield OperationCase(graph.key, "signal", axes, graph.text(y))


def scale_cases() -> list[OperationCase]:
    """Returns every graph of this family."""
    return [case for cases in (_quantized(), _dequantized(), _signals()) for case in cases]
