"""Loops of `tcp` that no model of the frontend has, compiled for the CPU and compared with the
reference interpreter: states that are exchanged or stacked, nested loops, sliced inputs and
constants, other element types."""

from __future__ import annotations

import pytest
import torch
from frontend_checks import compare_results
from tcp_reference import run_text
from torch_mlir import ir

import convoy
from convoy import dialects
from convoy.compiler import compile_imported

_V = "tensor<4xf32>"

#: Arguments and result types of @main, and its body.
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "exchange": (
        f"%x: {_V}, %y: {_V}",
        f"{_V}, {_V}",
        f"""
  %0:2 = tcp.scan trips 5 carried(%x, %y : {_V}, {_V}) {{
  ^bb0(%a: {_V}, %b: {_V}):
    tcp.yield %b, %a : {_V}, {_V}
  }} -> {_V}, {_V}
  return %0#0, %0#1 : {_V}, {_V}""",
    ),
    "fibonacci": (
        f"%x: {_V}, %y: {_V}",
        f"{_V}, {_V}, tensor<6x4xf32>, tensor<6x4xf32>",
        f"""
  %0:4 = tcp.scan trips 6 reverse carried(%x, %y : {_V}, {_V}) {{
  ^bb0(%a: {_V}, %b: {_V}):
    %1 = tcp.add %a, %b : {_V}, {_V} -> {_V}
    tcp.yield %b, %1, %a, %1 : {_V}, {_V}, {_V}, {_V}
  }} -> {_V}, {_V}, tensor<6x4xf32>, tensor<6x4xf32>
  return %0#0, %0#1, %0#2, %0#3 : {_V}, {_V}, tensor<6x4xf32>, tensor<6x4xf32>""",
    ),
    "same_value_twice": (
        f"%x: {_V}, %y: {_V}",
        f"{_V}, {_V}, {_V}",
        f"""
  %0:2 = tcp.scan trips 3 carried(%x, %y : {_V}, {_V}) {{
  ^bb0(%a: {_V}, %b: {_V}):
    %1 = tcp.sub %a, %b : {_V}, {_V} -> {_V}
    %2 = tcp.exp %1 : {_V} -> {_V}
    tcp.yield %2, %2 : {_V}, {_V}
  }} -> {_V}, {_V}
  return %0#0, %0#1, %x : {_V}, {_V}, {_V}""",
    ),
    "first_of_shift_register": (
        "%x: tensor<3x4xf32>, %s: tensor<7x4xf32>",
        "tensor<3x4xf32>, tensor<7x1x4xf32>",
        f"""
  %0:2 = tcp.scan trips 7 carried(%x : tensor<3x4xf32>) sliced(%s : tensor<7x4xf32>) {{
  ^bb0(%a: tensor<3x4xf32>, %e: {_V}):
    %1 = tcp.slice %a {{starts = array<i64: 1, 0>, sizes = array<i64: 2, 4>, strides = array<i64: 1, 1>}} : tensor<3x4xf32> -> tensor<2x4xf32>
    %2 = tcp.reshape %e : {_V} -> tensor<1x4xf32>
    %3 = tcp.concat %1, %2 {{dim = 0 : i64}} : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<3x4xf32>
    %4 = tcp.slice %a {{starts = array<i64: 0, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>}} : tensor<3x4xf32> -> tensor<1x4xf32>
    tcp.yield %3, %4 : tensor<3x4xf32>, tensor<1x4xf32>
  }} -> tensor<3x4xf32>, tensor<7x1x4xf32>
  return %0#0, %0#1 : tensor<3x4xf32>, tensor<7x1x4xf32>""",
    ),
    "nested": (
        "%x: tensor<3x5x2xf32>, %h: tensor<2xf32>, %w: tensor<2x2xf32>",
        "tensor<2xf32>, tensor<3x5x2xf32>",
        """
  %0:2 = tcp.scan trips 3 carried(%h : tensor<2xf32>) sliced(%x : tensor<3x5x2xf32>) invariant(%w : tensor<2x2xf32>) {
  ^bb0(%a: tensor<2xf32>, %row: tensor<5x2xf32>, %u: tensor<2x2xf32>):
    %1:2 = tcp.scan trips 5 reverse carried(%a : tensor<2xf32>) sliced(%row : tensor<5x2xf32>) invariant(%u : tensor<2x2xf32>) {
    ^bb0(%b: tensor<2xf32>, %e: tensor<2xf32>, %v: tensor<2x2xf32>):
      %2 = tcp.reshape %b : tensor<2xf32> -> tensor<1x2xf32>
      %3 = tcp.matmul %2, %v : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
      %4 = tcp.reshape %3 : tensor<1x2xf32> -> tensor<2xf32>
      %5 = tcp.add %4, %e : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
      %6 = tcp.tanh %5 : tensor<2xf32> -> tensor<2xf32>
      tcp.yield %6, %6 : tensor<2xf32>, tensor<2xf32>
    } -> tensor<2xf32>, tensor<5x2xf32>
    tcp.yield %1#0, %1#1 : tensor<2xf32>, tensor<5x2xf32>
  } -> tensor<2xf32>, tensor<3x5x2xf32>
  return %0#0, %0#1 : tensor<2xf32>, tensor<3x5x2xf32>""",
    ),
    "nested_state_kept": (
        f"%x: {_V}, %y: {_V}",
        f"{_V}, {_V}",
        f"""
  %0:2 = tcp.scan trips 3 carried(%x, %y : {_V}, {_V}) {{
  ^bb0(%a: {_V}, %b: {_V}):
    %1 = tcp.scan trips 2 carried(%a : {_V}) invariant(%b : {_V}) {{
    ^bb0(%c: {_V}, %d: {_V}):
      %2 = tcp.sub %d, %c : {_V}, {_V} -> {_V}
      tcp.yield %2 : {_V}
    }} -> {_V}
    %3 = tcp.add %a, %1 : {_V}, {_V} -> {_V}
    tcp.yield %1, %3 : {_V}, {_V}
  }} -> {_V}, {_V}
  return %0#0, %0#1 : {_V}, {_V}""",
    ),
    "constants": (
        f"%x: {_V}",
        f"{_V}, tensor<3x4xf32>",
        f"""
  %s = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.5, 2.5, 3.5]]> : tensor<3x4xf32>
  %h = arith.constant dense<0.5> : {_V}
  %0:2 = tcp.scan trips 3 carried(%h : {_V}) sliced(%s : tensor<3x4xf32>) invariant(%x : {_V}) {{
  ^bb0(%a: {_V}, %e: {_V}, %i: {_V}):
    %1 = tcp.mul %a, %e : {_V}, {_V} -> {_V}
    %2 = tcp.add %1, %i : {_V}, {_V} -> {_V}
    tcp.yield %2, %1 : {_V}, {_V}
  }} -> {_V}, tensor<3x4xf32>
  return %0#0, %0#1 : {_V}, tensor<3x4xf32>""",
    ),
    "other_types": (
        "%n: tensor<4xi64>, %m: tensor<3x4xi1>, %d: tensor<3x4xf64>",
        "tensor<4xi64>, tensor<4xf64>, tensor<3x4xi1>, tensor<3x4xf64>",
        """
  %z = arith.constant dense<0.0> : tensor<4xf64>
  %0:4 = tcp.scan trips 3 carried(%n, %z : tensor<4xi64>, tensor<4xf64>) sliced(%m, %d : tensor<3x4xi1>, tensor<3x4xf64>) {
  ^bb0(%a: tensor<4xi64>, %t: tensor<4xf64>, %b: tensor<4xi1>, %e: tensor<4xf64>):
    %1 = tcp.mul %a, %a : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
    %2 = tcp.select %b, %1, %a : tensor<4xi1>, tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
    %3 = tcp.compare %2, %1 {predicate = "lt"} : tensor<4xi64>, tensor<4xi64> -> tensor<4xi1>
    %4 = tcp.add %t, %e : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    tcp.yield %2, %4, %3, %t : tensor<4xi64>, tensor<4xf64>, tensor<4xi1>, tensor<4xf64>
  } -> tensor<4xi64>, tensor<4xf64>, tensor<3x4xi1>, tensor<3x4xf64>
  return %0#0, %0#1, %0#2, %0#3 : tensor<4xi64>, tensor<4xf64>, tensor<3x4xi1>, tensor<3x4xf64>""",
    ),
    "outputs_used_and_returned": (
        "%x: tensor<5x2x3xf32>",
        "tensor<5x2x3xf32>, tensor<5x2x6xf32>, tensor<2x3xf32>",
        """
  %z = arith.constant dense<1.0> : tensor<2x3xf32>
  %0:2 = tcp.scan trips 5 carried(%z : tensor<2x3xf32>) sliced(%x : tensor<5x2x3xf32>) {
  ^bb0(%a: tensor<2x3xf32>, %e: tensor<2x3xf32>):
    %1 = tcp.mul %a, %e : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    tcp.yield %1, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<5x2x3xf32>
  %1:2 = tcp.scan trips 5 reverse carried(%0#0 : tensor<2x3xf32>) sliced(%0#1 : tensor<5x2x3xf32>) {
  ^bb0(%a: tensor<2x3xf32>, %e: tensor<2x3xf32>):
    %2 = tcp.add %a, %e : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    tcp.yield %2, %a : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<5x2x3xf32>
  %2 = tcp.concat %0#1, %1#1 {dim = 2 : i64} : tensor<5x2x3xf32>, tensor<5x2x3xf32> -> tensor<5x2x6xf32>
  return %0#1, %2, %0#0 : tensor<5x2x3xf32>, tensor<5x2x6xf32>, tensor<2x3xf32>""",
    ),
    "convolution": (
        "%x: tensor<3x1x2x5x5xf32>, %w: tensor<2x2x3x3xf32>",
        "tensor<3x1x2x5x5xf32>",
        """
  %z = arith.constant dense<0.0> : tensor<1x2x5x5xf32>
  %0:2 = tcp.scan trips 3 carried(%z : tensor<1x2x5x5xf32>) sliced(%x : tensor<3x1x2x5x5xf32>) invariant(%w : tensor<2x2x3x3xf32>) {
  ^bb0(%a: tensor<1x2x5x5xf32>, %e: tensor<1x2x5x5xf32>, %f: tensor<2x2x3x3xf32>):
    %1 = tcp.conv2d %a, %f {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32> -> tensor<1x2x5x5xf32>
    %2 = tcp.add %1, %e : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32> -> tensor<1x2x5x5xf32>
    %3 = tcp.tanh %2 : tensor<1x2x5x5xf32> -> tensor<1x2x5x5xf32>
    tcp.yield %3, %3 : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>
  } -> tensor<1x2x5x5xf32>, tensor<3x1x2x5x5xf32>
  return %0#1 : tensor<3x1x2x5x5xf32>""",
    ),
}


