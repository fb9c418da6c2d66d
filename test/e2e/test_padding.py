"""Calls between the points of a model with dynamic sizes: padded where no op mixes the rows, and
refused with the op where one may."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

import convoy
from convoy import _convoy
from convoy.dynamic.padding import why_not_padded
from convoy.frontend import ImportedModule
from convoy_runtime import ArgumentError

BATCH = Dim("batch", min=1, max=9)
ROWS = torch.randn(3, 6, 8)
IMAGES = torch.randn(3, 4, 12, 12)


class Model(torch.nn.Module):
    """A function, or a module, of one input."""

    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(x)


class Swapped(torch.nn.Module):
    """A module whose rows are in dim 1."""

    def __init__(self, body: torch.nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(x.transpose(0, 1)).transpose(0, 1)


CLASSIFIER = torch.nn.Sequential(
    torch.nn.Conv2d(4, 8, 3),
    torch.nn.BatchNorm2d(8),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(200, 7),
)
#: Models in which row j of each result depends on row j of the input alone.
PADDED: dict[str, tuple[Any, torch.Tensor]] = {
    "classifier": (CLASSIFIER, IMAGES),
    # Merges the rows between other dims: sequence, batch.
    "encoder": (Swapped(torch.nn.TransformerEncoderLayer(8, 2, 16)), ROWS),
    "encoder, batch first": (torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), ROWS),
    "lstm": (torch.nn.LSTM(8, 5, batch_first=True, bidirectional=True), ROWS),
    "gru": (torch.nn.GRU(8, 5, batch_first=True), ROWS),
    "concat of another dim": (lambda x: torch.cat([x, x], 1), ROWS),
    "first row": (lambda x: x + x[:1], ROWS),
    "rows in the middle": (
        lambda x: (x.transpose(0, 1).flatten(0, 1) * 2).unflatten(0, (6, -1)).transpose(0, 1),
        ROWS,
    ),
    "instance norm": (functional.instance_norm, ROWS),
    "cumsum of another dim": (lambda x: x.cumsum(1), ROWS),
    "topk": (lambda x: x.topk(2, -1), ROWS),
    "gather": (lambda x: x.gather(1, x.argsort(1)), ROWS),
    "row by arange": (lambda x: x[torch.arange(x.shape[0]), x.argmax(1)[:, 0]], ROWS),
    "mask by arange": (
        lambda x: x[torch.arange(x.shape[0])[:, None, None], torch.arange(6)] + 1,
        ROWS,
    ),
    "zeros of the size": (lambda x: torch.cat([torch.zeros(x.shape[0], 1, 8), x], 1), ROWS),
    "bilinear": (lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), IMAGES),
    "two results": (lambda x: (x.sum(1), x.flatten(0, 1).exp()), ROWS),
}
#: Models whose rows are mixed, or that compute with their number.
MIXED: dict[str, tuple[Any, str]] = {
    "softmax": (lambda x: x.softmax(0), "'tcp.softmax' at .*test_padding.py:.*: adds up the rows"),
    "mean": (lambda x: x - x.mean(0), "'tcp.reduce_mean' .*: reduces the rows"),
    "number": (lambda x: x * x.shape[0], "'arith.constant' .*: has attributes that depend"),
    "arange": (
        lambda x: x + torch.arange(x.shape[0]).view(-1, 1, 1),
        "the constant '.*' depends on the size",
    ),
    "flip": (lambda x: x.flip(0), "'tcp.reverse' .*: reverses the rows"),
    "concat": (lambda x: torch.cat([x, x]), "'tcp.concat' .*: puts other elements"),
    "last row": (lambda x: x + x[-1:], "'tcp.slice' .*: has attributes that depend on the size"),
    "product of rows": (lambda x: x.flatten(1) @ x.flatten(1).T, "two dims that depend"),
    "result between others": (lambda x: x.transpose(0, 1).flatten(0, 1), "a result has the rows"),
    "cumsum": (lambda x: x.cumsum(0), "."),
    "roll": (lambda x: x.roll(1, 0), "."),
    "sort": (lambda x: x.sort(0), "."),
    "table": (
        lambda x: x.flatten(1) + torch.eye(9, 48)[: x.shape[0]],
        "the constant '.*' depends on the size",
    ),
    "standard deviation": (lambda x: x / x.std(), "'tcp.reduce_mean' .*: reduces the rows"),
    "pad": (lambda x: functional.pad(x, (0, 0, 0, 0, 1, 0))[:-1], "."),
    "rows as channels": (lambda x: functional.avg_pool1d(x.transpose(0, 1), 1), "."),
}


def compiled(body: Any, x: torch.Tensor) -> tuple[torch.nn.Module, Any]:
    torch.manual_seed(0)
    module = Model(body).eval()
    model = convoy.compile(
        module,
        (x,),
        target="cpu",
        dynamic_shapes={"x": {0: BATCH}},
        points={"batch": [2, 5, 9]},
    )
    return module, model


@torch.no_grad()
@pytest.mark.parametrize("name", PADDED)
def test_padded(name: str) -> None:
    body, x = PADDED[name]
    module, model = compiled(body, x)
    assert model.symbols[0].padded
    program = model.load(poison=True)
    for rows in (1, 3, 4, 7, 9):
        given = torch.randn(rows, *x.shape[1:])
        torch.testing.assert_close(program(given), module(given), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MIXED)
def test_mixed(name: str) -> None:
    body, reason = MIXED[name]
    _, model = compiled(body, ROWS)
    found = model.symbols[0].unpadded
    assert re.search(reason, found), found
    assert not model.symbols[0].padded
    with pytest.raises(ArgumentError, match="has no point for them"):
        model.load()(torch.randn(3, 6, 8))


def test_other_operands_are_refused() -> None:
    """Modules whose ops have the same names, but not the same operands."""
    modules = {}
    for rows, operands in ((2, "%x, %y"), (3, "%y, %x")):
        kind = f"tensor<{rows}x8xf32>"
        text = (
            f"func.func @main(%x: {kind}, %y: {kind}) -> {kind} {{\n"
            f"  %0 = tcp.sub {operands} : {kind}, {kind} -> {kind}\n"
            f"  return %0 : {kind}\n}}\n"
        )
        generic = _convoy.run_pipeline(text, "rows.mlir", "builtin.module()")
        modules[rows] = ImportedModule("rows", generic, "", weights={}, inputs=(), outputs=())
    expected = "'tcp.sub' at rows.mlir:2: has other operands for another size"
    assert why_not_padded(modules, 1) == expected
