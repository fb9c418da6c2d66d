# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every op of tcp on shapes with `?`: it is verified, canonicalized, its shape is inferred as an
expression of symbols, and symbols are replaced by numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from torch_mlir import ir

from convoy import _convoy
from convoy.dialects import tcp

#: The values that symbols are replaced by.
VALUES = ({"s0": 6, "s1": 4}, {"s0": 1, "s1": 16})
SYMBOLS = """
    %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
    %s1 = tcp.symbolic_int "s1" {min_val = 4, max_val = 32, divisor = 2} : i64
"""


def _type(shape: str, *, at: dict[str, int] | None = None) -> str:
    """The tensor type of `s0,s1 + 1,8:f32`, with `?` for expressions, or their values."""
    sizes, _, element = shape.partition(":")
    parts = [part.strip() for part in sizes.split(",") if part.strip()]
    if at is not None:
        parts = [str(eval(part, {}, dict(at))) for part in parts]
    return f"tensor<{'x'.join([*(p if p.isdigit() else '?' for p in parts), element or 'f32'])}>"


def _bind(name: str, shape: str) -> str:
    sizes = shape.partition(":")[0].replace("//", "floordiv")
    return (
        f"tcp.bind_symbolic_shape {name}, [%s0, %s1], affine_map<()[s0, s1] -> ({sizes})> : "
        f"{_type(shape)}"
    )


@dataclass(frozen=True)
class Case:
    """An op on arguments of some shapes.

    Attributes:
        op: Its mnemonic.
        inputs: The shapes of the operands, `%0`, `%1`, ...
        output: The shape of the result.
        attributes: Its attributes.
        text: The op's operands and attributes, if these are not in the usual form.
        bound: Whether the result needs a `tcp.bind_symbolic_shape`.
    """

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: str = ""
    text: str = ""
    bound: bool = False

    def line(self, at: dict[str, int] | None = None) -> str:
        if self.text:
            found = re.sub(r"<([^<>]*)>", lambda match: _type(match[1], at=at), self.text)
            return f"%y = tcp.{self.op} {found}"
        operands = ", ".join(f"%{index}" for index in range(len(self.inputs)))
        types = ", ".join(_type(shape, at=at) for shape in self.inputs)
        attributes = f" {{{self.attributes}}}" if self.attributes else ""
        result = _type(self.output, at=at)
        if not self.inputs:
            return f"%y = tcp.{self.op}{attributes} : {result}"
        return f"%y = tcp.{self.op} {operands}{attributes} : {types} -> {result}"

    def module(self, at: dict[str, int] | None = None) -> str:
        """The op in a function, at values of the symbols or with symbols."""
        arguments = ", ".join(
            f"%{index}: {_type(shape, at=at)}" for index, shape in enumerate(self.inputs)
        )
        result = _type(self.output, at=at)
        lines = [self.line(at), f"return %y : {result}"]
        if at is None:
            bound = [_bind(f"%{index}", shape) for index, shape in enumerate(self.inputs)]
            lines = [SYMBOLS, *bound, *lines]
            if self.bound:
                lines.insert(-1, _bind("%y", self.output))
        body = "\n    ".join(lines)
        return f"func.func @main({arguments}) -> {result} {{\n    {body}\n}}"


def _window(rank: int = 1, **numbers: int) -> str:
    """Attributes of a window: each number once for each spatial dim, `pad` twice."""
    lists = {
        name: ", ".join([str(number)] * rank * (2 if name == "pad" else 1))
        for name, number in sorted(numbers.items())
    }
    return ", ".join(f"{name} = array<i64: {text}>" for name, text in lists.items())


UNARY = {
    **dict.fromkeys(
        [
            "abs",
            "ceil",
            "cos",
            "erf",
            "exp",
            "expm1",
            "floor",
            "log",
            "neg",
            "reciprocal",
            "round",
            "rsqrt",
            "sigmoid",
            "silu",
            "sin",
            "sqrt",
            "tanh",
            "gelu",
        ],
        "",
    ),
    "elu": "alpha = 1.0 : f64",
    "leaky_relu": "negative_slope = 0.1 : f64",
    "polynomial": "coefficients = array<f64: 1.0>",
    "clamp": "min_float = 0.0 : f32",
    "softmax": "dim = 0 : i64",
    "cumsum": "dim = 0 : index",
    "cumprod": "dim = 0 : index",
    "layer_norm": "dims = array<i64: 0>, epsilon = 1.0e-5 : f64",
    "reverse": "dims = array<i64: 0>",
}
FLOATS = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "copysign"]
INTEGERS = ["bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right", "gcd"]
CONV = _window(dilation=1, pad=1, stride=2)
POOL = _window(dilation=1, kernel=2, pad=0, stride=2)
GROUP = """%0, %1 {
    ^bb0(%a: <s0,8>, %b: <1,8>):
      %z = tcp.add %a, %b : <s0,8>, <1,8> -> <s0,8>
      tcp.yield %z : <s0,8>
    } : <s0,8>, <1,8> -> <s0,8>"""
