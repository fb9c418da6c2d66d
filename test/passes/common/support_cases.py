"""One tcp group for everything that a row of the support table accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Case", "cases_of"]

#: Batch and spatial dims of convolutions and pools, by the number of spatial dims.
_DIMS = {1: (4, 32), 2: (4, 16, 16), 3: (2, 4, 8, 8)}
_CHANNELS = 64
_GROUPS = {"none": 1, "grouped": 4, "depthwise": _CHANNELS}
_ATTRIBUTES = {
    "relu": ("clamp", "min_float = 0.0 : f32"),
    "relu_clip": ("clamp", "max_float = 6.0 : f32, min_float = 0.0 : f32"),
    "leaky_relu": ("leaky_relu", "negative_slope = 0.1 : f64"),
    "elu": ("elu", "alpha = 1.0 : f64"),
    "gelu": ("gelu", 'approximate = "none"'),
    "gelu_tanh": ("gelu", 'approximate = "tanh"'),
    "silu": ("silu", ""),
    "sigmoid": ("sigmoid", ""),
    "tanh": ("tanh", ""),
}
_BINARY = {"bias": "add", "residual": "add", "scale": "mul", "product": "mul", "gate": "mul"}


@dataclass(frozen=True)
class Case:
    """`pattern` is the group's, `key` names the case; `text` is a function of that name that computes one isolated group."""

    key: str
    pattern: str
    text: str


def _tensor(shape: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{dtype}>"


def _array(*numbers: int) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>"


class _Group:
    """The text of a group, op by op."""

    def __init__(self, dtype: str, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape = dtype, shape
        self.arguments = [("x", _tensor(shape, dtype))]
        self.lines: list[str] = []
        self.value = "%x"

    def argument(self, shape: tuple[int, ...]) -> tuple[str, str]:
        self.arguments.append((f"a{len(self.arguments)}", _tensor(shape, self.dtype)))
        return f"%{self.arguments[-1][0]}", self.arguments[-1][1]

    def step(self, role: str) -> None:
        here = _tensor(self.shape, self.dtype)
        if role == "cast":
            self.dtype = "f32"
            self.add(f"tcp.cast {self.value} : {here} -> {_tensor(self.shape, 'f32')}")
        elif role in _ATTRIBUTES:
            name, attributes = _ATTRIBUTES[role]
            self.add(f"tcp.{name} {self.value} {{{attributes}}} : {here} -> {here}")
        else:
            batch = self.shape[0] if role == "gate" else 1
            vector = (batch, *(1 for _ in self.shape[1:-1]), self.shape[-1])
            other, kind = self.argument(self.shape if role in ("residual", "product") else vector)
            self.add(f"tcp.{_BINARY[role]} {self.value}, {other} : {here}, {kind} -> {here}")

    def anchor(self, name: str, operands: list[tuple[int, ...]], attributes: str, result: tuple[int, ...]) -> None:
        given = [self.argument(shape) for shape in operands]
        values = ", ".join([self.value, *(value for value, _ in given)])
        kinds = ", ".join([_tensor(self.shape, self.dtype), *(kind for _, kind in given)])
        self.shape = result
        self.add(f"tcp.{name} {values} {{{attributes}}} : {kinds} -> {_tensor(result, self.dtype)}")

    def add(self, op: str) -> None:
        self.value = f"%v{len(self.lines)}"
        self.lines.append(f"    {self.value} = {op}")

    def text(self, key: str) -> str:
        result = _tensor(self.shape, self.dtype)
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


def _windows(dims: int, size: int) -> str:
    return f"channels_last, kernel = {_array(*[size] * dims)}, pad = {_array(*[0] * 2 * dims)}, stride = {_array(*[size] * dims)}"


def _anchor(group: _Group, anchor: str, channel_groups: str) -> None:
    dims = len(group.shape) - 2
    batch, *spatial, _ = group.shape
    if anchor == "matmul":
        *leading, rows, inner = group.shape
        group.anchor("matmul", [(*leading, inner, 32)], "", (*leading, rows, 32))
    elif anchor.startswith("conv"):
        groups = _GROUPS[channel_groups]
        filters = (_CHANNELS, *[3] * dims, _CHANNELS // groups)
        attributes = f"channels_last, dilation = {_array(*[1] * dims)}, groups = {groups} : i64, pad = {_array(*[1] * 2 * dims)}"
        group.anchor(anchor, [filters], f"{attributes}, stride = {_array(*[1] * dims)}", group.shape)
    elif anchor == "mean":
        group.anchor("reduce_mean", [], f"dims = {_array(*range(1, dims + 1))}", (batch, *[1] * dims, _CHANNELS))
    else:
        extra = f"dilation = {_array(*[1] * dims)}" if anchor == "max_pool" else f"ceil_pad = {_array(*[0] * dims)}"
        group.anchor(anchor, [], f"{_windows(dims, 2)}, {extra}", (batch, *[size // 2 for size in spatial], _CHANNELS))


def cases_of(table: dict[str, Any]) -> Iterator[Case]:
    """Every anchor, role, kind of channel groups and rank of every row, with the first dtype; the other dtypes for each role once.
    Each epilogue role alone and after a bias."""
    seen = set()
    for row in table["rows"]:
        for anchor in row["anchors"]:
            ranks = [rank for rank in row["ranks"] if not anchor.startswith("conv") or rank == int(anchor[4]) + 2]
            for role in row["roles"]:
                for rank in ranks:
                    for kind in row.get("channel_groups", ["none"]):
                        every = kind == "none" and anchor not in ("conv1d", "conv3d") and rank == ranks[-1]
                        for dtype in row["dtypes"] if every else row["dtypes"][:1]:
                            for case in _cases(anchor, role, rank, kind, dtype):
                                if case.key not in seen:
                                    seen.add(case.key)
                                    yield case


def _cases(anchor: str, role: str, rank: int, kind: str, dtype: str) -> Iterator[Case]:
    if role == "cast" and dtype == "f32":
        return
    shape = (4, 8, 64)[3 - rank :] if anchor == "matmul" else (*_DIMS[rank - 2], _CHANNELS)
    before = [role.removeprefix("prologue_")] if role.startswith("prologue_") else []
    ends: list[list[str]] = [[]] if before or role == "anchor" else [[role]]
    if not before and role not in ("anchor", "bias"):
        ends.append(["bias", role])
    for after in ends:
        group = _Group(dtype, shape)
        for step in before:
            group.step(step)
        _anchor(group, anchor, kind)
        for step in after:
            group.step(step)
        pattern = "+".join([*before, anchor, *after])
        key = f"{pattern.replace('+', '_')}__rank{rank}_{kind}_{dtype}"
        yield Case(key, pattern, group.text(key))