def _inputs(text: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    made = []
    for argument in text.split(", "):
        *dims, element = argument.partition("<")[2].rstrip(">").split("x")
        shape = [int(dim) for dim in dims]
        made.append(
            torch.rand(shape, generator=generator) > 0.5
            if element == "i1"
            else torch.randint(-9, 9, shape, generator=generator)
            if element == "i64"
            else torch.randn(
                shape,
                generator=generator,
                dtype=torch.float64 if element == "f64" else torch.float32,
            )
        )
    return made


def _imported(name: str) -> convoy.ImportedModule:
    arguments, results, body = PROGRAMS[name]
    names = [each.partition(":")[0].strip(" %") for each in arguments.split(", ")]
    inputs = ", ".join(
        f'{each} {{tcp.input = "{own}"}}'
        for each, own in zip(arguments.split(", "), names, strict=True)
    )
    outputs = ", ".join(
        f'{each} {{tcp.output = "{index}"}}' for index, each in enumerate(results.split(", "))
    )
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = dialects.parse(f"func.func @main({inputs}) -> ({outputs}) {{{body}\n}}", context)
        text = dialects.to_text(module)
    count = len(results.split(", "))
    return convoy.ImportedModule(
        name, text, "", {}, tuple(names), tuple(str(index) for index in range(count))
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_loop_on_the_cpu(name: str) -> None:
    imported = _imported(name)
    inputs = _inputs(PROGRAMS[name][0])
    compiled = compile_imported(imported, convoy.CompileOptions(target="cpu"))
    got = compiled.load(poison=True)(*inputs)
    got = [
        each.double() if each.dtype.is_floating_point else each
        for each in (got if isinstance(got, tuple) else (got,))
    ]
    compare_results(got, run_text(imported.text, inputs, {}), 1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loop_compiles_for_cuda(name: str) -> None:
    compiled = compile_imported(_imported(name), convoy.CompileOptions(target="cuda"))
    assert compiled.manifest.steps
