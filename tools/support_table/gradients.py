# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The groups of gradients of convolutions: dgrad, with operations after it, and wgrad."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from .graph_text import BYTES, GraphText, Value, key_of
from .matrix import DTYPES, Case, Cell

__all__ = ["gradient_cases"]

_SPATIAL = {1: (64,), 2: (16, 16), 3: (4, 8, 8)}
_GROUPS = {"none": 1, "grouped": 4, "depthwise": 64}
#: Roles after dgrad. The sum with the gradient of another branch is a residual.
_AFTER_DGRAD = ((), ("bias",), ("relu",), ("residual",), ("bias", "relu"), ("residual", "relu"))


@dataclass(frozen=True)
class _Conv:
    """A convolution whose gradient is computed.

    Args:
        spatial: Its input's spatial dims.
        channels: Its input's channels.
        outputs: Its output's channels.
        groups: Its groups.
        window: Its window's size in each dim.
        stride: Of the window.
        dilation: Of the window.
    """

    spatial: tuple[int, ...]
    channels: int = 64
    outputs: int = 64
    groups: int = 1
    window: int = 3
    stride: int = 1
    dilation: int = 1

    @property
    def image(self) -> tuple[int, ...]:
        return (4, self.channels, *self.spatial)

    @property
    def filters(self) -> tuple[int, ...]:
        return (
            self.outputs,
            self.channels // self.groups,
            *[self.window] * len(self.spatial),
        )

    @property
    def pad(self) -> int:
        return self.window // 2 * self.dilation

    @property
    def output(self) -> tuple[int, ...]:
        reach = self.dilation * (self.window - 1)
        out = tuple((size + 2 * self.pad - reach - 1) // self.stride + 1 for size in self.spatial)
        return (4, self.outputs, *out)


def _variants(base: _Conv) -> Iterator[_Conv]:
    """Returns `base` with windows, strides and channels that networks have."""
    yield base
    yield replace(base, stride=2)
    yield replace(base, window=1)
    yield replace(base, window=1, stride=2)
    yield replace(base, window=7, stride=2)
    yield replace(base, dilation=2)
    if base.groups == 1:
        for channels, outputs in ((3, 64), (4, 64), (64, 10), (65, 64), (66, 66), (68, 65)):
            yield replace(base, channels=channels, outputs=outputs)
    elif base.groups == 4:
        for each, outputs in ((5, 7), (6, 6), (10, 5), (4, 4)):
            yield replace(base, channels=4 * each, outputs=4 * outputs)
    else:
        yield replace(base, outputs=2 * base.outputs)
        yield replace(base, channels=65, outputs=65, groups=65)


def _case(
    mode: str, kind: str, dtype: str, layout: str, conv: _Conv, after: tuple[str, ...]
) -> Case:
    rank = len(conv.spatial)
    pattern = "+".join((f"{mode}{rank}d", *after))
    base = _Conv(conv.spatial)
    names = {"c": "channels", "k": "outputs", "d": "dilation"}
    varied = [
        f"{short}{getattr(conv, name)}"
        for short, name in names.items()
        if getattr(conv, name) != getattr(base, name)
    ]
    sizes = (f"w{conv.window}", f"s{conv.stride}", *varied)
    graph = GraphText(key_of(pattern, dtype, layout, kind, *sizes), layout)
    given = (conv.output, conv.filters) if mode == "dgrad" else (conv.image, conv.output)
    dims = conv.image if mode == "dgrad" else conv.filters
    numbers = {
        "spatial_stride": conv.stride,
        "pre_padding": conv.pad,
        "post_padding": conv.pad,
        "dilation": conv.dilation,
    }
    listed = " ".join(f"{name} = {[number] * rank}" for name, number in numbers.items())
    here = graph.apply(
        "convolution",
        [graph.argument(shape, dtype) for shape in given],
        f"mode = {mode} type = f32 {listed}",
        dims,
        "f32" if after else dtype,
    )
    for number, role in enumerate(after, 1):
        here = _follow(graph, role, here, dims, dtype, dtype if number == len(after) else "f32")
    cells = tuple(
        Cell(f"{mode}{rank}d", role, dtype, layout, rank + 2, kind) for role in ("anchor", *after)
    )
    inner = conv.channels // conv.groups * BYTES[dtype]
    return Case(graph.key, pattern, cells, cells[-1], inner, graph.text(here))


def _follow(
    graph: GraphText, role: str, here: Value, dims: tuple[int, ...], dtype: str, result: str
) -> Value:
    """Applies a role to the result of dgrad."""
    if role == "relu":
        return graph.apply("pointwise relu_fwd", [here], "type = f32", dims, result)
    other = graph.argument(
        dims if role == "residual" else (1, dims[1], *[1] * (len(dims) - 2)), dtype
    )
    return graph.apply("pointwise add", [here, other], "type = f32", dims, result)


def gradient_cases() -> list[Case]:
    """Returns the gradients of convolutions of every rank, kind of groups and dtype; channels-first
    those without groups."""
    cases = []
    axes = product(("dgrad", "wgrad"), _SPATIAL.values(), _GROUPS.items(), DTYPES)
    for mode, spatial, (kind, groups), dtype in axes:
        base = _Conv(spatial, groups=groups)
        for conv in _variants(base):
            cases.append(_case(mode, kind, dtype, "channels_last", conv, ()))
            if kind == "none":
                cases.append(_case(mode, kind, dtype, "channels_first", conv, ()))
        for after in _AFTER_DGRAD[1:] if mode == "dgrad" else ():
            cases.extend(
                _case(mode, kind, dtype, "channels_last", replace(base, stride=stride), after)
                for stride in (1, 2)
            )
    return cases
