# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls between the points of a `.mlir` module with symbols: padded where no op mixes the rows, and
refused with the op and its line where one may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from convoy.dynamic.points import Points
from convoy.dynamic.symbolic_module import compile_symbolic
from convoy.frontend import ImportedModule
from convoy.options import CompileOptions
from convoy_runtime import ArgumentError

HEAD = """func.func @main(%x: tensor<?x6x8xf32>) -> {result} {{
  %s0 = tcp.symbolic_int "s0" {{min_val = 1, max_val = 9}} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 6, 8)> : tensor<?x6x8xf32>
"""
X = "tensor<?x6x8xf32>"


def _module(result: str, *body: str) -> str:
    """A module of one input with the rows in dim 0. The first line of `body` is line 4."""
    return "\n".join([HEAD.format(result=result).rstrip(), *(f"  {line}" for line in body), "}\n"])


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


#: Modules in which row j of each result depends on row j of the input alone, with NumPy's function.
PADDED: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "softmax of another dim": (
        _module(
            X,
            f"%0 = tcp.softmax %x {{dim = 1 : i64}} : {X} -> {X}",
            f"return %0 : {X}",
        ),
        lambda x: _softmax(x, 1),
    ),
    "rows merged with another dim, and split": (
        _module(
            X,
            "%w = arith.constant dense<0.25> : tensor<8x8xf32>",
            f"%0 = tcp.reshape %x : {X} -> tensor<?x8xf32>",
            "tcp.bind_symbolic_shape %0, [%s0], affine_map<()[s0] -> (s0 * 6, 8)> : tensor<?x8xf32>",
            "%1 = tcp.matmul %0, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>",
            f"%2 = tcp.reshape %1 : tensor<?x8xf32> -> {X}",
            f"return %2 : {X}",
        ),
        lambda x: x @ np.full((8, 8), 0.25),
    ),
    "products of each row": (
        _module(
            "tensor<?x6x6xf32>",
            f"%0 = tcp.transpose %x {{perm = array<i64: 0, 2, 1>}} : {X} -> tensor<?x8x6xf32>",
            f"%1 = tcp.matmul %x, %0 : {X}, tensor<?x8x6xf32> -> tensor<?x6x6xf32>",
            "return %1 : tensor<?x6x6xf32>",
        ),
        lambda x: x @ x.transpose(0, 2, 1),
    ),
    "first row": (
        _module(
            X,
            "%0 = tcp.slice %x {starts = array<i64: 0, 0, 0>, sizes = array<i64: 1, 6, 8>, "
            f"strides = array<i64: 1, 1, 1>}} : {X} -> tensor<1x6x8xf32>",
            f"%1 = tcp.add %x, %0 : {X}, tensor<1x6x8xf32> -> {X}",
            f"return %1 : {X}",
        ),
        lambda x: x + x[:1],
    ),
    "group": (
        _module(
            X,
            "%0 = tcp.isolated_group %x {",
            f"^bb0(%a: {X}):",
            f"  %1 = tcp.exp %a : {X} -> {X}",
            f"  %2 = tcp.mul %1, %a : {X}, {X} -> {X}",
            f"  tcp.yield %2 : {X}",
            f"}} : {X} -> {X}",
            f"return %0 : {X}",
        ),
        lambda x: np.exp(x) * x,
    ),
    "loop": (
        _module(
            "tensor<6x?x8xf32>",
            "%h = arith.constant dense<0.0> : tensor<1x8xf32>",
            "%0 = tcp.broadcast %h : tensor<1x8xf32> -> tensor<?x8xf32>",
            "tcp.bind_symbolic_shape %0, [%s0], affine_map<()[s0] -> (s0, 8)> : tensor<?x8xf32>",
            f"%1 = tcp.transpose %x {{perm = array<i64: 1, 0, 2>}} : {X} -> tensor<6x?x8xf32>",
            "%2:2 = tcp.scan trips 6 carried(%0 : tensor<?x8xf32>) sliced(%1 : tensor<6x?x8xf32>) {",
            "^bb0(%state: tensor<?x8xf32>, %step: tensor<?x8xf32>):",
            "  %3 = tcp.add %state, %step : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>",
            "  tcp.yield %3, %3 : tensor<?x8xf32>, tensor<?x8xf32>",
            "} -> tensor<?x8xf32>, tensor<6x?x8xf32>",
            "return %2#1 : tensor<6x?x8xf32>",
        ),
        lambda x: x.cumsum(1).transpose(1, 0, 2),
    ),
    "twice as many rows": (
        _module(
            "tensor<?x24xf32>",
            f"%0 = tcp.reshape %x : {X} -> tensor<?x24xf32>",
            "return %0 : tensor<?x24xf32>",
        ),
        lambda x: x.reshape(-1, 24),
    ),
    "two results": (
        _module(
            f"({X}, tensor<?x1x8xf32>)",
            f"%0 = tcp.neg %x : {X} -> {X}",
            f"%1 = tcp.reduce_sum %x {{dims = array<i64: 1>}} : {X} -> tensor<?x1x8xf32>",
            f"return %0, %1 : {X}, tensor<?x1x8xf32>",
        ),
        lambda x: (-x, x.sum(1, keepdims=True)),
    ),
}
#: Modules whose rows are mixed, or whose sizes are no multiples of the symbol, with the reason.
MIXED: dict[str, tuple[str, str]] = {
    "softmax": (
        _module(X, f"%0 = tcp.softmax %x {{dim = 0 : i64}} : {X} -> {X}", f"return %0 : {X}"),
        "'tcp.softmax' at rows.mlir:4: adds up the rows",
    ),
    "mean": (
        _module(
            X,
            f"%0 = tcp.neg %x : {X} -> {X}",
            f"%1 = tcp.reduce_mean %0 {{dims = array<i64: 0>}} : {X} -> tensor<1x6x8xf32>",
            f"%2 = tcp.sub %0, %1 : {X}, tensor<1x6x8xf32> -> {X}",
            f"return %2 : {X}",
        ),
        "'tcp.reduce_mean' at rows.mlir:5: reduces the rows",
    ),
    "in a group": (
        _module(
            X,
            "%0 = tcp.isolated_group %x {",
            f"^bb0(%a: {X}):",
            f"  %1 = tcp.reverse %a {{dims = array<i64: 0>}} : {X} -> {X}",
            f"  tcp.yield %1 : {X}",
            f"}} : {X} -> {X}",
            f"return %0 : {X}",
        ),
        "'tcp.reverse' at rows.mlir:6: reverses the rows",
    ),
    "rest of the rows": (
        _module(
            X,
            "%0 = tcp.slice %x {starts = array<i64: 1, 0, 0>, sizes = array<i64: -1, 6, 8>, "
            f"strides = array<i64: 1, 1, 1>}} : {X} -> {X}",
            f"return %0 : {X}",
        ),
        "the size s0-1 of '0' is no multiple of s0",
    ),
    "every other row": (
        _module(
            "tensor<1x6x8xf32>",
            "%0 = tcp.slice %x {starts = array<i64: 0, 0, 0>, sizes = array<i64: -1, 6, 8>, "
            f"strides = array<i64: 2, 1, 1>}} : {X} -> {X}",
            f"%1 = tcp.reduce_max %0 {{dims = array<i64: 0>}} : {X} -> tensor<1x6x8xf32>",
            "return %1 : tensor<1x6x8xf32>",
        ),
        "'tcp.slice' at rows.mlir:4: the size ((s0 - 1) floordiv 2) + 1 is no multiple of s0",
    ),
    "product of two rows": (
        _module(
            "tensor<?x?xf32>",
            f"%0 = tcp.reshape %x : {X} -> tensor<?x48xf32>",
            "%1 = tcp.transpose %0 {perm = array<i64: 1, 0>} : tensor<?x48xf32> -> tensor<48x?xf32>",
            "%2 = tcp.matmul %0, %1 : tensor<?x48xf32>, tensor<48x?xf32> -> tensor<?x?xf32>",
            "return %2 : tensor<?x?xf32>",
        ),
        "'tcp.matmul' at rows.mlir:6: a tensor has two dims that depend on the size",
    ),
    "square of the size": (
        _module(
            X,
            "%i = tcp.iota {dim = 0 : index} : tensor<?xi64>",
            "tcp.bind_symbolic_shape %i, [%s0], affine_map<()[s0] -> (s0 * s0)> : tensor<?xi64>",
            "%0 = tcp.slice %i {starts = array<i64: 0>, sizes = array<i64: 1>, "
            "strides = array<i64: 1>} : tensor<?xi64> -> tensor<1xi64>",
            f"%1 = tcp.index_select %x, %0 {{dim = 0 : index}} : {X}, tensor<1xi64> -> tensor<1x6x8xf32>",
            f"%2 = tcp.add %x, %1 : {X}, tensor<1x6x8xf32> -> {X}",
            f"return %2 : {X}",
        ),
        "'tcp.iota' at rows.mlir:4: the size s0 * s0 is no multiple of s0",
    ),
    "result between others": (
        _module(
            "tensor<?x8xf32>",
            f"%0 = tcp.transpose %x {{perm = array<i64: 1, 0, 2>}} : {X} -> tensor<6x?x8xf32>",
            "%1 = tcp.reshape %0 : tensor<6x?x8xf32> -> tensor<?x8xf32>",
            "return %1 : tensor<?x8xf32>",
        ),
        "'func.return' at rows.mlir:6: a result has the rows between others",
    ),
    "weights of the size": (
        _module(
            X, f"%0 = tcp.add %x, %w : {X}, {X} -> {X}", f"return %0 : {X}"
        ).replace("%x: tensor<?x6x8xf32>)", f'%x: {X}, %w: {X} {{tcp.weight = "w"}})').replace(
            "  %0", "  tcp.bind_symbolic_shape %w, [%s0], affine_map<()[s0] -> (s0, 6, 8)> : "
            f"{X}\n  %0"
        ),
        "argument 1: a weight has a size that depends on symbols",
    ),
}  # fmt: skip


