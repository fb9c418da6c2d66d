# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operations that move or create elements: concatenation, reshape, transpose, random numbers; and
operations on structured matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .graph_text import GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["data_cases"]

_DTYPES = ("f16", "bf16", "f32")
_ALL = (*_DTYPES, "i8", "f8E4M3FN")
_LAYOUTS = ("channels_last", "channels_first", "row_major")


def _dims(layout: str) -> tuple[int, ...]:
    return (8, 32, 64) if layout == "row_major" else (8, 32, 16, 16)


def _concat() -> Iterator[OperationCase]:
    """Concatenation of two tensors along the batch, the channels or a spatial dim, optionally in
    place."""
    for dtype, layout, axis, inplace in product(_ALL, _LAYOUTS, (0, 1, 2), ("none", 0, 1)):
        axes: dict[str, str | int] = {"dtypes": dtype, "layouts": layout}
        graph = GraphText(
            key_of("concat", dtype, layout, f"axis{axis}", f"inplace_{inplace}"), layout
        )
        dims = _dims(layout)
        result = tuple(2 * size if i == axis else size for i, size in enumerate(dims))
        tail = f"axis = {axis}" + (f" inplace_index = {inplace}" if inplace != "none" else "")
        y = graph.apply(
            "concat",
            [graph.argument(dims, dtype), graph.argument(dims, dtype)],
            tail,
            result,
            dtype,
        )
        yield OperationCase(graph.key, "concat", axes, graph.text(y))


def _reshapes() -> Iterator[OperationCase]:
    """A reshape alone, and before a product."""
    shapes = (
        ((8, 16, 128, 64), (128, 128, 64)),
        ((8, 16, 128, 64), (8, 2048, 64)),
        ((128, 128, 64), (8, 16, 128, 64)),
    )
    for dtype, (before, after), beside in product(_ALL, shapes, ("nothing", "matmul")):
        axes: dict[str, str | int] = {"dtypes": dtype, "beside": beside}
        graph = GraphText(
            key_of(
                "reshape", *axes.values(), "x".join(map(str, before)), "x".join(map(str, after))
            ),
            "row_major",
        )
        y = graph.apply("reshape", [graph.argument(before, dtype)], "", after, dtype)
        if beside == "matmul":
            other, result = (
                graph.argument((*after[:-2], 64, 32), dtype),
                "i32" if dtype == "i8" else "f32",
            )
            y = graph.apply("matmul", [y, other], f"type = {result}", (*after[:-1], 32), result)
        yield OperationCase(graph.key, "reshape", axes, graph.text(y))


def _transposes() -> Iterator[OperationCase]:
    """An identity whose result has another layout than its operand."""
    matrix = "stride = [4096, 1, 64]"
    ways = (
        ("channels_last", "channels_first"),
        ("channels_first", "channels_last"),
        ("row_major", matrix),
        (matrix, "row_major"),
    )
    for dtype, (before, after) in product(_ALL, ways):
        layouts = ["transposed" if layout == matrix else layout for layout in (before, after)]
        axes: dict[str, str | int] = {
            "dtypes": dtype,
            "layouts": layouts[0],
            "result_layouts": layouts[1],
        }
        graph = GraphText(key_of("transpose", dtype, *layouts), after)
        dims = (8, 64, 64) if matrix in (before, after) else (8, 64, 16, 16)
        y = graph.apply(
            "pointwise identity", [graph.argument(dims, dtype, before)], "type = f32", dims, dtype
        )
        yield OperationCase(graph.key, "transpose", axes, graph.text(y))


def _random() -> Iterator[OperationCase]:
    """Random numbers alone, and multiplied with a tensor, as in dropout."""
    distributions = {
        "bernoulli": "probability = 0.9",
        "uniform": "minimum = -1.0 maximum = 1.0",
        "normal": "mean = 0.5 standard_deviation = 2.0",
    }
    for (mode, attributes), seed, dtype, beside in product(
        distributions.items(), ("number", "tensor"), ("f32", "f16"), ("nothing", "mul")
    ):
        axes: dict[str, str | int] = {
            "modes": mode,
            "seeds": seed,
            "dtypes": dtype,
            "beside": beside,
        }
        graph = GraphText(key_of("rng", *axes.values()), "row_major")
        dims = (8, 16, 128, 128)
        names = ("offset",) if seed == "number" else ("seed", "offset")
        given: dict[str, Value | None] = {
            name: graph.argument((1, 1, 1, 1), "i64") for name in names
        }
        head = f"rng {mode} {'seed_value = 42 ' * (seed == 'number')}{attributes}"
        (y,) = graph.named(head, given, {"y": desc(dims, dtype, "row_major")})
        if beside == "mul":
            y = graph.apply(
                "pointwise mul", [graph.argument(dims, dtype), y], "type = f32", dims, dtype
            )
        yield OperationCase(graph.key, "rng", axes, graph.text(y))


def _structured() -> Iterator[OperationCase]:
    """Grouped products of experts, and band matrices."""
    for mode, dtype, index in product(("none", "gather", "scatter"), _DTYPES, ("i32", "i64")):
        axes: dict[str, str | int] = {"modes": mode, "dtypes": dtype, "index_dtypes": index}
        graph = GraphText(key_of("moe_grouped_matmul", *axes.values()), "row_major")
        rows = 1024 if mode == "gather" else 512
        given: dict[str, Value | None] = {
            "token": graph.argument((1, 512, 128), dtype),
            "weight": graph.argument((8, 128, 256), dtype, "stride = [32768, 1, 128]"),
            "first_token_offset": graph.argument((8, 1, 1), index),
        }
        for name in {
            "none": (),
            "gather": ("token_index",),
            "scatter": ("token_index", "token_ks"),
        }[mode]:
            given[name] = graph.argument((1, rows, 1), index)
        head = f"moe_grouped_matmul {mode} type = f32{' top_k = 2' * (mode == 'scatter')}"
        (y,) = graph.named(head, given, {"y": desc((1, rows, 256), dtype, "row_major")})
        yield OperationCase(graph.key, "moe_grouped_matmul", axes, graph.text(y))
    for name, dtype, lower in product(
        ("expand_band_matrix", "contract_band_matrix"), _DTYPES, (0, 4)
    ):
        graph = GraphText(key_of(name, dtype, lower), "row_major")
        band, matrix = (2, 16, 128, lower + 1), (2, 16, 128, 128)
        before, after = (band, matrix) if name.startswith("expand") else (matrix, band)
        head = f"{name} lower_bandwidth = {lower} upper_bandwidth = 0 axis = 3 pad_value = 0.0"
        (y,) = graph.named(
            head, {"x": graph.argument(before, dtype)}, {"y": desc(after, dtype, "row_major")}
        )
        yield OperationCase(graph.key, name, {"dtypes": dtype}, graph.text(y))


def data_cases() -> list[OperationCase]:
    """Returns every graph of this family."""
    return [
        case
        for cases in (_concat(), _reshapes(), _transposes(), _random(), _structured())
        for case in cases
    ]
