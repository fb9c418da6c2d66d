"""Convolutions of the tests of emulated kernels: their text in `cudnn` and their padding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Convolution:
    """Sizes of the input with channels first, filters, and for each spatial dim the taps, strides,
    padding before and after, and dilation."""

    x: tuple[int, ...]
    filters: int
    taps: tuple[int, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def y(self) -> tuple[int, ...]:
        """Sizes of the result."""
        sizes = (
            (size + low + high - (taps - 1) * dilation - 1) // stride + 1
            for size, taps, stride, low, high, dilation in zip(
                self.x[2:], self.taps, self.strides, self.low, self.high, self.dilation, strict=True
            )
        )
        return (self.x[0], self.filters, *sizes)

    @property
    def attributes(self) -> str:
        """The attributes of `cudnn.convolution`."""
        return (
            f"type = f32 spatial_stride = {list(self.strides)} pre_padding = {list(self.low)} "
            f"post_padding = {list(self.high)} dilation = {list(self.dilation)}"
        )

    def type_of(self, shape: tuple[int, ...], element: str) -> str:
        """A channels-last tensor."""
        layout = "NHWC" if len(self.taps) == 2 else "NDHWC"
        return f"!cudnn.tensor_desc<{'x'.join(map(str, shape))}x{element}, {layout}>"

    def graph(self, element: str, *, scaled: bool, groups: int = 1) -> str:
        """A graph of the convolution, a bias, if `scaled` a scale and a residual, and a relu."""
        shape = (self.filters, self.x[1] // groups, *self.taps)
        bias = (1, self.filters, *(1 for _ in self.taps))
        x, w, y, b = (self.type_of(each, element) for each in (self.x, shape, self.y, bias))
        sums = self.type_of(self.y, "f32")
        middle, last, others = "", "%1", ""
        if scaled:
            others = f", %s: {b}, %r: {y}"
            middle = f"""
  %2 = cudnn.pointwise mul(%1, %s) type = f32 : {sums}, {b} -> {sums}
  %3 = cudnn.pointwise add(%2, %r) type = f32 : {sums}, {y} -> {sums}"""
            last = "%3"
        return f"""
cudnn.graph @conv(%x: {x}, %w: {w}, %b: {b}{others}) -> {y} {{
  %0 = cudnn.convolution(%x, %w) {self.attributes} : {x}, {w} -> {sums}
  %1 = cudnn.pointwise add(%0, %b) type = f32 : {sums}, {b} -> {sums}{middle}
  %4 = cudnn.pointwise relu_fwd({last}) type = f32 lower_clip = 0.0 : {sums} -> {y}
  cudnn.return %4 : {y}
}}"""

    def tensors(self, dtype: torch.dtype, groups: int = 1) -> list[Tensor]:
        """Input, filter, bias, scale and residual."""
        torch.manual_seed(0)
        shapes = (
            self.x, (self.filters, self.x[1] // groups, *self.taps), (self.filters,),
            (self.filters,), self.y,
        )  # fmt: skip
        x, w, bias, scale, residual = (torch.randn(shape).to(dtype) for shape in shapes)
        return [x, (w.float() / w[0].numel() ** 0.5).to(dtype), bias, scale, residual]

    def expected(self, tensors: list[Tensor], *, scaled: bool, groups: int = 1) -> Tensor:
        """The result of the graph in float64."""
        x, w, bias, scale, residual = (each.double() for each in tensors)
        y = self.convolve(x, w, bias, groups)
        if scaled:
            y = y * scale.reshape(-1, *(1 for _ in self.taps)) + residual
        return torch.relu(y)

    def convolve(self, x: Tensor, w: Tensor, bias: Tensor, groups: int = 1) -> Tensor:
        """PyTorch's result."""
        sides = [
            side for pair in zip(self.low[::-1], self.high[::-1], strict=True) for side in pair
        ]
        function = F.conv2d if len(self.taps) == 2 else F.conv3d
        return function(F.pad(x, sides), w, bias, self.strides, 0, self.dilation, groups)