def _compiled(text: str, *, points: Points, weights: bool = True) -> Any:
    options = CompileOptions.of(target="cpu", weights=weights)
    module = ImportedModule("rows.mlir", text, "", weights={}, inputs=(), outputs=())
    return compile_symbolic(module, options, points=points)


@pytest.mark.parametrize("name", PADDED)
def test_padded(name: str) -> None:
    text, reference = PADDED[name]
    model = _compiled(text, points={"s0": [2, 5, 9]})
    assert model.symbols[0].padded, model.symbols[0].unpadded
    program = model.load(poison=True)
    for rows in (1, 2, 3, 4, 5, 7, 9):
        x = np.random.default_rng(rows).standard_normal((rows, 6, 8), dtype=np.float32)
        expected = reference(x.astype(np.float64))
        results = program(x)
        if not isinstance(expected, tuple):
            expected, results = (expected,), (results,)
        for result, each in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, each, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MIXED)
def test_mixed(name: str) -> None:
    text, reason = MIXED[name]
    weighted = "tcp.weight" in text
    model = _compiled(text, points={"s0": [2, 5, 9]}, weights=not weighted)
    assert model.symbols[0].unpadded == reason
    if weighted:
        return
    with pytest.raises(ArgumentError, match="has no point for them"):
        model.load()(np.zeros((3, 6, 8), np.float32))