SCAN = """trips 5 carried(%0 : <s0,8>) sliced(%1 : <5,s0,8>) {
    ^bb0(%a: <s0,8>, %b: <s0,8>):
      %z = tcp.add %a, %b : <s0,8>, <s0,8> -> <s0,8>
      tcp.yield %z : <s0,8>
    } -> <s0,8>"""
CASES = [
    *(Case(op, ("s0,8,s1 + 1",), "s0,8,s1 + 1", each) for op, each in UNARY.items()),
    *(Case(op, ("s0,8,1", "1,8,s1"), "s0,8,s1") for op in FLOATS),
    *(Case(op, ("s0,8:i32", "s0,1:i32"), "s0,8:i32") for op in INTEGERS),
    Case("cast", ("s0,8",), "s0,8:f16"),
    Case("compare", ("s0,8", "s0,8"), "s0,8:i1", 'predicate = "lt"'),
    Case(
        "select", ("s0,1:i1", "1,8", "s0,8"), "s0,8",
        text="%0, %1, %2 : <s0,1:i1>, <1,8>, <s0,8> -> <s0,8>",
    ),
    Case("conv1d", ("s0,4,s1", "8,4,3"), "s0,8,(s1 - 1) // 2 + 1", CONV),
    Case(
        "conv2d", ("s0,4,s1,8", "8,4,3,3"), "s0,8,s1 - 2,6",
        _window(2, dilation=1, pad=0, stride=1),
    ),
    Case("conv3d", ("s0,4,s1,8,8", "8,4,1,1,1"), "s0,8,s1,8,8", _window(3, dilation=1, pad=0, stride=1)),
    Case(
        "conv_transpose", ("s0,8,s1", "8,4,3"), "s0,4,s1 * 2",
        _window(dilation=1, output_pad=1, pad=1, stride=2),
    ),
    Case("conv_backward_data", ("s0,8,s1", "8,4,3"), "s0,4,s1 * 2", CONV, bound=True),
    Case("conv_backward_filter", ("s0,4,s1 * 2", "s0,8,s1"), "8,4,3", CONV),
    Case("matmul", ("s0,s1,8", "1,8,s0"), "s0,s1,s0"),
    Case(
        "attention", ("s0,2,s1,8", "s0,2,s1,8", "s0,2,s1,8", "1,1,s1,s1"), "s0,2,s1,8",
        text="%0, %1, %2 mask %3 {scale = 1.0 : f64} : <s0,2,s1,8>, <s0,2,s1,8>, <s0,2,s1,8>, "
        "<1,1,s1,s1> -> <s0,2,s1,8>",
    ),
    Case("max_pool", ("s0,4,s1",), "s0,4,s1 // 2", POOL),
    Case(
        "avg_pool", ("s0,4,s1",), "s0,4,(s1 + 1) // 2",
        _window(ceil_pad=1, kernel=2, pad=0, stride=2) + ", count_include_pad",
    ),
    Case("max_pool_indices", ("s0,4,s1", "s0,4,s1 // 2"), "s0,4,s1 // 2:i64", POOL),
    Case("max_pool_backward", ("s0,4,s1 // 2", "s0,4,s1 // 2:i64"), "s0,4,s1", POOL, bound=True),
    *(
        Case(f"reduce_{kind}", ("s0,8,s1",), "s0,8,1", "dims = array<i64: 2>")
        for kind in ("sum", "mean", "max")
    ),
    Case("reshape", ("s0,4,6",), "s0,24"),
    Case("reshape", ("s0,s1,12",), "s0 * s1,12"),
    Case("reshape", ("s0 * s1,12",), "s0,s1,12", bound=True),
    Case("transpose", ("s0,4,s1",), "s1,s0,4", "perm = array<i64: 2, 0, 1>"),
    Case(
        "slice", ("s0,s1,8",), "s0,(s1 - 2) // 3 + 1,4",
        "sizes = array<i64: -1, -1, 4>, starts = array<i64: 0, 1, 0>, strides = array<i64: 1, 3, 2>",
    ),
    Case("slice", ("s0,s1",), "1,2", "sizes = array<i64: 1, 2>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>"),
    Case(
        "pad", ("s0,s1",), "s0 + 2,s1 * 2 - 2",
        "high = array<i64: 2, 0>, interior = array<i64: 0, 1>, low = array<i64: 0, -1>, value = 0.0 : f64",
    ),
    Case("broadcast", ("s0,1",), "s0,8"),
    Case("broadcast", ("s0,1",), "s0,s1", bound=True),
    Case("concat", ("s0,8", "s1,8", "3,8"), "s0 + s1 + 3,8", "dim = 0 : i64"),
    Case("iota", (), "s0,8:i64", "dim = 0 : index", bound=True),
    Case("index_select", ("s0,8", "s1,3:i64"), "s1,3,8", "dim = 0 : index"),
    Case("gather", ("s0,8", "s1,8:i64"), "s1,8", "dim = 0 : index"),
    Case("scatter", ("s0,s1", "3,1:i64", "3,s1"), "s0,s1", 'dim = 0 : index, kind = "add"'),
    Case("argsort", ("s0,s1",), "s0,s1:i64"),
    Case("isolated_group", ("s0,8", "1,8"), "s0,8", text=GROUP),
    Case("scan", ("s0,8", "5,s0,8"), "s0,8", text=SCAN),
]  # fmt: skip


