"""Convolutions of the tests of emulated kernels: their text in `cudnn` and their padding."""

from __future__ import annotations

from dataclasses import dataclass

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

    def convolve(self, x: Tensor, w: Tensor, bias: Tensor, groups: int = 1) -> Tensor:
        """PyTorch's result."""
        sides = [
            side for pair in zip(self.low[::-1], self.high[::-1], strict=True) for side in pair
        ]
        function = F.conv2d if len(self.taps) == 2 else F.conv3d
        return function(F.pad(x, sides), w, bias, self.strides, 0, self.dilation, groups)
