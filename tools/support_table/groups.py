"""Text of `tcp.isolated_group`s, step by step: what the former of groups makes of a model, in every
form that the matrix asks about."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BINARY", "UNARY", "Shape", "group_text"]

#: Roles of one operand, with the op and its attributes. They are those of passes/common/Groups.cpp.
UNARY = {
    "relu": ("clamp", "min_float = 0.0 : f32"),
    "relu_clip": ("clamp", "max_float = 6.0 : f32, min_float = 0.0 : f32"),
    "clamp": ("clamp", "max_float = 1.0 : f32, min_float = -1.0 : f32"),
    "leaky_relu": ("leaky_relu", "negative_slope = 0.1 : f64"),
    "elu": ("elu", "alpha = 1.0 : f64"),
    "gelu": ("gelu", 'approximate = "none"'),
    "gelu_tanh": ("gelu", 'approximate = "tanh"'),
    **{
        name: (name, "")
        for name in (
            "silu",
            "sigmoid",
            "tanh",
            "abs",
            "neg",
            "exp",
            "log",
            "sqrt",
            "rsqrt",
            "erf",
            "reciprocal",
        )
    },
}
#: Roles of two operands, with the op and what the second operand spans.
BINARY = {
    "bias": ("add", "channel"), "scale": ("mul", "channel"), "residual": ("add", "full"),
    "product": ("mul", "full"),
    "gate": ("mul", "gate"), "add_gate": ("add", "gate"),
    "sub_full": ("sub", "full"), "sub_channel": ("sub", "channel"), "div_full": ("div", "full"),
    "div_channel": ("div", "channel"), "maximum_full": ("maximum", "full"),
    "minimum_full": ("minimum", "full"),
    "add_broadcast": ("add", "broadcast"), "mul_broadcast": ("mul", "broadcast"),
}  # fmt: skip


def _array(*numbers: int) -> str:
    """An `array<i64: ...>` attribute."""
    return f"array<i64: {', '.join(map(str, numbers))}>"


def _tensor(shape: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{dtype}>"


@dataclass(frozen=True)
class Shape:
    """What an anchor is asked with. `spatial` are the input's dims of a convolution or pool, the
    leading dims and rows of a product; `channels` and `outputs` are C and K of a convolution, K and
    N of a product. `broadcast` names the dims that the operand of a role such as add_broadcast has:
    none, the spatial ones, those of each image, or the images alone."""

    dtype: str = "f16"
    layout: str = "channels_last"
    batch: int = 4
    spatial: tuple[int, ...] = (16, 16)
    channels: int = 64
    outputs: int = 64
    groups: int = 1
    kernel: int = 3
    stride: int = 1
    dilation: int = 1
    broadcast: str = "one"

    def image(self, channels: int, spatial: tuple[int, ...]) -> tuple[int, ...]:
        """Dims of a tensor with spatial dims, in the order of the layout."""
        last = self.layout == "channels_last"
        return (self.batch, *spatial, channels) if last else (self.batch, channels, *spatial)


class _Group:
    """The text of a group, op by op."""

    def __init__(self, shape: Shape, dims: tuple[int, ...]) -> None:
        self.shape, self.dtype, self.dims = shape, shape.dtype, dims
        self.arguments = [("x", _tensor(dims, shape.dtype))]
        self.lines: list[str] = []
        self.value = "%x"

    def _argument(self, dims: tuple[int, ...]) -> tuple[str, str]:
        self.arguments.append((f"a{len(self.arguments)}", _tensor(dims, self.shape.dtype)))
        return f"%{self.arguments[-1][0]}", self.arguments[-1][1]

    def _spanned(self, extent: str) -> tuple[int, ...]:
        """Dims of an operand beside the running value."""
        channel = 1 if self.shape.layout == "channels_first" else len(self.dims) - 1
        spatial = set(range(1, len(self.dims))) - {channel}
        if extent == "broadcast":
            extent = self.shape.broadcast
        kept = {"full": {0, channel} | spatial, "channel": {channel}, "gate": {0, channel},
        "one": set(), "spatial": spatial,
                "pixels": {0} | spatial, "images": {0}}[extent]  # fmt: skip
        return tuple(size if i in kept else 1 for i, size in enumerate(self.dims))

    def step(self, role: str) -> None:
        """Adds the op of a role to the end."""
        here = _tensor(self.dims, self.dtype)
        if role == "cast":
            self.dtype = "f32" if self.dtype != "f32" else "f16"
            self._add(f"tcp.cast {self.value} : {here} -> {_tensor(self.dims, self.dtype)}")
        elif role in UNARY:
            name, attributes = UNARY[role]
            self._add(f"tcp.{name} {self.value} {{{attributes}}} : {here} -> {here}")
        else:
            op, extent = BINARY[role]
            other, kind = self._argument(self._spanned(extent))
            self._add(f"tcp.{op} {self.value}, {other} : {here}, {kind} -> {here}")

    def anchor(self, name: str) -> None:
        """Adds the anchor."""
        if name == "matmul":
            self._matmul()
        elif name.startswith("conv"):
            self._conv(name)
        else:
            self._pool(name)

    def _matmul(self) -> None:
        *leading, rows, inner = self.dims
        self._apply(
            "matmul",
            [(*leading, inner, self.shape.outputs)],
            "",
            (*leading, rows, self.shape.outputs),
        )

    def _conv(self, name: str) -> None:
        shape, rank = self.shape, len(self.shape.spatial)
        pad = shape.kernel // 2 * shape.dilation
        window = shape.dilation * (shape.kernel - 1)
        out = tuple((size + 2 * pad - window - 1) // shape.stride + 1 for size in shape.spatial)
        last = shape.layout == "channels_last"
        inner = shape.channels // shape.groups
        kernel = [shape.kernel] * rank
        attributes = (
            f"{'channels_last, ' * last}dilation = {_array(*[shape.dilation] * rank)}, "
            f"groups = {shape.groups} : i64, "
            f"pad = {_array(*[pad] * 2 * rank)}, stride = {_array(*[shape.stride] * rank)}"
        )
        filters = (shape.outputs, *kernel, inner) if last else (shape.outputs, inner, *kernel)
        self._apply(name, [filters], attributes, shape.image(shape.outputs, out))

    def _pool(self, name: str) -> None:
        shape, rank = self.shape, len(self.shape.spatial)
        last = shape.layout == "channels_last"
        if name == "mean":
            first = 1 if last else 2
            self._apply(
                "reduce_mean",
                [],
                f"dims = {_array(*range(first, first + rank))}",
                shape.image(shape.channels, (1,) * rank),
            )
            return
        pad = (shape.kernel - 1) // 2
        out = tuple((size + 2 * pad - shape.kernel) // shape.stride + 1 for size in shape.spatial)
        extra = (
            f"dilation = {_array(*[1] * rank)}"
            if name == "max_pool"
            else f"ceil_pad = {_array(*[0] * rank)}"
        )
        counted = "count_include_pad, " if name == "avg_pool" and pad else ""
        attributes = (
            f"{'channels_last, ' * last}{counted}kernel = "
            f"{_array(*[shape.kernel] * rank)}, pad = {_array(*[pad] * 2 * rank)}, "
            f"stride = {_array(*[shape.stride] * rank)}, {extra}"
        )
        self._apply(name, [], attributes, shape.image(shape.channels, out))

    def _apply(
        self, name: str, operands: list[tuple[int, ...]], attributes: str, result: tuple[int, ...]
    ) -> None:
        given = [self._argument(dims) for dims in operands]
        values = ", ".join([self.value, *(value for value, _ in given)])
        kinds = ", ".join([_tensor(self.dims, self.dtype), *(kind for _, kind in given)])
        self.dims = result
        self._add(
            f"tcp.{name} {values} {{{attributes}}} : {kinds} -> {_tensor(result, self.dtype)}"
        )

    def _add(self, op: str) -> None:
        self.value = f"%v{len(self.lines)}"
        self.lines.append(f"    {self.value} = {op}")

    def text(self, key: str) -> str:
        """A function of that name that computes the group."""
        result = _tensor(self.dims, self.dtype)
        inner = ", ".join(f"%{name}: {kind}" for name, kind in self.arguments)
        outer = ", ".join(f"%f_{name}: {kind}" for name, kind in self.arguments)
        operands = ", ".join(f"%f_{name}" for name, _ in self.arguments)
        kinds = ", ".join(kind for _, kind in self.arguments)
        body = "\n".join(self.lines)
        return f"""func.func @{key}({outer}) -> {result} {{
  %r = tcp.isolated_group {operands} {{
  ^bb0({inner}):
{body}
    tcp.yield {self.value} : {result}
  }} : {kinds} -> {result}
  return %r : {result}
}}
"""


def group_text(
    key: str, anchor: str, shape: Shape, before: tuple[str, ...], after: tuple[str, ...]
) -> str:
    """A function `key` with one group: the roles `before`, the anchor, the roles `after`."""
    dims = (
        (*shape.spatial, shape.channels)
        if anchor == "matmul"
        else shape.image(shape.channels, shape.spatial)
    )
    group = _Group(shape, dims)
    for role in before:
        group.step(role)
    group.anchor(anchor)
    for role in after:
        group.step(role)
    return group.text(key)
