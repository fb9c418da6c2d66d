"""Random steps: other shapes of the same elements, slices, joins, pads, and reductions."""

from __future__ import annotations

import math

from random_generator import Generator

__all__ = ["KINDS", "factors"]


def factors(g: Generator, count: int, rank: int) -> list[int]:
    """A shape of `rank` dims with `count` elements."""
    shape = [1] * rank
    rest = count
    while rest > 1 and rank:
        prime = next((p for p in range(2, int(rest**0.5) + 1) if rest % p == 0), rest)
        shape[g.random.randrange(rank)] *= prime
        rest //= prime
    return shape


def reshape(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    shape = g.shape(x)
    count = math.prod(shape)
    choice = g.random.randrange(6)
    if choice == 0 and shape:
        first = g.random.randrange(len(shape))
        return g.add(f"{{0}}.flatten({first}, {g.random.randint(first, len(shape) - 1)})", x)
    if choice == 1 and shape:
        dim = g.random.randrange(len(shape))
        return g.add(
            f"{{0}}.unflatten({dim}, {tuple(factors(g, shape[dim], g.random.randint(2, 3)))})", x
        )
    rank = 0 if count == 1 and g.chance(0.4) else g.random.randint(1, 5)
    new = factors(g, count, rank)
    if new and g.chance(0.3):
        new[g.random.randrange(len(new))] = -1
    return g.add(f"{{0}}.{g.random.choice(['reshape', 'reshape', 'view'])}({new})", x)


def squeeze(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    rank = len(g.shape(x))
    ones = [dim for dim, size in enumerate(g.shape(x)) if size == 1]
    choice = g.random.randrange(4)
    if choice == 0:
        return g.add("{0}.squeeze()", x)
    if choice == 1 and ones:
        return g.add(f"{{0}}.squeeze({g.random.choice(ones)})", x)
    if choice == 2 and ones:
        return g.add(
            f"{{0}}.squeeze({tuple(g.random.sample(ones, g.random.randint(1, len(ones))))})", x
        )
    return g.add(f"{{0}}.unsqueeze({g.random.randint(-rank - 1, rank)})", x) if rank < 5 else None


def permute(g: Generator) -> str | None:
    x = g.pick(lambda name: len(g.shape(name)) >= 2)
    if x is None:
        return None
    rank = len(g.shape(x))
    perm = g.random.sample(range(rank), rank)
    texts = [
        f"{{0}}.permute({perm})",
        f"{{0}}.transpose({perm[0]}, {perm[1]})",
        f"{{0}}.movedim({perm[0]}, {perm[1]})",
    ]
    texts += [f"{{0}}.permute({perm}).contiguous()", "{0}.mT", "{0}.t()"]
    return g.add(g.random.choice(texts), x)


def expand(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    shape = list(g.shape(x))
    choice = g.random.randrange(4)
    if choice == 0 and shape:
        return g.add(f"{{0}}.repeat({[g.random.choice([1, 1, 2, 3]) for _ in shape]})", x)
    if choice == 1 and shape:
        return g.add(
            f"{{0}}.repeat_interleave({g.random.randint(2, 3)}, {g.random.randrange(len(shape))})",
            x,
        )
    wide = [g.random.choice([2, 3, 5]) if size == 1 and g.chance(0.7) else size for size in shape]
    if g.chance(0.4) and len(wide) < 5:
        wide.insert(0, g.random.choice([1, 2, 3]))
    return g.add(f"{{0}}.expand({wide})", x) if wide else None


def slice_(g: Generator) -> str | None:
    x = g.pick(lambda name: len(g.shape(name)) >= 1)
    if x is None:
        return None
    items = []
    for size in g.shape(x):
        choice = g.random.random()
        if choice < 0.5:
            items.append(":")
        elif choice < 0.62:
            items.append(str(g.random.randint(-size, size - 1)))
        elif choice < 0.67:
            items += ["None", ":"]
        else:
            low = g.random.choice(["", "", g.random.randint(-size, size - 1)])
            high = g.random.choice(["", "", g.random.randint(-size, size + 2)])
            items.append(f"{low}:{high}" + g.random.choice(["", "", "::2", "::3"])[1:])
    while items and items[-1] == ":" and len(items) > 1:
        items.pop()
    return g.add(f"{{0}}[{', '.join(items)}]", x)


def piece(g: Generator) -> str | None:
    """One piece of a split."""
    x = g.pick(lambda name: len(g.shape(name)) >= 1)
    if x is None:
        return None
    dim = g.random.randrange(len(g.shape(x)))
    size = g.shape(x)[dim]
    texts = [
        f"{{0}}.chunk({g.random.randint(1, 3)}, {dim})[-1]",
        f"{{0}}.split({g.random.randint(1, size)}, {dim})[0]",
    ]
    texts += [
        f"{{0}}.unbind({dim})[{g.random.randrange(size)}]",
        f"{{0}}.select({dim}, {g.random.randrange(size)})",
    ]
    texts += [
        f"{{0}}.narrow({dim}, {size // 2}, {size - size // 2})",
        f"{{0}}.tensor_split(2, {dim})[0]",
    ]
    return g.add(g.random.choice(texts), x)


def join(g: Generator) -> str | None:
    """cat and stack of two or three values, possibly the same one twice."""
    x = g.pick()
    if x is None:
        return None
    shape = g.shape(x)
    if not shape or g.chance(0.3):
        others = g.names(lambda name: g.shape(name) == shape, weights=True)
        parts = [x, *(g.random.choice(others) for _ in range(g.random.randint(1, 2)))]
        text = f"torch.stack([{', '.join(f'{{{i}}}' for i in range(len(parts)))}], {g.random.randint(-1, len(shape))})"
        return g.add(text, *parts)
    dim = g.random.randrange(len(shape))

    def fits(name: str) -> bool:
        other = g.shape(name)
        return len(other) == len(shape) and all(
            a == b or i == dim for i, (a, b) in enumerate(zip(shape, other, strict=True))
        )

    parts = (
        [x, *(g.random.choice(g.names(fits, weights=True)) for _ in range(g.random.randint(0, 2)))]
        if fits(x)
        else [x]
    )
    if g.chance(0.25):
        size = g.random.randint(1, 3)
        parts.append(
            g.weight(
                [size if i == dim else s for i, s in enumerate(shape)],
                str(g.kind(x)).removeprefix("torch."),
            )
        )
    g.random.shuffle(parts)
    return g.add(f"torch.cat([{', '.join(f'{{{i}}}' for i in range(len(parts)))}], {dim})", *parts)


def pad(g: Generator) -> str | None:
    x = g.pick(lambda name: len(g.shape(name)) >= 1)
    if x is None:
        return None
    rank = len(g.shape(x))
    mode = g.random.choice(["constant", "constant", "reflect", "replicate", "circular"])
    count = g.random.randint(1, min(rank, 3)) if mode == "constant" else max(1, min(3, rank - 2))
    pads = tuple(g.random.choice([0, 0, 1, 1, 2, 3, -1]) for _ in range(2 * count))
    if mode != "constant":
        return g.add(f"F.pad({{0}}, {pads}, mode={mode!r})", x)
    value = (
        g.random.choice(["", ", value=1.5", ", value=-2"])
        if g.is_float(x)
        else g.random.choice(["", ", value=1"])
    )
    return g.add(f"F.pad({{0}}, {pads}{value})", x)


def reorder(g: Generator) -> str | None:
    x = g.pick(lambda name: len(g.shape(name)) >= 1)
    if x is None:
        return None
    rank = len(g.shape(x))
    dims = g.random.sample(range(rank), g.random.randint(1, min(2, rank)))
    shift = g.random.randint(-3, 3)
    return g.add(
        g.random.choice(
            [f"{{0}}.flip({dims})", f"{{0}}.roll({shift}, {dims[0]})", f"{{0}}.roll({shift})"]
        ),
        x,
    )


def _dims(g: Generator, x: str) -> str:
    """A subset of the dims of `x`, counted from either end."""
    rank = len(g.shape(x))
    if not rank:
        return g.random.choice(["-1", "0"])
    dims = [
        dim - rank if g.chance(0.3) else dim
        for dim in g.random.sample(range(rank), g.random.randint(1, rank))
    ]
    return str(dims[0]) if g.chance(0.3) else str(dims)


def reduce(g: Generator) -> str | None:
    x = g.pick()
    if x is None:
        return None
    keep = g.random.choice(["", ", keepdim=True"])
    one = str(g.random.randrange(-len(g.shape(x)), max(1, len(g.shape(x)))))
    if not g.is_float(x):
        texts = [
            f"{{0}}.sum({_dims(g, x)}{keep})",
            "{0}.sum()",
            f"{{0}}.amax({_dims(g, x)}{keep})",
            "{0}.max()",
        ]
        texts += [f"{{0}}.to(self.F32).mean({_dims(g, x)}{keep})", f"{{0}}.max({one}{keep}).values"]
        return g.add(g.random.choice(texts), x)
    dims = _dims(g, x)
    texts = [
        f"{{0}}.{name}({dims}{keep})" for name in ("sum", "mean", "amax", "amin", "mean", "amax")
    ]
    texts += [
        "{0}.sum()",
        "{0}.mean()",
        "{0}.max()",
        "{0}.min()",
        "{0}.var()",
        "{0}.std(correction=0)",
    ]
    texts += [f"{{0}}.{name}({one}{keep}).values" for name in ("max", "min")]
    texts += [
        f"{{0}}.var({dims}{keep})",
        f"{{0}}.var({dims}, correction=0{keep})",
        f"{{0}}.std({dims}{keep})",
    ]
    texts += [
        f"torch.var_mean({{0}}, {dims}{keep})[{g.random.randrange(2)}]",
        f"torch.logsumexp({{0}}, {dims}{keep})",
    ]
    order = g.random.choice(["1", "2", "float('inf')"])
    texts += [f"torch.linalg.vector_norm({{0}}, {order}, {dims}{keep})"]
    texts += [
        f"{{0}}.mean({dims}{keep}, dtype=self.F32)",
        f"{{0}}.sum({dims}{keep}, dtype=self.F32)",
    ]
    return g.add(g.random.choice(texts), x)


def softmax(g: Generator) -> str | None:
    x = g.pick(g.is_float)
    if x is None:
        return None
    dim = g.random.randrange(-len(g.shape(x)), max(1, len(g.shape(x))))
    return g.add(
        g.random.choice(
            [
                f"torch.softmax({{0}}, {dim})",
                f"F.log_softmax({{0}}, {dim})",
                f"F.softmin({{0}}, {dim})",
            ]
        ),
        x,
    )


def normalize(g: Generator) -> str | None:
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) >= 1)
    if x is None:
        return None
    dim = g.random.randrange(len(g.shape(x)))
    texts = [
        f"F.normalize({{0}}, dim={dim})",
        f"{{0}} - {{0}}.mean({dim}, keepdim=True)",
        f"{{0}} / ({{0}}.abs().sum({dim}, keepdim=True) + 1)",
    ]
    return g.add(g.random.choice(texts), x)


def same(g: Generator) -> str | None:
    x = g.pick()
    return x and g.add(
        g.random.choice(["{0}.clone()", "{0}.contiguous()", "{0}.detach()", "{0} + 0", "{0} * 1"]),
        x,
    )


def tidy(g: Generator) -> str | None:
    """Keeps the values of a long chain in range."""
    x = g.pick(lambda name: g.is_float(name) and float(g.tensor(name).abs().max()) > 8)
    return x and g.add("{0} * 0.125", x)


KINDS = {
    reshape: 5,
    squeeze: 2.5,
    permute: 4,
    expand: 2.5,
    slice_: 4,
    piece: 2,
    join: 3.5,
    pad: 2.5,
    reorder: 1,
    reduce: 6,
    softmax: 2.5,
    normalize: 1,
    same: 1,
    tidy: 3,
}
