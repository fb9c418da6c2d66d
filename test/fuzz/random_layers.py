"""Random steps: convolutions, pools, normalizations, products, attention, resizing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from random_generator import Generator
from random_shapes import factors
from torch import nn

__all__ = ["KINDS", "image"]


def image(g: Generator, spatial: int) -> str:
    """A value with `spatial` dims after batch and channels, in the dtype of submodules: an earlier
    one, a reshaped one, or a new input."""
    rank = spatial + 2
    x = (
        g.pick(lambda name: g.is_float(name) and len(g.shape(name)) == rank)
        if g.chance(0.85)
        else None
    )
    if x is None and g.chance(0.7):
        other = g.pick(lambda name: g.is_float(name) and math.prod(g.shape(name)) >= 8)
        if other is not None and len(g.shape(other)) == rank - 1:
            x = g.add(f"{{0}}.unsqueeze({g.random.choice([0, 2])})", other)
        elif other is not None:
            x = g.add(f"{{0}}.reshape({factors(g, math.prod(g.shape(other)), rank)})", other)
    if x is None:
        size = {1: (5, 40), 2: (3, 14), 3: (2, 6)}[spatial]
        shape = [g.random.choice([1, 1, 2, 3]), g.random.choice([1, 2, 3, 4, 5, 6, 8, 12, 16])]
        x = g.leaf("x", [*shape, *(g.random.randint(*size) for _ in range(spatial))])
    return g.base(x)


def _spatial(g: Generator) -> int:
    return g.random.choice([1, 2, 2, 2, 2, 3])


def _each(g: Generator, count: int, low: int, high: int) -> Any:
    """One number, or one for each spatial dim, as text."""
    numbers = tuple(g.random.randint(low, high) for _ in range(count))
    return numbers[0] if g.chance(0.5) else numbers


def conv(g: Generator) -> str | None:
    spatial = _spatial(g)
    x = image(g, spatial)
    channels = g.shape(x)[1]
    groups = g.random.choice([d for d in (1, 1, 1, 2, 3, channels) if channels % d == 0])
    filters = groups * g.random.choice([1, 1, 2, 3, 4, 5, 8, 16] if groups == 1 else [1, 1, 2, 3])
    kernel = _each(g, spatial, 1, 4 if spatial < 3 else 3)
    dilation = g.random.choice([1, 1, 1, 2, _each(g, spatial, 1, 3)])
    bias = g.chance(0.6)
    if g.chance(0.25):
        return _functional_conv(g, x, spatial, filters, groups, bias)
    if g.chance(0.2):
        padding: Any = g.random.choice(["'same'", "'valid'"])
        stride: Any = 1
    else:
        padding, stride = (
            _each(g, spatial, 0, 3),
            g.random.choice([1, 1, 2, _each(g, spatial, 1, 3)]),
        )
    mode = g.random.choice(["zeros"] * 7 + ["reflect", "replicate", "circular"])
    text = (
        f"nn.Conv{spatial}d({channels}, {filters}, {kernel}, {stride}, {padding}, {dilation}, "
        f"{groups}, {bias}"
    )
    text += ")" if mode == "zeros" else f", padding_mode={mode!r})"
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[spatial - 1]
    y = g.add(
        "{m}({0})",
        x,
        **g.module_of(text, lambda m: isinstance(m, kind) and m.in_channels == channels),
    )
    return _behind(g, y, spatial) if y else None


def _functional_conv(
    g: Generator, x: str, spatial: int, filters: int, groups: int, bias: bool
) -> str | None:
    """A convolution whose weight is a parameter, an input or a computed value."""
    channels = g.shape(x)[1]
    shape = (filters, channels // groups, *(g.random.randint(1, 3) for _ in range(spatial)))
    w = g.leaf("x", shape) if g.chance(0.3) else g.weight(shape)
    scale = 1 / math.sqrt(math.prod(shape[1:]))
    if g.chance(0.1):
        y = g.add(
            f"F.conv{spatial}d({{0}}, {_constant(g, shape)}, groups={groups}) * {scale:.3f}", x
        )
        return _behind(g, y, spatial) if y else None
    w = (
        g.add(
            g.random.choice(
                [
                    f"{{0}} * {scale:.3f}",
                    f"torch.tanh({{0}}) * {scale:.3f}",
                    f"{{0}}.flip(-1) * {scale:.3f}",
                ]
            ),
            w,
        )
        or w
    )
    operands = [x, w, *([g.weight([filters])] if bias else [])]
    stride, padding, dilation = (
        g.random.randint(1, 2),
        g.random.randint(0, 2),
        g.random.choice([1, 1, 2]),
    )
    text = (
        f"F.conv{spatial}d({{0}}, {{1}}, {'{2}' if bias else 'None'}, {stride}, {padding}, "
        f"{dilation}, {groups})"
    )
    y = g.add(text, *operands)
    return _behind(g, y, spatial) if y else None


def _behind(g: Generator, y: str, spatial: int) -> str | None:
    """Layers that follow a convolution in many networks: batch norm, a residual, an activation, a
    pooling."""
    shape = g.shape(y)
    if g.chance(0.35):
        kind = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[spatial - 1]
        text = f"nn.BatchNorm{spatial}d({shape[1]})"
        y = (
            g.add(
                "{m}({0})",
                y,
                **g.module_of(text, lambda m: isinstance(m, kind) and m.num_features == shape[1]),
            )
            or y
        )
    if g.chance(0.25):
        others = g.names(lambda name: g.shape(name) == g.shape(y) and g.is_float(name))
        other = g.random.choice(others) if g.chance(0.7) else g.leaf("x", g.shape(y))
        y = g.add(g.random.choice(["{0} + {1}", "{1} + {0}", "{0} * {1}"]), y, other) or y
    if g.chance(0.5):
        y = (
            g.add(
                g.random.choice(
                    [
                        "torch.relu({0})",
                        "F.relu({0})",
                        "F.silu({0})",
                        "F.gelu({0})",
                        "torch.sigmoid({0})",
                        "F.elu({0})",
                    ]
                ),
                y,
            )
            or y
        )
    if g.chance(0.1):
        y = g.add(f"F.max_pool{spatial}d({{0}}, 3, 2, 1)", y) or y
    return y


def conv_transpose(g: Generator) -> str | None:
    spatial = _spatial(g)
    x = image(g, spatial)
    channels = g.shape(x)[1]
    groups = g.random.choice([d for d in (1, 1, 2, channels) if channels % d == 0])
    filters = groups * g.random.choice([1, 2, 3, 5])
    kernel, stride = g.random.randint(1, 4 if spatial < 3 else 3), g.random.randint(1, 3)
    padding, extra, dilation = (
        g.random.randint(0, 2),
        g.random.randint(0, 1),
        g.random.choice([1, 1, 2]),
    )
    bias = g.chance(0.6)
    text = (
        f"nn.ConvTranspose{spatial}d({channels}, {filters}, {kernel}, {stride}, {padding}, "
        f"{extra}, {groups}, {bias}, {dilation})"
    )
    return g.add("{m}({0})", x, module=text)


def pool(g: Generator) -> str | None:
    spatial = _spatial(g)
    x = image(g, spatial)
    choice = g.random.random()
    if choice < 0.25:
        sizes = tuple(g.random.randint(1, max(1, min(size, 4))) for size in g.shape(x)[2:])
        return g.add(
            f"F.adaptive_{g.random.choice(['avg', 'avg', 'max'])}_pool{spatial}d({{0}}, {sizes})", x
        )
    kernel, stride = _each(g, spatial, 1, 3), g.random.choice([None, 1, 2, _each(g, spatial, 1, 3)])
    padding, ceil = g.random.choice([0, 0, 1, _each(g, spatial, 0, 1)]), g.chance(0.3)
    if choice < 0.6:
        dilation = g.random.choice([1, 1, 2])
        return g.add(
            f"F.max_pool{spatial}d({{0}}, {kernel}, {stride}, {padding}, {dilation}, {ceil})", x
        )
    extra = f", {g.random.choice([2, 3, 5])}" if spatial > 1 and g.chance(0.2) else ""
    return g.add(
        (
            f"F.avg_pool{spatial}d({{0}}, {kernel}, {stride}, {padding}, {ceil}, "
            f"{g.chance(0.5)}{extra})"
        ),
        x,
    )


def norm(g: Generator) -> str | None:
    choice = g.random.choice(["batch", "layer", "layer", "group", "instance", "rms"])
    if choice in ("layer", "rms"):
        x = g.pick(
            lambda name: g.is_float(name) and len(g.shape(name)) >= 1 and g.shape(name)[-1] > 1
        )
        if x is None:
            return None
        x = g.base(x)
        shape = list(g.shape(x)[-g.random.choice([1, 1, 1, 2, 3]) :])
        if choice == "rms":
            text = f"nn.RMSNorm({shape}{g.random.choice(['', ', eps=1e-5'])})"
        else:
            text = f"nn.LayerNorm({shape}{g.random.choice(['', ', elementwise_affine=False', ', bias=False', ', eps=1e-3'])})"
        kind = nn.RMSNorm if choice == "rms" else nn.LayerNorm
        return g.add(
            "{m}({0})",
            x,
            **g.module_of(
                text, lambda m: isinstance(m, kind) and list(m.normalized_shape) == shape
            ),
        )
    spatial = g.random.choice([0, 1, 2, 2, 3]) if choice == "batch" else _spatial(g)
    x = (
        g.pick(lambda name: g.is_base(name) and len(g.shape(name)) == 2)
        if spatial == 0
        else image(g, spatial)
    )
    if x is None:
        return None
    channels = g.shape(x)[1]
    if choice == "batch":
        text = f"nn.BatchNorm{max(1, spatial)}d({channels}{g.random.choice(['', ', affine=False', ', eps=1e-3'])})"
    elif choice == "group":
        groups = g.random.choice([d for d in range(1, channels + 1) if channels % d == 0])
        text = f"nn.GroupNorm({groups}, {channels}{g.random.choice(['', ', affine=False'])})"
    else:
        text = f"nn.InstanceNorm{spatial}d({channels}{g.random.choice(['', ', affine=True', ', track_running_stats=True'])})"
    return g.add("{m}({0})", x, module=text)


def linear(g: Generator) -> str | None:
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) >= 1)
    if x is None:
        return None
    x = g.base(x)
    size = g.shape(x)[-1]
    out = g.dim()
    text = f"nn.Linear({size}, {out}, {g.chance(0.6)})"
    y = g.add(
        "{m}({0})",
        x,
        **g.module_of(text, lambda m: isinstance(m, nn.Linear) and m.in_features == size),
    )
    if y and g.chance(0.3):
        y = (
            g.add(
                g.random.choice(
                    ["torch.relu({0})", "F.gelu({0})", "torch.sigmoid({0})", "torch.tanh({0})"]
                ),
                y,
            )
            or y
        )
    return y


def matmul(g: Generator) -> str | None:
    """Products of two values, or of a value and a new weight or input; vectors, matrices,
    batches."""
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) >= 1)
    if x is None:
        return None
    x = g.base(x)
    shape = g.shape(x)
    inner = shape[-1]
    choice = g.random.random()
    scale = f" * {1 / math.sqrt(inner):.3f}"
    if choice < 0.2:
        return (
            g.add("{0} @ {0}.mT" + scale, x)
            if len(shape) > 1
            else g.add("torch.dot({0}, {0})" + scale, x)
        )
    if choice < 0.35:
        others = g.names(
            lambda name: (
                g.kind(name) == g.kind(x)
                and len(g.shape(name)) > 0
                and g.shape(name)[-2:-1] in ((inner,), ())
            ),
            weights=True,
        )
        others = [name for name in others if len(g.shape(name)) > 1 or g.shape(name)[0] == inner]
        if others:
            return g.add("torch.matmul({0}, {1})" + scale, x, g.random.choice(others))
    batch = [size if g.chance(0.6) else 1 for size in shape[:-2]] if g.chance(0.4) else []
    wanted = [inner] if g.chance(0.15) else [*batch, inner, g.dim()]
    if g.chance(0.1):
        return g.add(f"{{0}} @ {_constant(g, wanted)}" + scale, x)
    y = g.leaf("x", wanted) if g.chance(0.4) else g.weight(wanted)
    if len(shape) == 3 and len(wanted) == 2 and g.chance(0.5):
        y = g.add(f"{{0}}.expand({shape[0]}, -1, -1)", y) or y
    shape_y = g.shape(y)
    if len(shape) == 2 and len(shape_y) == 2 and g.chance(0.3):
        c = g.weight(g.random.choice([[shape_y[1]], [shape[0], shape_y[1]], [1, shape_y[1]]]))
        beta, alpha = g.random.choice([(1, 1), (0.5, 2), (0, 1), (2, -0.5)])
        return g.add(
            f"torch.addmm({{0}}, {{1}}, {{2}}{scale}, beta={beta}, alpha={alpha})", c, x, y
        )
    if len(shape) == 3 and len(shape_y) == 3 and g.chance(0.6):
        if g.chance(0.3):
            return g.add(
                "torch.baddbmm({2}, {0}, {1}" + scale + ")", x, y, g.weight([1, 1, shape_y[2]])
            )
        return g.add("torch.bmm({0}, {1})" + scale, x, y)
    if g.chance(0.15) and len(shape) == 2 and len(shape_y) == 2:
        return g.add(
            f"torch.einsum('ij,jk->{g.random.choice(['ik', 'ki', 'i', 'k'])}', {{0}}, {{1}})"
            + scale,
            x,
            y,
        )
    return g.add(g.random.choice(["{0} @ {1}", "torch.matmul({0}, {1})"]) + scale, x, y)


def _constant(g: Generator, shape: Sequence[int]) -> str:
    """A constant tensor of the dtype of `{0}`: of one number, or of different ones."""
    return g.random.choice(
        [
            f"{{0}}.new_ones({list(shape)})",
            f"{{0}}.new_full({list(shape)}, -0.5)",
            f"torch.arange({math.prod(shape)}).reshape({list(shape)}).sin().to({{0}}.dtype)",
        ]
    )


def attention(g: Generator) -> str | None:
    x = g.pick(lambda name: g.is_float(name) and len(g.shape(name)) in (3, 4))
    if x is None:
        return None
    x = g.base(x)
    shape = g.shape(x)
    keys = g.random.choice([shape[-2], g.dim()])
    k = x if keys == shape[-2] and g.chance(0.5) else g.leaf("x", [*shape[:-2], keys, shape[-1]])
    v = (
        k
        if g.chance(0.3)
        else g.leaf("x", [*shape[:-2], keys, g.random.choice([shape[-1], g.dim()])])
    )
    choice = g.random.randrange(4)
    if choice == 0:
        return g.add("F.scaled_dot_product_attention({0}, {1}, {2}, is_causal=True)", x, k, v)
    if choice == 1:
        mask = g.weight([shape[-2], keys])
        return g.add("F.scaled_dot_product_attention({0}, {1}, {2}, {3})", x, k, v, mask)
    if choice == 2:
        return g.add(
            "F.scaled_dot_product_attention({0}, {1}, {2}, {3} > -5)",
            x,
            k,
            v,
            g.weight([shape[-2], keys]),
        )
    return g.add("F.scaled_dot_product_attention({0}, {1}, {2}, scale=0.4)", x, k, v)


def resize(g: Generator) -> str | None:
    spatial = _spatial(g)
    x = image(g, spatial)
    if g.chance(0.4):
        return g.add(f"F.interpolate({{0}}, scale_factor={g.random.choice([2, 2, 3])})", x)
    mode = {1: "linear", 2: g.random.choice(["bilinear", "bilinear", "bicubic"]), 3: "trilinear"}[
        spatial
    ]
    size = tuple(g.random.randint(1, 2 * size + 1) for size in g.shape(x)[2:])
    return g.add(f"F.interpolate({{0}}, {size}, mode={mode!r}, align_corners={g.chance(0.3)})", x)


def shuffle(g: Generator) -> str | None:
    x = image(g, 2)
    channels, height, width = g.shape(x)[1:]
    if channels % 4 == 0 and g.chance(0.5):
        return g.add("F.pixel_shuffle({0}, 2)", x)
    if height % 2 == 0 and width % 2 == 0:
        return g.add("F.pixel_unshuffle({0}, 2)", x)
    return g.add("F.channel_shuffle({0}, 2)", x) if channels % 2 == 0 else None


def squeeze_excite(g: Generator) -> str | None:
    """Channels scaled by a function of their means."""
    x = image(g, 2)
    channels = g.shape(x)[1]
    y = g.add(
        g.random.choice(["{0}.mean((2, 3), keepdim=True)", "F.adaptive_avg_pool2d({0}, 1)"]), x
    )
    y = y and g.add("{m}({0})", y, module=f"nn.Conv2d({channels}, {max(1, channels // 2)}, 1)")
    y = y and g.add(g.random.choice(["torch.relu({0})", "F.silu({0})"]), y)
    y = y and g.add("{m}({0})", y, module=f"nn.Conv2d({max(1, channels // 2)}, {channels}, 1)")
    y = y and g.add(g.random.choice(["torch.sigmoid({0})", "F.hardsigmoid({0})"]), y)
    return y and g.add("{0} * {1}", x, y)


KINDS = {
    conv: 9,
    conv_transpose: 2,
    pool: 4,
    norm: 5,
    linear: 6,
    matmul: 6,
    attention: 1,
    resize: 1,
    shuffle: 0.5,
    squeeze_excite: 0.7,
}
