"""Random steps: activations and other functions of one value, arithmetic, comparisons, selections,
casts, constants."""

from __future__ import annotations

import torch
from random_generator import Generator
from random_model import FLOATS, short

__all__ = ["KINDS"]

_ACTIVATIONS = (
    "torch.relu({0})",
    "F.relu({0})",
    "F.relu({0}.clone(), inplace=True)",
    "F.relu6({0})",
    "F.silu({0})",
    "F.gelu({0})",
    "F.gelu({0}, approximate='tanh')",
    "F.elu({0})",
    "F.elu({0}, 0.7)",
    "F.celu({0}, 0.6)",
    "F.selu({0})",
    "F.leaky_relu({0}, 0.2)",
    "F.leaky_relu({0}, -0.3)",
    "torch.sigmoid({0})",
    "torch.tanh({0})",
    "F.hardtanh({0}, -0.5, 2)",
    "F.hardsigmoid({0})",
    "F.hardswish({0})",
    "F.softplus({0})",
    "F.softplus({0}, 2, 5)",
    "F.mish({0})",
    "F.logsigmoid({0})",
    "F.softsign({0})",
    "F.tanhshrink({0})",
    "F.softshrink({0}, 0.3)",
    "F.hardshrink({0}, 0.4)",
    "F.threshold({0}, 0.1, -0.5)",
    "F.dropout({0}, 0.5, False)",
)
_FUNCTIONS = (
    "torch.erf({0})",
    "torch.exp({0})",
    "torch.exp2({0})",
    "torch.sin({0})",
    "torch.cos({0})",
    "torch.abs({0})",
    "-{0}",
    "torch.square({0})",
    "{0} ** 2",
    "{0} ** 3",
    "torch.sqrt({0}.abs() + 0.5)",
    "torch.rsqrt({0}.abs() + 0.5)",
    "torch.reciprocal({0}.abs() + 0.5)",
    "torch.log({0}.abs() + 0.5)",
    "torch.log2({0}.abs() + 0.5)",
    "torch.log10({0}.abs() + 0.5)",
    "({0}.abs() + 0.3) ** 1.7",
    "({0}.abs() + 0.3) ** -0.5",
    "({0}.abs() + 0.5) ** -2",
    "2.0 ** {0}",
    "torch.sqrt({0})",
    "torch.log({0})",
    "1 / {0}",
    "torch.floor({0})",
    "torch.ceil({0})",
    "torch.round({0})",
    "torch.trunc({0})",
    "torch.sign({0})",
    "torch.remainder({0}, 1.7)",
    "torch.floor_divide({0}, 1.3)",
    "torch.logit(torch.sigmoid({0}))",
    "torch.expm1({0}.clamp(max=3))",
    "torch.sinh({0}.clamp(-3, 3))",
    "torch.asinh({0})",
    "torch.atan({0})",
    "torch.erfc({0})",
    "torch.lgamma({0}.abs() + 2.5)",
    "torch.special.i0e({0})",
    "torch.nan_to_num({0})",
    "torch.frac({0})",
    "{0}.clamp(-1, 1.5)",
    "{0}.clamp(min=-0.4)",
    "{0}.clamp(max=0.6)",
    "{0}.clamp_min(0.25)",
    "{0}.clamp_max(0.25)",
    "{0}.clamp(1, -1)",
)
_BINARY = (
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} / ({1}.abs() + 0.5)",
    "torch.maximum({0}, {1})",
    "torch.minimum({0}, {1})",
    "torch.max({0}, {1})",
    "torch.add({0}, {1}, alpha=2)",
    "torch.sub({0}, {1}, alpha=3)",
    "torch.rsub({0}, {1})",
    "torch.lerp({0}, {1}, 0.3)",
    "torch.addcmul({0}, {1}, {0}, value=0.5)",
    "torch.addcdiv({0}, {0}, {1}.abs() + 0.5, value=2)",
    "({0}.abs() + 0.5) ** torch.tanh({1})",
    "torch.where({0} > {1}, {0}, {1})",
    "torch.where({0} < {1}, {0}, 0.5)",
    "{0}.clamp(min={1})",
    "torch.atan2({0}, {1})",
    "torch.hypot({0}, {1})",
    "torch.logaddexp({0}, {1})",
    "torch.copysign({0}, {1}.abs() + 1)",
    "torch.fmax({0}, {1})",
    "torch.remainder({0}, {1}.abs() + 0.5)",
)
_INTEGER_BINARY = (
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} / ({1} * {1} + 1)",
    "torch.maximum({0}, {1})",
    "torch.minimum({0}, {1})",
    "torch.where({0} > {1}, {0}, {1})",
    "torch.add({0}, {1}, alpha=2)",
    "{0}.clamp(max={1})",
)
_BOOL_BINARY = (
    "{0} & {1}",
    "{0} | {1}",
    "{0} ^ {1}",
    "torch.logical_and({0}, {1})",
    "{0} * {1}",
    "{0} == {1}",
    "torch.logical_xor({0}, {1})",
)
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=")


