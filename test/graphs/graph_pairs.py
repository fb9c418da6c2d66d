"""One graph in two forms: as `cudnn` IR, and as a program for cudnn-frontend. Both are written from
the same calls, neither from the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

__all__ = ["Pair", "Value"]

_FRONTEND_TYPES = {
    "f64": "DOUBLE", "f32": "FLOAT", "f16": "HALF", "bf16": "BFLOAT16", "f8E4M3FN": "FP8_E4M3",
    "f8E5M2": "FP8_E5M2",
    "i64": "INT64", "i32": "INT32", "i8": "INT8", "ui8": "UINT8", "i1": "BOOLEAN",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A tensor: its name in both programs, its shape and its type."""

    name: str
    dims: tuple[int, ...]
    dtype: str
    layout: str

    @property
    def strides(self) -> list[int]:
        """The packed strides; channels (dim 1) vary fastest in channels-last layouts."""
        order = (
            [0, *range(2, len(self.dims)), 1]
            if self.layout.endswith("C")
            else list(range(len(self.dims)))
        )
        return [
            prod(self.dims[each] for each in order[order.index(dim) + 1 :])
            for dim in range(len(self.dims))
        ]

    @property
    def mlir(self) -> str:
        """The type of the descriptor."""
        return f"!cudnn.tensor_desc<{'x'.join(map(str, self.dims))}x{self.dtype}{f', {self.layout}' if self.layout else ''}>"


@dataclass
class Pair:
    """A graph under construction. `layout` is the default layout of tensors; operations give
    virtual f32 tensors by default."""

    name: str
    layout: str = "NHWC"
    compute: str = "f32"
    arguments: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def tensor(self, *dims: int, dtype: str = "f16", layout: str | None = None) -> Value:
        """An input of the graph."""
        value = self._value(dims, dtype, layout)
        self.arguments.append(value)
        described = (
            f"dim={list(dims)}, stride={value.strides}, data_type=D.{_FRONTEND_TYPES[dtype]}"
        )
        self.calls.append(f"{value.name} = g.tensor(name={value.name!r}, {described})")
        return value

    def output(self, *values: Value) -> None:
        """Makes these tensors results, in this order."""
        self.results += values
        self.calls += [f"{value.name}.set_output(True)" for value in values]

    def conv(
        self, a: Value, b: Value, *dims: int, mode: str = "fprop", stride: Sequence[int] = (),
        pre: Sequence[int] = (),
        post: Sequence[int] = (), dilation: Sequence[int] = (), dtype: str = "f32",
    ) -> Value:  # fmt: skip
        rank = len(dims) - 2
        stride, dilation = list(stride or [1] * rank), list(dilation or [1] * rank)
        pre = list(pre or [0] * rank)
        post = list(post or pre)
        attributes = "" if mode == "fprop" else f"mode = {mode} "
        attributes += (
            f"type = {self.compute} spatial_stride = {stride} pre_padding = {pre} "
            f"post_padding = {post} dilation = {dilation}"
        )
        method, first, second = {
            "fprop": ("conv_fprop", "image", "weight"),
            "dgrad": ("conv_dgrad", "loss", "filter"),
            "wgrad": ("conv_wgrad", "image", "loss"),
        }[mode]
        keywords = f"pre_padding={pre}, post_padding={post}, stride={stride}, dilation={dilation}"
        return self._op(
            "convolution",
            (a, b),
            attributes,
            dims,
            dtype,
            f"{method}({first}={a.name}, {second}={b.name}, {keywords}",
        )

    def pointwise(
        self,
        mode: str,
        *operands: Value,
        method: str = "",
        dtype: str = "f32",
        attributes: str = "",
        keywords: str = "",
    ) -> Value:
        """`attributes` and `keywords` are the mode's own parameters in the IR and in Python."""
        dims = tuple(max(sizes) for sizes in zip(*(each.dims for each in operands), strict=True))
        names = ", ".join(each.name for each in operands)
        call = f"{method or mode}({names}{f', {keywords}' if keywords else ''}"
        return self._op(
            f"pointwise {mode}",
            operands,
            f"type = {self.compute}{f' {attributes}' if attributes else ''}",
            dims,
            dtype,
            call,
        )

    def matmul(self, a: Value, b: Value, *, dtype: str = "f32") -> Value:
        dims = (
            *(max(sizes) for sizes in zip(a.dims[:-2], b.dims[:-2], strict=True)),
            a.dims[-2],
            b.dims[-1],
        )
        return self._op(
            "matmul",
            (a, b),
            f"type = {self.compute}",
            dims,
            dtype,
            f"matmul(A={a.name}, B={b.name}",
        )

    def reduction(self, mode: str, x: Value, *dims: int, dtype: str = "f32") -> Value:
        call = f"reduction(input={x.name}, mode=cudnn.reduction_mode.{mode.upper()}"
        return self._op(f"reduction {mode}", (x,), f"type = {self.compute}", dims, dtype, call)

    @property
    def mlir(self) -> str:
        """The graph as IR."""
        arguments = ", ".join(f"%{value.name}: {value.mlir}" for value in self.arguments)
        types = ", ".join(value.mlir for value in self.results)
        returned = ", ".join(f"%{value.name}" for value in self.results)
        body = "".join(f"  {op}\n" for op in self.ops)
        return (
            f"cudnn.graph @{self.name}({arguments}) -> ({types}) {{\n{body}  cudnn.return "
            f"{returned} : {types}\n}}\n"
        )

    @property
    def frontend(self) -> str:
        """The graph as a program that defines build(**options)."""
        head = ["import cudnn", "D = cudnn.data_type", "def build(**options):"]
        kinds = "io_data_type=D.HALF, intermediate_data_type=D.FLOAT, compute_data_type=D.FLOAT"
        body = [f"g = cudnn.pygraph({kinds}, **options)", *self.calls, "return g"]
        return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"

    def _op(
        self,
        op: str,
        operands: Sequence[Value],
        attributes: str,
        dims: Sequence[int],
        dtype: str,
        call: str,
    ) -> Value:
        value = self._value(dims, dtype, None)
        names, types = (
            ", ".join(f"%{each.name}" for each in operands),
            ", ".join(each.mlir for each in operands),
        )
        self.ops.append(
            f"%{value.name} = cudnn.{op}({names}) {attributes} : {types} -> {value.mlir}"
        )
        self.calls.append(
            f"{value.name} = g.{call}, compute_data_type=D.{_FRONTEND_TYPES[self.compute]})"
        )
        self.calls.append(
            f"{value.name}.set_dim({list(dims)}).set_stride({value.strides}).set_data_type(D.{_FRONTEND_TYPES[dtype]})"
        )
        return value

    def _value(self, dims: Sequence[int], dtype: str, layout: str | None) -> Value:
        return Value(
            f"t{len(self.arguments) + len(self.ops)}",
            tuple(dims),
            dtype,
            self.layout if layout is None else layout,
        )
