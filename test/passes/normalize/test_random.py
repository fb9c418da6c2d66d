"""Random graphs through the normalize phase: their results do not change."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
import torch
from tcp_reference import run_text
from test_normalize import normalize, run_both
from torch import Tensor


@dataclass(frozen=True)
class _Value:
    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return "tensor<" + "".join(f"{size}x" for size in self.shape) + "f64>"


@dataclass
class _Graph:
    """Grows op by op. Every op takes one of the latest values, so that chains get long; unused
    values become results."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    data: list[_Value] = field(default_factory=list)
    weights: list[_Value] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def weight(self, *shape: int) -> _Value:
        self.weights.append(_Value(f"%w{len(self.weights)}", shape))
        return self.weights[-1]

    def pick(self, *, spatial: bool = False) -> _Value:
        candidates = [
            value
            for value in self.data[-4:]
            if not spatial or (len(value.shape) == 4 and min(value.shape[2:]) > 2)
        ]
        return self.random.choice(candidates or self.data[:1])

    def emit(
        self, op: str, operands: Sequence[_Value], shape: Sequence[int], attributes: str = ""
    ) -> _Value:
        result = _Value(f"%v{len(self.lines)}", tuple(shape))
        names, types = ", ".join(v.name for v in operands), ", ".join(v.type for v in operands)
        attributes = f" {{{attributes}}}" if attributes else ""
        self.lines.append(
            f'{result.name} = "tcp.{op}"({names}){attributes} : ({types}) -> {result.type}'
        )
        self.used.update(v.name for v in operands)
        if not all(v.name.startswith("%w") for v in operands):
            self.data.append(result)
        return result

    def text(self) -> tuple[str, list[_Value]]:
        results = [value for value in self.data[1:] if value.name not in self.used]
        arguments = [f"{self.data[0].name}: {self.data[0].type}"] + [
            f"{w.name}: {w.type}" for w in self.weights
        ]
        types = ", ".join(v.type for v in results)
        all_types = ", ".join(v.type for v in [self.data[0], *self.weights])
        arg_attrs = ", ".join(
            ['{tcp.input = "x"}'] + [f'{{tcp.weight = "{w.name[1:]}"}}' for w in self.weights]
        )
        res_attrs = ", ".join(f'{{tcp.output = "{i}"}}' for i in range(len(results)))
        body = "\n    ".join(
            [*self.lines, f'"func.return"({", ".join(v.name for v in results)}) : ({types}) -> ()']
        )
        header = (
            f"arg_attrs = [{arg_attrs}], function_type = ({all_types}) -> ({types}), "
            f'res_attrs = [{res_attrs}], sym_name = "main"'
        )
        function = (
            f'"func.func"() <{{{header}}}> ({{\n  ^bb0({", ".join(arguments)}):\n    {body}\n '
            " }) : () -> ()"
        )
        return f'"builtin.module"() ({{\n  {function}\n}}) : () -> ()\n', results


