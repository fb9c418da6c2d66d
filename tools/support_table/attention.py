# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention as one operation, and loads of paged caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from .graph_text import GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["attention_cases"]

_DTYPES = ("f16", "bf16", "f32")
_NARROW = ("f8E4M3FN", "f8E5M2")
#: Optional parts: a scalar scale, a scale tensor, the softmax statistics as a result, sequence
#: lengths, a paged cache, a block mask.
_WITH = ("nothing", "scale", "scale_tensor", "stats", "lengths", "pages", "block_mask")
#: Memory orders of the dims of one batch entry: heads, rows, depth; rows, heads, depth; or heads,
#: depth, rows.
_ORDERS = ("heads_rows", "rows_heads", "depth_rows")
_DEPTHS = (1, 8, 16, 20, 24, 32, 36, 40, 64, 80, 96, 100, 128, 136, 192, 256, 264, 512)
_UNEQUAL = ((64, 128), (128, 64), (192, 128), (256, 64), (576, 512))
_ROWS = (
    (1, 1024),
    (1, 1),
    (1024, 1),
    (2, 7),
    (197, 197),
    (1023, 1023),
    (512, 2048),
    (1, 8192),
    (8192, 8192),
)
_TILE, _PAGE = 128, 64


@dataclass(frozen=True)
class _Attention:
    """One attention.

    Args:
        dtype: Of q, k and v.
        order: One of `_ORDERS`.
        beside: One of `_WITH`.
        depths: Of q and of v.
        heads: Of q and of k.
        rows: Of q and of k.
        batch: The batch size.
    """

    dtype: str
    order: str = "heads_rows"
    beside: str = "scale"
    depths: tuple[int, int] = (64, 64)
    heads: tuple[int, int] = (16, 16)
    rows: tuple[int, int] = (1024, 1024)
    batch: int = 2

    def _layout(self, dims: tuple[int, int, int, int]) -> str:
        _, heads, rows, depth = dims
        strides = {
            "rows_heads": (depth, heads * depth, 1),
            "depth_rows": (rows * depth, 1, rows),
        }.get(self.order)
        return (
            f"stride = [{heads * rows * depth}, {', '.join(map(str, strides))}]"
            if strides
            else "row_major"
        )

    def _up_to(self) -> int:
        """The smallest bound of the axis `depth_up_to` that holds for both depths."""
        return next(bound for bound in (128, 256, 1024) if max(self.depths) <= bound)

    def case(self) -> OperationCase:
        """Returns the case of this attention."""
        axes: dict[str, str | int] = {
            "dtypes": self.dtype, "orders": self.order, "beside": self.beside,
            "depth_multiple_of": 8 if all(depth % 8 == 0 for depth in self.depths) else 1,
            "depth_up_to": self._up_to(),
        }  # fmt: skip
        sizes = "_".join(
            f"{name}{'x'.join(map(str, getattr(self, name)))}"
            for name in ("depths", "heads", "rows")
        )
        graph = GraphText(key_of("sdpa_forward", *axes.values(), sizes), "row_major")
        batch, (heads, fewer), (rows, columns), (depth, width) = (
            self.batch,
            self.heads,
            self.rows,
            self.depths,
        )
        paged = self.beside == "pages"
        container = (64, fewer, _PAGE) if paged else (batch, fewer, columns)
        shapes = {
            "q": (batch, heads, rows, depth),
            "k": (*container, depth),
            "v": (*container, width),
        }
        given: dict[str, Value | None] = {
            name: graph.argument(dims, self.dtype, self._layout(dims))
            for name, dims in shapes.items()
        }
        if self.beside == "scale":
            given["scale"] = graph.scalar("0.125", "f32", 4)
        elif self.beside == "scale_tensor":
            given["scale"] = graph.argument((1, 1, 1, 1), "f32")
        elif self.beside == "block_mask":
            tiles = [-(-size // _TILE) for size in self.rows]
            given["block_mask"] = graph.argument((batch, heads, tiles[0], -(-tiles[1] // 8)), "ui8")
        if paged:
            given |= {
                name: graph.argument((batch, 1, -(-columns // _PAGE), 1), "i32")
                for name in ("page_table_k", "page_table_v")
            }
        if paged or self.beside == "lengths":
            given |= {
                name: graph.argument((batch, 1, 1, 1), "i32")
                for name in ("seq_len_q", "seq_len_kv")
            }
        output = (batch, heads, rows, width)
        types = {"o": desc(output, self.dtype, self._layout(output))}
        if self.beside == "stats":
            types["stats"] = desc((batch, heads, rows, 1), "f32", "row_major")
        return OperationCase(
            graph.key, "sdpa_forward", axes, graph.text(*graph.named("sdpa_forward", given, types))
        )


def _attention() -> Iterator[OperationCase]:
    for dtype, order, beside in product((*_DTYPES, *_NARROW), _ORDERS, _WITH):
        for depth in (20, 64, 256, 512) if dtype in _DTYPES else (64,):
            yield _Attention(dtype, order, beside, depths=(depth, depth)).case()
    for dtype, beside in product(_DTYPES, ("scale", "stats", "lengths", "pages")):
        base = _Attention(dtype, beside=beside)
        for depth in _DEPTHS:
            yield replace(base, depths=(depth, depth)).case()
        for depths in _UNEQUAL:
            yield replace(base, depths=depths).case()
        for heads in (1, 4):
            yield replace(base, heads=(16, heads)).case()
        for rows in _ROWS:
            yield replace(base, rows=rows).case()


def _caches() -> Iterator[OperationCase]:
    """Loads of a paged cache without attention."""
    for dtype, depth in product((*_DTYPES, *_NARROW), (64, 128)):
        axes: dict[str, str | int] = {"dtypes": dtype}
        graph = GraphText(key_of("paged_cache_load", dtype, depth), "row_major")
        given: dict[str, Value | None] = {
            "container": graph.argument((64, 4, _PAGE, depth), dtype),
            "page_table": graph.argument((2, 1, 8, 1), "i32"),
            "sequence_lengths": graph.argument((2, 1, 1, 1), "i32"),
        }
        (y,) = graph.named(
            "paged_cache_load", given, {"y": desc((2, 4, 8 * _PAGE, depth), dtype, "row_major")}
        )
        yield OperationCase(graph.key, "paged_cache_load", axes, graph.text(y))


def attention_cases() -> list[OperationCase]:
    """Returns every graph of this family once."""
    return list({case.key: case for cases in (_attention(), _caches()) for case in cases}.values())