def _name(case: Case) -> str:
    return f"{case.op}-{case.output}"


def _run(text: str, pipeline: str) -> str:
    return _convoy.run_pipeline(text, "module", f"builtin.module({pipeline})")


def _without_locations(text: str) -> str:
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        return str(ir.Module.parse(text))


@contextmanager
def _returned(text: str) -> Iterator[ir.Value]:
    """The value that the function of a module returns."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        block = module.body.operations[0].regions[0].blocks[0]
        (value,) = list(block.operations)[-1].operands
        yield value


def _bound_sizes(text: str, at: dict[str, int]) -> list[int]:
    """The sizes of the returned value at values of the symbols: those that it is bound to."""
    with _returned(text) as value:
        shape = ir.RankedTensorType(value.type)
        if shape.has_static_shape:
            return list(shape.shape)
        (bind,) = [
            use.owner.operation
            for use in value.uses
            if use.owner.operation.name == "tcp.bind_symbolic_shape"
        ]
        symbols = [
            operand.owner.attributes["symbol_name"].value for operand in list(bind.operands)[1:]
        ]
        expressions = re.search(r"-> \((.*)\)>", str(bind.attributes["shape_expressions"]))
        assert expressions
        values = {f"s{index}": at[name] for index, name in enumerate(symbols)}
        return [
            eval(each.replace("floordiv", "//"), {}, dict(values))
            for each in expressions[1].split(",")
        ]


def test_every_op_has_a_case() -> None:
    made = {
        each.OPERATION_NAME.removeprefix("tcp.")
        for each in vars(tcp).values()
        if isinstance(each, type) and issubclass(each, ir.OpView)
    }
    assert made - {case.op for case in CASES} == {"yield", "symbolic_int", "bind_symbolic_shape"}


@pytest.mark.parametrize("case", CASES, ids=_name)
@pytest.mark.parametrize("before", ["", "canonicalize,cse,"], ids=["plain", "canonicalized"])
def test_shape_is_an_expression_of_symbols(case: Case, before: str) -> None:
    text = _run(case.module(), f"{before}tcp-infer-symbolic-shapes")
    for at in VALUES:
        expected = [eval(each, {}, dict(at)) for each in case.output.partition(":")[0].split(",")]
        assert _bound_sizes(text, at) == expected


@pytest.mark.parametrize("case", CASES, ids=_name)
@pytest.mark.parametrize("before", ["", "canonicalize,cse,"], ids=["plain", "canonicalized"])
def test_symbols_become_numbers(case: Case, before: str) -> None:
    for at in VALUES:
        values = ",".join(f"{name}={value}" for name, value in at.items())
        text = _run(case.module(), f"{before}tcp-specialize-symbols{{values={values}}}")
        assert "symbol" not in text
        assert "?" not in text
        with _returned(text) as value:
            assert str(value.type) == _type(case.output, at=at)


@pytest.mark.parametrize("case", [case for case in CASES if case.op != "slice"], ids=_name)
def test_specialized_op_is_that_of_static_shapes(case: Case) -> None:
    """The attributes as well, except those of a slice, whose sizes of -1 become numbers."""
    (at, _) = VALUES
    values = ",".join(f"{name}={value}" for name, value in at.items())
    specialized = _run(case.module(), f"tcp-specialize-symbols{{values={values}}}")
    assert _without_locations(specialized) == _without_locations(_run(case.module(at), ""))


@pytest.mark.parametrize("case", [case for case in CASES if case.bound], ids=_name)
def test_unbound_shape_is_refused(case: Case) -> None:
    text = "\n".join(
        line for line in case.module().splitlines() if "bind_symbolic_shape %y" not in line
    )
    with pytest.raises(_convoy.CompilationFailed) as caught:
        _run(text, "tcp-specialize-symbols{values=s0=6,s1=4}")
    _, diagnostics = caught.value.args
    messages = [message for *_, message in diagnostics]
    assert re.match(
        rf"'tcp\.{case.op}' op expects a shape of result #0 that follows from symbols, but got \[.*\?.*\]; "
        "bind it with 'tcp.bind_symbolic_shape'",
        messages[0],
    )
    assert messages[1] == "for s0=6 s1=4"
