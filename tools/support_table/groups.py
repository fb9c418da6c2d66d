# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds the text of the `cudnn.graph`s that groups become: an anchor and pointwise operations
around it."""

from __future__ import annotations

from dataclasses import dataclass

from convoy._convoy import group_roles

from .graph_text import GraphText, Value

__all__ = ["ROLES", "Role", "Shape", "graph_of_group"]


@dataclass(frozen=True)
class Role:
    """A role of the compiler (passes/fusion/Roles.h).

    Args:
        name: Its name in the support table, without the position.
        position: prologue, operand or epilogue.
        mode: The pointwise mode.
        extent: The extent of the second operand, e.g. channel; empty with one operand.
    """

    name: str
    position: str
    mode: str
    extent: str


#: Roles by their names in the support table.
ROLES = {
    name: Role(
        name if position == "epilogue" else name.removeprefix(f"{position}_"),
        position,
        mode,
        extent,
    )
    for name, position, mode, extent in group_roles()
}
#: Attributes of the operations of roles.
_ATTRIBUTES = {
    "relu": "lower_clip = 0.0",
    "relu_clip": "lower_clip = 0.0 upper_clip = 6.0",
    "clamp": "lower_clip = -1.0 upper_clip = 1.0",
    "leaky_relu": "lower_clip_slope = 0.1",
    "elu": "elu_alpha = 1.0",
}
#: Modes that propagate NaN, as in PyTorch.
_BOUNDS = ("max", "min")


@dataclass(frozen=True)
class Shape:
    """The sizes, types and layout of an anchor.

    Args:
        dtype: Of all tensors that are in memory.
        layout: channels_last, channels_first or row_major.
        batch: The batch size of a convolution or pooling.
        spatial: The input's spatial dims of a convolution or pooling; the leading dims and rows of
            a product.
        channels: C of a convolution, K of a product.
        outputs: K of a convolution, N of a product.
        groups: Of a convolution.
        kernel: The window size of a convolution or pooling.
        stride: Of the window.
        dilation: Of a convolution.
        broadcast: The dims that the operand of a role with extent `broadcast` has: `spatial` or
            `images`.
    """

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
    broadcast: str = "spatial"


def _list(numbers: list[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


class _Group:
    """A graph that is being built. Intermediate values are f32. The anchor's operands and the
    graph's result have the dtype of `shape`."""

    def __init__(self, key: str, shape: Shape, dims: tuple[int, ...]) -> None:
        self.shape, self.dims = shape, dims
        self.graph = GraphText(key, shape.layout)
        self.value = self.graph.argument(dims, shape.dtype)
        #: The value before the last operation, for roles with extent `virtual`.
        self.previous = self.value
        #: Roles of operations on the next operand.
        self.waiting: list[Role] = []

    def _spanned(self, extent: str) -> tuple[int, ...]:
        """Returns the dims of a second operand."""
        channel = len(self.dims) - 1 if self.shape.layout == "row_major" else 1
        spatial = set(range(1, len(self.dims))) - {channel}
        if extent == "broadcast":
            extent = self.shape.broadcast
        kept = {
            "full": {0, channel} | spatial,
            "channel": {channel},
            "gate": {0, channel},
            "pixels": {0} | spatial,
            "one": set(),
            "spatial": spatial,
            "images": {0},
        }[extent]
        return tuple(size if i in kept else 1 for i, size in enumerate(self.dims))

    def _operand(self, extent: str) -> Value:
        """Returns the second operand of a role: an argument, or the result of operations on it."""
        dims = self._spanned(extent)
        value = self.graph.argument(dims, self.shape.dtype)
        for role in self.waiting:
            value = self._pointwise(role, [value], dims, "f32")
        self.waiting.clear()
        return value

    def _pointwise(
        self, role: Role, operands: list[Value], dims: tuple[int, ...], dtype: str
    ) -> Value:
        attributes = _ATTRIBUTES.get(role.name, "")
        if role.mode in _BOUNDS:
            attributes = "nan_propagation = propagate_nan"
        head = f"pointwise {role.mode}"
        return self.graph.apply(head, operands, f"type = f32 {attributes}", dims, dtype)

    def step(self, role: Role, dtype: str) -> None:
        """Adds the operation of a role.

        Args:
            role: The role.
            dtype: The element type of the result.
        """
        if role.position == "operand":
            self.waiting.append(role)
            return
        operands = [self.value]
        if role.extent == "virtual":
            operands.insert(0, self.previous)
        elif role.extent == "scalar":
            operands.append(self.graph.scalar("0.5", "f32", len(self.dims)))
        elif role.extent:
            operands.append(self._operand(role.extent))
        self.previous = self.value
        self.value = self._pointwise(role, operands, self.dims, dtype)

    def anchor(self, name: str, dtype: str) -> None:
        """Adds the anchor.

        Args:
            name: Of the anchor.
            dtype: The element type of the result.
        """
        if name == "matmul":
            self._matmul(dtype)
        elif name.startswith("conv"):
            self._conv(dtype)
        else:
            self._pool(name, dtype)
        self.previous = self.value

    def _matmul(self, dtype: str) -> None:
        *leading, rows, inner = self.dims
        other = self.graph.argument((*leading, inner, self.shape.outputs), self.shape.dtype)
        self.dims = (*leading, rows, self.shape.outputs)
        self.value = self.graph.apply("matmul", [self.value, other], "type = f32", self.dims, dtype)

    def _window(self, size: int) -> tuple[list[int], list[int], list[int]]:
        """Returns window, padding and dilation per spatial dim, including the height of conv1d."""
        shape, flat = self.shape, len(self.shape.spatial) == 1
        rank = len(shape.spatial)
        pad = size // 2 * shape.dilation
        return (
            [1] * flat + [size] * rank,
            [0] * flat + [pad] * rank,
            [1] * flat + [shape.dilation] * rank,
        )

    def _conv(self, dtype: str) -> None:
        shape = self.shape
        window, pads, dilation = self._window(shape.kernel)
        stride = [1] * (len(shape.spatial) == 1) + [shape.stride] * len(shape.spatial)
        out = tuple(
            (size + 2 * pad - wide * (taps - 1) - 1) // step + 1
            for size, pad, wide, taps, step in zip(
                self.dims[2:], pads, dilation, window, stride, strict=True
            )
        )
        filters = self.graph.argument(
            (shape.outputs, shape.channels // shape.groups, *window), shape.dtype
        )
        tail = (
            f"type = f32 spatial_stride = {_list(stride)} pre_padding = {_list(pads)} "
            f"post_padding = {_list(pads)} dilation = {_list(dilation)}"
        )
        self.dims = (shape.batch, shape.outputs, *out)
        self.value = self.graph.apply("convolution", [self.value, filters], tail, self.dims, dtype)

    def _pool(self, name: str, dtype: str) -> None:
        shape = self.shape
        spatial = list(self.dims[2:])
        if name == "mean":
            window, stride, pads = spatial, [1] * len(spatial), [0] * len(spatial)
        else:
            window = [shape.kernel] * len(spatial)
            stride = [shape.stride] * len(spatial)
            pads = [(shape.kernel - 1) // 2] * len(spatial)
        counted = name == "mean" or (name == "avg_pool" and any(pads))
        mode, padding = {
            "max_pool": ("maxpool", "neg_inf_pad"),
            "avg_pool": (f"avgpool_{'include' if counted else 'exclude'}_padding", "zero_pad"),
            "mean": ("avgpool_include_padding", "zero_pad"),
        }[name]
        out = tuple(
            (size + 2 * pad - taps) // step + 1
            for size, pad, taps, step in zip(spatial, pads, window, stride, strict=True)
        )
        tail = (
            f"type = f32 window = {_list(window)} stride = {_list(stride)} pre_padding = "
            f"{_list(pads)} post_padding = {_list(pads)} padding_mode = {padding}"
        )
        self.dims = (shape.batch, shape.channels, *out)
        self.value = self.graph.apply(f"resample {mode}", [self.value], tail, self.dims, dtype)


def graph_of_group(
    key: str, anchor: str, shape: Shape, before: tuple[str, ...], after: tuple[str, ...]
) -> str:
    """Builds the graph of a group.

    Args:
        key: The graph's symbol.
        anchor: The name of the anchor.
        shape: Its sizes, types and layout.
        before: The roles before the anchor, without `prologue_`.
        after: The roles after the anchor.

    Returns:
        The text of the graph.
    """
    if anchor == "matmul":
        leading = shape.spatial if len(shape.spatial) > 1 else (1, *shape.spatial)
        dims: tuple[int, ...] = (*leading, shape.channels)
    else:
        # A convolution over one dim becomes one over two with a height of 1.
        height = (1,) if anchor == "conv1d" else ()
        dims = (shape.batch, shape.channels, *height, *shape.spatial)
    group = _Group(key, shape, dims)
    for number, name in enumerate(before, 1):
        group.step(ROLES[f"prologue_{name}"], shape.dtype if number == len(before) else "f32")
    group.anchor(anchor, "f32" if after else shape.dtype)
    for number, name in enumerate(after, 1):
        last = shape.dtype
        if name == "cast":
            last = "f32" if shape.dtype != "f32" else "f16"
        group.step(ROLES[name], last if number == len(after) else "f32")
    return group.graph.text(group.value)