def activation(g: Generator) -> str | None:
    x = g.pick(g.is_float)
    return x and g.add(g.random.choice(_ACTIVATIONS), x)


def function(g: Generator) -> str | None:
    x = g.pick(g.is_float)
    return x and g.add(g.random.choice(_FUNCTIONS), x)


def glu(g: Generator) -> str | None:
    x = g.pick(lambda name: g.is_float(name) and any(size % 2 == 0 for size in g.shape(name)))
    if x is None:
        return None
    dim = g.random.choice([dim for dim, size in enumerate(g.shape(x)) if size % 2 == 0])
    return g.add(f"F.glu({{0}}, {dim})", x)


def prelu(g: Generator) -> str | None:
    x = g.pick(lambda name: g.is_base(name) and len(g.shape(name)) >= 2)
    if x is None:
        return None
    count = g.random.choice([1, g.shape(x)[1]])
    return g.add(
        "{m}({0})",
        x,
        **g.module_of(
            f"nn.PReLU({count})",
            lambda m: isinstance(m, torch.nn.PReLU) and m.num_parameters == count,
        ),
    )


def integer(g: Generator) -> str | None:
    """Functions on integers."""
    x = g.pick(lambda name: not g.is_float(name) and g.kind(name) != torch.bool)
    texts = (
        "-{0}",
        "{0}.abs()",
        "{0} * 3",
        "{0} + 2",
        "{0} + 0.5",
        "{0} / 4",
        "{0} ** 2",
        "torch.relu({0})",
        "{0}.clamp(-2, 3)",
        "5 - {0}",
    )
    texts += (
        "torch.sign({0})",
        "torch.sqrt({0}.abs() + 1)",
        "torch.tanh({0})",
        "{0}.clamp(min=0)",
        "torch.square({0})",
        "torch.sigmoid({0})",
    )
    return x and g.add(g.random.choice(texts), x)


def partner(g: Generator, x: str, dtype: str | None = None) -> str:
    """A second operand that broadcasts with `x`: an earlier value, or a new weight or input."""
    shape = g.shape(x)

    def fits(name: str) -> bool:
        pairs = zip(reversed(shape), reversed(g.shape(name)), strict=False)
        same = dtype is None or str(g.kind(name)) == f"torch.{dtype}"
        return same and all(a == b or 1 in (a, b) for a, b in pairs)

    found = g.pick(fits) if g.chance(0.65) else None
    if found is not None:
        return found
    kept = [size if g.chance(0.7) else 1 for size in shape]
    if g.chance(0.3):
        kept = kept[g.random.randint(0, len(kept)) :]
    if g.chance(0.1) and len(kept) < 5:
        kept.insert(0, g.random.choice([1, 2, 3]))
    kind = dtype or str(g.kind(x)).removeprefix("torch.")
    return g.leaf("x", kept, kind) if g.chance(0.25) else g.weight(kept, kind)