def _array(values: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>"


def _conv(g: _Graph) -> None:
    x = g.pick(spatial=True)
    n, c, h, w = x.shape
    groups = g.random.choice([d for d in (1, 2, c) if c % d == 0])
    k = groups * g.random.randint(1, 2)
    window = g.random.choice([1, 3])
    pad = window // 2
    f = g.weight(k, c // groups, window, window)
    attributes = (
        f"stride = {_array([1, 1])}, pad = {_array([pad] * 4)}, dilation = {_array([1, 1])}, "
        f"groups = {groups} : i64"
    )
    y = g.emit("conv2d", [x, f], (n, k, h, w), attributes)
    if g.random.random() < 0.7:
        y = g.emit(
            g.random.choice(["mul", "div", "add", "sub"]), [y, g.weight(1, k, 1, 1)], y.shape
        )
        g.emit(g.random.choice(["mul", "add"]), [g.weight(1, k, 1, 1), y], y.shape)


def _pool(g: _Graph) -> None:
    x = g.pick(spatial=True)
    n, c, h, w = x.shape
    attributes = (
        f"kernel = {_array([3, 3])}, stride = {_array([2, 2])}, pad = {_array([1, 1, 1, 1])}"
    )
    shape = (n, c, (h - 1) // 2 + 1, (w - 1) // 2 + 1)
    if g.random.random() < 0.5:
        g.emit("max_pool", [x], shape, attributes + f", dilation = {_array([1, 1])}")
    else:
        g.emit("avg_pool", [x], shape, attributes + f", ceil_pad = {_array([0, 0])}")


def _unary(g: _Graph) -> None:
    x = g.pick()
    g.emit(g.random.choice(["tanh", "sigmoid", "neg"]), [x], x.shape)


def _binary(g: _Graph) -> None:
    """An op with a weight, a reduction of the operand, or another value of the same shape."""
    x = g.pick()
    kept = [size if g.random.random() < 0.5 else 1 for size in x.shape]
    others = [value for value in g.data if value.shape == x.shape]
    choice = g.random.randrange(3)
    if choice == 0:
        y = g.weight(*kept)
    elif choice == 1:
        y = g.random.choice(others)
    else:
        dims = [dim for dim, size in enumerate(kept) if size == 1]
        y = (
            g.emit(
                g.random.choice(["reduce_sum", "reduce_mean", "reduce_max"]),
                [x],
                kept,
                f"dims = {_array(dims)}",
            )
            if dims
            else x
        )
    g.emit(g.random.choice(["add", "mul", "sub", "maximum"]), g.random.sample([x, y], 2), x.shape)


def _transpose(g: _Graph) -> None:
    x = g.pick()
    perm = g.random.sample(range(len(x.shape)), len(x.shape))
    g.emit("transpose", [x], [x.shape[dim] for dim in perm], f"perm = {_array(perm)}")


def _reshape(g: _Graph) -> None:
    """Splits one dim, merges two adjacent ones, or adds a dim of size 1; the rank stays at most
    5."""
    x = g.pick()
    shape = list(x.shape)
    at = g.random.randrange(len(shape))
    factors = [d for d in range(2, shape[at]) if shape[at] % d == 0]
    choice = g.random.randrange(4)
    if choice == 0 and factors and len(shape) < 5:
        shape[at : at + 1] = [factors[0], shape[at] // factors[0]]
    elif choice == 1 and at + 1 < len(shape) and len(shape) > 2:
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    elif choice == 2 and len(shape) < 5:
        shape.insert(at, 1)
    elif 1 in shape and len(shape) > 2:
        shape.remove(1)
    g.emit("reshape", [x], shape)


def _flatten_matmul(g: _Graph) -> None:
    x = g.pick(spatial=True)
    features = math.prod(x.shape[1:])
    y = g.emit("reshape", [x], (x.shape[0], features))
    if g.random.random() < 0.5:
        y = g.emit("tanh", [y], y.shape)
    g.emit("matmul", [y, g.weight(features, 4)], (x.shape[0], 4))


def _swap(g: _Graph, x: _Value) -> _Value:
    rank = len(x.shape)
    perm = [*range(rank - 2), rank - 1, rank - 2]
    return g.emit("transpose", [x], [x.shape[dim] for dim in perm], f"perm = {_array(perm)}")


def _mix(g: _Graph) -> None:
    """Products with weights over the second to last dim, mostly between two transposes."""
    x = g.pick()
    y = _swap(g, x)
    for _ in range(g.random.randint(1, 2)):
        *rows, depth = y.shape
        width = g.random.choice([x.shape[-2], 5])
        if g.random.random() < 0.5:
            merged = g.emit("reshape", [y], (math.prod(rows), depth))
            y = g.emit("matmul", [merged, g.weight(depth, width)], (math.prod(rows), width))
            y = g.emit("reshape", [y], (*rows, width))
        else:
            weight = g.weight(*[1] * (len(rows) - 1), depth, width)
            y = g.emit("matmul", [y, weight], (*rows, width))
        if g.random.random() < 0.6:
            bias = g.weight(*[1] * len(rows), width)
            y = g.emit("add", g.random.sample([y, bias], 2), y.shape)
        if g.random.random() < 0.4:
            y = g.emit("tanh", [y], y.shape)
    if g.random.random() < 0.8:
        _swap(g, y)


def _concat(g: _Graph) -> None:
    x = g.pick()
    dim = g.random.randrange(len(x.shape))
    others = [
        v
        for v in g.data
        if len(v.shape) == len(x.shape)
        and all(a == b or i == dim for i, (a, b) in enumerate(zip(v.shape, x.shape, strict=True)))
    ]
    y = g.random.choice(others)
    if x.shape[dim] + y.shape[dim] > 24:
        return
    shape = [
        a + b if i == dim else a for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True))
    ]
    g.emit("concat", [x, y], shape, f"dim = {dim} : i64")


def _slice(g: _Graph) -> None:
    x = g.pick()
    sizes = [size if g.random.random() < 0.6 else g.random.randint(1, size) for size in x.shape]
    starts = [g.random.randint(0, full - size) for full, size in zip(x.shape, sizes, strict=True)]
    g.emit(
        "slice",
        [x],
        sizes,
        f"starts = {_array(starts)}, sizes = {_array(sizes)}, strides = {_array([1] * len(sizes))}",
    )


def _pad(g: _Graph) -> None:
    x = g.pick()
    low, high, interior = ([g.random.choice([0, 0, 0, 1]) for _ in x.shape] for _ in range(3))
    shape = [
        size + a + b + (size - 1) * c
        for size, a, b, c in zip(x.shape, low, high, interior, strict=True)
    ]
    if math.prod(shape) > 2000:
        return
    value = g.random.choice(["0.0", "0.5"])
    g.emit(
        "pad",
        [x],
        shape,
        (
            f"low = {_array(low)}, high = {_array(high)}, interior = {_array(interior)}, "
            f"value = {value} : f64"
        ),
    )


def _with_dim(g: _Graph) -> None:
    x = g.pick()
    dim = g.random.randrange(len(x.shape))
    dims = sorted(g.random.sample(range(len(x.shape)), g.random.randint(1, len(x.shape))))
    op = g.random.choice(["softmax", "reverse", "layer_norm"])
    attributes = {
        "softmax": f"dim = {dim} : i64",
        "reverse": f"dims = {_array([dim])}",
        "layer_norm": f"dims = {_array(dims)}, epsilon = 1.0e-3 : f64",
    }
    g.emit(op, [x], x.shape, attributes[op])


def _broadcast(g: _Graph) -> None:
    x = g.pick()
    shape = [3 if size == 1 else size for size in x.shape]
    if math.prod(shape) <= 2000:
        g.emit("broadcast", [x], shape)


_STEPS: list[Callable[[_Graph], None]] = [
    _conv,
    _pool,
    _unary,
    _binary,
    _transpose,
    _reshape,
    _flatten_matmul,
]
_STEPS += [_concat, _slice, _pad, _with_dim, _broadcast, _conv, _binary, _reshape]


#: Steps of models that mix tokens.
_MIXER_STEPS: list[Callable[[_Graph], None]] = [_mix, _mix, _unary, _binary, _with_dim]


def _random_graph(
    seed: int, shape: Sequence[int], steps: Sequence[Callable[[_Graph], None]]
) -> _Graph:
    g = _Graph(random.Random(seed))
    g.data.append(_Value("%x", tuple(shape)))
    for _ in range(14):
        g.random.choice(steps)(g)
    return g


@pytest.mark.parametrize("seed", range(60))
def test_random_graph_is_unchanged(seed: int) -> None:
    _check(seed, _random_graph(seed, (2, 4, 5, 6), _STEPS), ("cpu", "cuda")[seed % 2])


@pytest.mark.parametrize("seed", range(100))
def test_random_products_over_tokens_are_unchanged(seed: int) -> None:
    """tcp-swap-products changes a sixth of these graphs: in the others, other ops read a product."""
    shape = ((2, 6, 32), (2, 2, 3, 40))[seed % 2]
    _check(seed, _random_graph(seed, shape, _MIXER_STEPS), "cuda")


def _check(seed: int, graph: _Graph, target: str) -> None:
    text, results = graph.text()
    if not results:
        return
    torch.manual_seed(seed)
    x = torch.randn(graph.data[0].shape, dtype=torch.float64)
    # Not close to zero, because some values are divisors.
    weights: dict[str, Tensor] = {
        w.name[1:]: torch.rand(w.shape, dtype=torch.float64) + 0.5 for w in graph.weights
    }
    expected = run_text(text, [x], weights)
    got = run_both(normalize(text, target=target), [x], weights)
    assert len(got) == len(expected) == len(results)
    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(
            mine, theirs, rtol=1e-9, atol=1e-9 * max(1.0, float(theirs.abs().max()))
        )
