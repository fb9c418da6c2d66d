"""Grouped kernels (`plan-group-siblings`) compute the same, whatever order the ops were in."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from op_cases import Function
from placed import check_pass
from torch import Tensor

import convoy
from convoy.compiler import compile_imported
from convoy.frontend import import_module

_ROWS, _COLUMNS, _BUFFERS, _OPS = 8, 6, 5, 60


def _frequencies(x: Tensor) -> Tensor:
    parts = [x]
    for octave in range(4):
        parts += [torch.sin(2.0**octave * x), torch.cos(2.0**octave * x)]
    return torch.cat(parts, -1)


def _heads(x: Tensor) -> tuple[Tensor, ...]:
    """The activations of products, which are apart from each other."""
    scores, boxes = x @ x.transpose(2, 3), x.transpose(2, 3) @ x
    return (torch.sigmoid(scores.roll(1, 3)) * 2).flip(2), torch.exp(boxes.roll(1, 2)).flip(3)


def _softmaxes(x: Tensor) -> tuple[Tensor, ...]:
    return x.softmax(-1), (x + 1).tanh().flip(1), x.flip(3).softmax(-1)


@pytest.mark.parametrize("function", [_frequencies, _heads, _softmaxes])
def test_results_are_the_same(function, convoy_opt: Callable[..., str]) -> None:
    torch.manual_seed(0)
    apart, grouped = check_pass(
        "--plan-group-siblings", function, torch.randn(2, 3, 6, 8), convoy_opt
    )
    assert grouped.count("scf.execute_region") > apart.count("scf.execute_region")


def _program(seed: int) -> tuple[str, str]:
    """The body of a function on random slices of a few buffers, from `%x` to `%result`."""
    rng = random.Random(seed)
    lines, names = [], iter(range(10**6))
    whole = f"memref<{_ROWS}x{_COLUMNS}xf32>"
    for buffer in range(_BUFFERS):
        lines += [
            f"%b{buffer} = memref.alloc() : {whole}",
            f"memref.copy %x, %b{buffer} : {whole} to {whole}",
        ]

    def slice_of(columns: int) -> tuple[str, str, tuple[int, int]]:
        buffer, begin = rng.randrange(_BUFFERS), rng.randrange(_COLUMNS - columns + 1)
        name = f"%s{next(names)}"
        offset = f", offset: {begin}" if begin else ""
        kind = f"memref<{_ROWS}x{columns}xf32, strided<[{_COLUMNS}, 1]{offset}>>"
        lines.append(
            f"{name} = memref.subview %b{buffer}[0, {begin}] [{_ROWS}, {columns}] [1, 1] : "
            f"{whole} to {kind}"
        )
        return name, kind, (buffer, begin)

    for _ in range(_OPS):
        columns = rng.randint(1, 3)
        if rng.random() < 0.15:
            a, b = rng.sample(range(_BUFFERS), 2)
            lines.append(f"memref.copy %b{a}, %b{b} : {whole} to {whole}")
            continue
        out, kind, (buffer, begin) = slice_of(columns)
        # The operand and the result are disjoint or the same slice: an elementwise op may not read
        # a part of what it writes.
        while True:
            value, read, (other, first) = slice_of(columns)
            if other != buffer or first == begin or abs(first - begin) >= columns:
                break
        op = rng.choice(["tanh", "abs", "negf"])
        lines.append(f"linalg.{op} ins({value} : {read}) outs({out} : {kind})")
    result = f"memref<{_BUFFERS * _ROWS}x{_COLUMNS}xf32>"
    for buffer in range(_BUFFERS):
        start = buffer * _ROWS
        offset = f", offset: {start * _COLUMNS}" if start else ""
        kind = f"memref<{_ROWS}x{_COLUMNS}xf32, strided<[{_COLUMNS}, 1]{offset}>>"
        lines += [
            f"%r{buffer} = memref.subview %result[{start}, 0] [{_ROWS}, {_COLUMNS}] [1, 1] : "
            f"{result} to {kind}",
            f"memref.copy %b{buffer}, %r{buffer} : {whole} to {kind}",
        ]
    return "\n".join(lines), result


def _module(body: str, result: str) -> str:
    return f"""module attributes {{tcp.target = "cuda"}} {{
      func.func @main(%x: memref<{_ROWS}x{_COLUMNS}xf32> {{tcp.input = "inputs_0"}},
                      %result: {result} {{tcp.output = "0"}}) attributes {{tcp.target = "cuda"}} {{
        {body}
        return
      }}
      func.func @prepare_weights() attributes {{tcp.target = "cpu"}} {{
        return
      }}
    }}"""


def test_order_of_effects(convoy_opt: Callable[..., str]) -> None:
    """Random ops that read and overwrite slices of a few buffers."""
    x = torch.rand(_ROWS, _COLUMNS)
    identity = import_module(Function(lambda x: x.repeat(_BUFFERS, 1)).eval(), (x,))
    grouped = 0
    for seed in range(12):
        text, results = _module(*_program(seed)), []
        for passes in ((), ("--plan-group-siblings",)):
            planned = convoy_opt(text, *passes)
            grouped += planned.count("scf.execute_region")
            planned = convoy_opt(
                planned.replace('"cuda"', '"cpu"'),
                "--canonicalize",
                "--plan-arena",
                "--collect-manifest",
            )
            options = convoy.CompileOptions(target="cpu")
            model = compile_imported(replace(identity, text=planned), options, phase="plan")
            results.append(model.load()(x))
        assert torch.equal(*results), f"seed {seed}"
    assert grouped > 20


def test_bound_of_the_number(convoy_opt: Callable[..., str]) -> None:
    """A kernel has at most 32 ops."""
    count, kind = 40, "memref<8xf32>"
    outputs = ", ".join(f"%y{i}: {kind}" for i in range(count))
    ops = "\n".join(f"linalg.exp ins(%x : {kind}) outs(%y{i} : {kind})" for i in range(count))
    text = convoy_opt(
        f'func.func @main(%x: {kind}, {outputs}) attributes {{tcp.target = "cuda"}} {{\n'
        f"{ops}\nreturn\n}}",
        "--plan-group-siblings",
    )
    regions = text.split("scf.execute_region")[1:]
    assert [region.count("linalg.exp") for region in regions] == [32, 8]