def binary(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    y = partner(g, x, None if g.chance(0.25) else str(g.kind(x)).removeprefix("torch."))
    kinds = {g.kind(x), g.kind(y)}
    texts = (
        _BOOL_BINARY if kinds == {torch.bool} else _BINARY if kinds & FLOATS else _INTEGER_BINARY
    )
    pair = (x, y) if g.chance(0.6) else (y, x)
    return g.add(g.random.choice(texts), *pair)


def with_number(g: Generator) -> str | None:
    x = g.pick(lambda name: g.kind(name) != torch.bool)
    texts = (
        "{0} + NUM",
        "NUM - {0}",
        "{0} * NUM",
        "{0} / NUM",
        "torch.add({0}, NUM, alpha=2)",
        "torch.maximum({0}, torch.tensor(NUM))",
    )
    return x and g.add(g.random.choice(texts).replace("NUM", repr(g.number())), x)


def compare(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    predicate = g.random.choice(_PREDICATES)
    if g.chance(0.5):
        number = g.number() if g.is_float(x) else g.random.randint(-3, 3)
        return g.add(f"{{0}} {predicate} {number}", x)
    return g.add(f"{{0}} {predicate} {{1}}", x, partner(g, x))


def select(g: Generator) -> str | None:
    """where and masked_fill, with a bool value or a new bool input or buffer."""
    x = g.pick()
    if x is None:
        return None
    mask = partner(g, x, "bool")
    if g.chance(0.35):
        return g.add(f"{{0}}.masked_fill({{1}}, {g.random.choice([0, 0.5, -2])})", x, mask)
    if g.chance(0.3):
        number = g.number() if g.is_float(x) else g.random.randint(-3, 3)
        return g.add(
            g.random.choice(
                [f"torch.where({{1}}, {{0}}, {number})", f"torch.where({{1}}, {number}, {{0}})"]
            ),
            x,
            mask,
        )
    return g.add("torch.where({2}, {0}, {1})", x, partner(g, x), mask)


def logical(g: Generator) -> str | None:
    x = g.pick(lambda name: g.kind(name) == torch.bool)
    return g.add(g.random.choice(["~{0}", "torch.logical_not({0})"]), x) if x else None


def cast(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    names = ["float32", "float16", "bfloat16", "int64", "int32", "bool"]
    if g.is_float(x) and g.chance(0.7):
        names = names[:3]
    return g.add(f"{{0}}.to({short(g.random.choice(names))})", x)


def constant(g: Generator) -> str | None:
    """A constant tensor, and a computation with it."""
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) >= 1)
    if x is None:
        return None
    size = g.shape(x)[-1]
    kind = short(str(g.kind(x)).removeprefix("torch."))
    texts = [
        f"{{0}} + torch.arange({size}, dtype={kind})",
        f"{{0}} * torch.full(({size},), 1.5, dtype={kind})",
    ]
    texts += [
        "{0} + torch.ones_like({0})",
        "torch.zeros_like({0}) - {0}",
        f"{{0}} * {{0}}.new_full(({size},), 2)",
    ]
    texts += [
        f"torch.arange({size}) * 2 - {{0}}",
        "torch.full_like({0}, 0.75)",
        "{0} + {0}.new_zeros(1)",
    ]
    texts += [
        f"torch.where(torch.arange({size}) < {size // 2 + 1}, {{0}}, torch.zeros((), dtype={kind}))"
    ]
    texts += [
        f"{{0}} * torch.linspace(0.5, 1.5, {size}, dtype={kind})",
        f"{{0}} * torch.tensor([{', '.join(['0.5', '2.0'] * size)}][:{size}], dtype={kind})",
    ]
    return g.add(g.random.choice(texts), x)


KINDS = {
    activation: 8,
    function: 6,
    glu: 0.5,
    prelu: 0.7,
    integer: 2,
    binary: 10,
    with_number: 3,
    compare: 2,
    select: 3,
    logical: 0.5,
    cast: 3,
    constant: 1.5,
}