TWO = """
func.func @main(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %batch = tcp.symbolic_int "batch" {min_val = 4, max_val = 16, divisor = 4} : i64
  %length = tcp.symbolic_int "length" {min_val = 1, max_val = 8} : i64
  tcp.bind_symbolic_shape %x, [%batch, %length], affine_map<()[s0, s1] -> (s0, s1, 8)> : tensor<?x?x8xf32>
  %0 = tcp.softmax %x {dim = 1 : i64} : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}
"""


def test_one_symbol_of_two_is_padded() -> None:
    model = _compiled(TWO, points={"batch": [4, 16], "length": [3, 8]})
    assert [symbol.unpadded for symbol in model.symbols] == [
        "",
        "'tcp.softmax' at rows.mlir:6: adds up the rows",
    ]
    program = model.load(poison=True)
    for batch, length in ((8, 3), (12, 8), (16, 3)):
        x = np.random.default_rng(batch).standard_normal((batch, length, 8), dtype=np.float32)
        np.testing.assert_allclose(program(x), _softmax(x.astype(np.float64), 1), rtol=1e-5)
    with pytest.raises(ArgumentError, match=r"length=4"):
        program(np.zeros((8, 4, 8), np.float32))


def test_values_that_contradict_each_other_are_not_padded() -> None:
    """The points are valid, but not each value of one symbol."""
    text = TWO.replace(
        "  %0 = tcp.softmax %x {dim = 1 : i64} : tensor<?x?x8xf32> -> tensor<?x?x8xf32>",
        "  %t = tcp.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<?x?x8xf32> -> tensor<?x?x8xf32>\n"
        "  %0 = tcp.add %x, %t : tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>",
    )
    model = _compiled(text, points=[{"batch": 4, "length": 4}, {"batch": 8, "length": 8}])
    assert model.symbols[0].unpadded == (
        "the model cannot be imported for batch=8: rows.mlir:7:8: error: 'tcp.add' op expects dims "
        "that are equal or 1, but got shapes [8, 4, 8] and [4, 8, 8]"
    )
